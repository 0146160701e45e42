/** What a command is given of the outside world: folder, environment, streams, and the global options. */
import path from 'node:path';
import type { Readable } from 'node:stream';
import { UsageError } from '../errors.js';
import { maskTexts, maskUrls } from '../settings/mask-urls.js';
import { printable, printableJson, terminalText } from './terminal/printable.js';
import { wrapped } from './terminal/reflow.js';

/** The options every command takes, before or after its name. */
export interface Globals {
  readonly config?: string | undefined;
  /** `-s NAME=VALUE`, as often as given. A command adds settings that its arguments imply (`runspider FILE`). */
  readonly set: string[];
  readonly level?: string | undefined;
  readonly logfile?: string | undefined;
  readonly json: boolean;
  /** False for `--no-color`. */
  readonly colour: boolean;
}

/** A stream for people or for pipes. */
export interface Output {
  write(text: string | Uint8Array): void;
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
}

export interface Context {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Results. */
  readonly stdout: Output;
  /** Logs, progress, notices and errors. */
  readonly stderr: Output;
  readonly globals: Globals;
  /** Masks secrets in text that is shown. Once the settings are loaded it masks theirs too. */
  mask: (text: string) => string;
  /** The crawl of this command as arguments of a command to type (`crawlArguments`); null before it is known. */
  crawl: string | null;
  /** LOG_FORMAT; `auto` before the settings are loaded. */
  logFormat: 'auto' | 'text' | 'json';
  /** Set by commands that crawl: all that they write to stderr is part of the log. */
  isLogged: boolean;
}

/** A context over this process; its global options are filled in when they are parsed. */
export function processContext(argv: readonly string[], globals: Globals): Context {
  return {
    argv,
    // Read on use, so that a missing folder is reported like any other error.
    get cwd() {
      return workingFolder();
    },
    // Whatever asks for colour asks the environment.
    env: globals.colour ? process.env : { ...process.env, NO_COLOR: '1' },
    stdin: process.stdin,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    globals,
    mask: maskUrls,
    crawl: null,
    logFormat: 'auto',
    isLogged: false,
  };
}

function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UsageError('the working folder has been removed: go to another one', { cause: error });
  }
}

/** The settings that the global options set, as NAME → text; of several for one name the last. @throws UsageError for a `-s` without `=`. */
export function globalSettings({ globals, cwd }: Context): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const pair of globals.set) {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`-s ${pair}: expected NAME=VALUE`);
    const value = pair.slice(at + 1);
    Object.defineProperty(texts, pair.slice(0, at), { value, enumerable: true, configurable: true });
  }
  if (globals.level !== undefined) texts.LOG_LEVEL = globals.level;
  // A path on the command line is relative to the working folder, not to the project folder.
  if (globals.logfile !== undefined) texts.LOG_FILE = path.resolve(cwd, globals.logfile);
  return texts;
}

/** Whether stack traces are wanted: `-L DEBUG` (or TRACE), or the same in the environment. */
export function wantsStack({ globals, env }: Pick<Context, 'globals' | 'env'>): boolean {
  return /^(debug|trace)$/i.test(globals.level ?? env.LOG_LEVEL ?? '');
}

/** Print a line of a result. */
export function print(context: Context, text: string): void {
  context.stdout.write(`${text}\n`);
}

/** Print a line for the user beside the result, as a line of the log where all is JSON. */
export function note(context: Context, text: string, level: 'info' | 'warn' = 'info'): void {
  const masked = context.mask(text);
  context.stderr.write(
    stderrIsJson(context) ? logLine(level, masked) : `${wrapped(printable(masked), context.stderr)}\n`,
  );
}

/** Whether the log on stderr is JSON: `auto` is text on a terminal, JSON in a pipe. */
export function logIsJson({ logFormat, stderr }: Pick<Context, 'logFormat' | 'stderr'>): boolean {
  return logFormat === 'auto' ? !stderr.isTTY : logFormat === 'json';
}

/** Whether every line of stderr is JSON. Other commands than those that crawl write text, or with `--json` JSON in a pipe. */
export function stderrIsJson(context: Context): boolean {
  return context.isLogged ? logIsJson(context) : context.globals.json && !context.stderr.isTTY;
}

/** A message in the format of a log line, for commands that write no log. */
export function logLine(level: 'info' | 'warn' | 'fatal', text: string, fields: object = {}): string {
  return `${printableJson({ level, time: new Date().toISOString(), ...fields, msg: text })}\n`;
}

/** Print a result as JSON: indented for people, one line in a pipe. */
export function printJson(context: Context, value: unknown): void {
  print(context, printableJson(value, context.stdout.isTTY ? 2 : undefined));
}

/** Print a result: as JSON with `--json`, else as text. */
export function printResult(context: Context, value: unknown, text: string): void {
  if (context.globals.json) printJson(context, value);
  else print(context, text);
}

/** Print one of many results as a line of JSON. */
export function printJsonLine(context: Context, value: unknown): void {
  print(context, printableJson(value));
}

/** A result that is safe to show: in all its texts the userinfo of URLs and the secrets of the settings are masked. */
export function masked<T>(context: Context, value: T): T {
  return maskTexts(value, context.mask);
}

/** The one way to a stream: text that reaches it is safe for a terminal, bytes are what they are. */
export function outputOf(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => void stream.write(typeof text === 'string' ? terminalText(text) : text),
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
  };
}
