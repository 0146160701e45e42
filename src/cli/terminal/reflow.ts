/** Wraps text to the width of the terminal. */
import { stripVTControlCharacters } from 'node:util';

/** Wider lines are hard to read. */
const MAX_COLUMNS = 120;

/** The width of help text: that of the terminal, or 80 columns in a pipe. */
export function helpColumns({
  isTTY,
  columns,
}: {
  readonly isTTY: boolean;
  readonly columns: number;
}): number {
  return isTTY ? Math.max(20, Math.min(columns, MAX_COLUMNS)) : 80;
}

/** Wrap each paragraph. Indented lines are unchanged: lists of options, and examples that users copy. */
export function reflow(text: string, columns: number): string {
  const lines: string[] = [];
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length > 0) lines.push(...wrap(paragraph.join(' '), columns));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith(' ')) {
      flush();
      lines.push(line);
    } else paragraph.push(line);
  }
  flush();
  return lines.join('\n');
}

/**
 * A message for a stream: on a terminal its lines break between words, and in a pipe they stay as they are.
 * @param indent what further lines of a broken line begin with
 */
export function wrapped(
  text: string,
  { isTTY, columns }: { readonly isTTY: boolean; readonly columns: number },
  indent = '',
): string {
  return isTTY
    ? text
        .split('\n')
        .flatMap((line) => wrap(line, columns, indent))
        .join('\n')
    : text;
}

/** Break a text between words. A word that is longer than a line stays whole. */
export function wrap(text: string, columns: number, indent = ''): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && visible(last) + 1 + visible(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : indent + word);
  }
  return lines;
}

/** Without the codes of colours. */
const visible = (text: string) => stripVTControlCharacters(text).length;
