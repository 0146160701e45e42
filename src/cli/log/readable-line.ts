/** Formats a JSON log line as text: `12:03:04 WARN  message  key=value`. */
import { oneLine, printable } from '../terminal/printable.js';
import { wrap } from '../terminal/reflow.js';

/** The width of the time and the level. Lines that continue a message are indented by it. */
const INDENT = 15;

/** Fields that are not shown. They are constant, and known to the user who started the crawl. */
const hiddenFields = ['level', 'time', 'msg', 'spider', 'job'];
const colours: Readonly<Record<string, string>> = {
  fatal: '31',
  error: '31',
  warn: '33',
  debug: '2',
  trace: '2',
};

/**
 * @param colour whether to colour the level
 * @param options.node false omits the node id, for a command that runs one node. `columns`: the width of the terminal, whose own
 * line breaks would be within words; null for none
 * @returns a function that formats one line
 */
export function readableLine(
  colour: boolean,
  {
    node = true,
    columns = () => null,
  }: { readonly node?: boolean; readonly columns?: () => number | null } = {},
): (line: string) => string {
  const hidden = new Set(node ? hiddenFields : [...hiddenFields, 'node']);
  return (line) => {
    const fields = parse(line);
    if (fields === null) return `${printable(line.trimEnd())}\n`;
    const { level, time, msg } = fields;
    const clock = new Date(String(time)).toTimeString().slice(0, 8);
    const rest = Object.entries(fields)
      .filter(([name]) => !hidden.has(name))
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    const parts = oneLine([String(msg ?? ''), ...rest].join('  '));
    const width = columns();
    const text =
      width === null ? parts : wrap(parts, Math.max(20, width - INDENT)).join(`\n${' '.repeat(INDENT)}`);
    const word = String(level).toUpperCase().padEnd(5);
    const paint = colour ? colours[String(level)] : undefined;
    return `${clock} ${paint === undefined ? word : `\x1b[${paint}m${word}\x1b[0m`} ${text}\n`;
  };
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const fields = JSON.parse(line);
    return typeof fields === 'object' && fields !== null && 'level' in fields ? fields : null;
  } catch {
    return null;
  }
}
