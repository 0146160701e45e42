/** Fits text that is redrawn in place to the screen. Lines that wrap or scroll off cannot be overwritten. */
import { stripVTControlCharacters } from 'node:util';

/** Columns and rows of a terminal. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** A block of lines that may be shortened when the screen is too small. */
export interface Section {
  /** The section with the highest number is cut first. 0 is never cut. */
  readonly cutFirst: number;
  readonly lines: readonly string[];
}

/**
 * Join sections with a blank line between them. When there are too few rows, sections lose their last lines in the order
 * of `cutFirst`, and end with the number of lines cut. Lines that are too long end in an ellipsis.
 */
export function fitScreen(sections: readonly Section[], { columns, rows }: ScreenSize): string {
  const visible = sections.filter(({ lines }) => lines.length > 0).map((section) => ({ ...section }));
  const height = () => visible.reduce((sum, { lines }) => sum + lines.length, visible.length - 1);
  for (const section of [...visible].sort((a, b) => b.cutFirst - a.cutFirst)) {
    const excess = height() - rows;
    if (excess <= 0 || section.cutFirst === 0) break;
    const left = section.lines.length - excess - 1;
    // A section of only its heading and "… more" has no content, so it is dropped.
    if (left >= 2) section.lines = [...section.lines.slice(0, left), `  … ${excess + 1} more`];
    else visible.splice(visible.indexOf(section), 1);
  }
  return visible.map(({ lines }) => lines.map((line) => cut(line, columns)).join('\n')).join('\n\n');
}

/** Cut a line to at most `columns`. A line that is cut loses its colour. */
export function cut(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length <= columns ? line : `${plain.slice(0, Math.max(0, columns - 1))}…`;
}
