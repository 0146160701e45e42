/** Text that must fit a screen: lines that wrap or scroll off cannot be drawn over. */
import { stripVTControlCharacters } from 'node:util';

/** Columns and rows of a terminal. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Cut a line to at most `columns`. A line that is cut loses its colour. */
export function cut(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length <= columns ? line : `${plain.slice(0, Math.max(0, columns - 1))}…`;
}
