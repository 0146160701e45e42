/** Text that is redrawn in place must fit the screen: what wraps or scrolls away cannot be drawn over. */
import { stripVTControlCharacters } from 'node:util';

/** Columns and rows of a terminal. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Lines that belong together, and may be cut when the screen is too small. */
export interface Section {
  /** The section with the highest number loses lines first; 0 never does. */
  readonly cutFirst: number;
  readonly lines: readonly string[];
}

/**
 * Sections one below the other, a blank line between them. Where the rows do not suffice, sections lose their last lines
 * in the order of `cutFirst`, and say how many; lines that are too long end in an ellipsis.
 */
export function fitScreen(sections: readonly Section[], { columns, rows }: ScreenSize): string {
  const visible = sections.filter(({ lines }) => lines.length > 0).map((section) => ({ ...section }));
  const height = () => visible.reduce((sum, { lines }) => sum + lines.length, visible.length - 1);
  for (const section of [...visible].sort((a, b) => b.cutFirst - a.cutFirst)) {
    const excess = height() - rows;
    if (excess <= 0 || section.cutFirst === 0) break;
    const left = section.lines.length - excess - 1;
    // A heading and "… more" with nothing between them say nothing.
    if (left >= 2) section.lines = [...section.lines.slice(0, left), `  … ${excess + 1} more`];
    else visible.splice(visible.indexOf(section), 1);
  }
  return visible.map(({ lines }) => lines.map((line) => cut(line, columns)).join('\n')).join('\n\n');
}

/** A line of at most so many columns; one that is cut loses its colour. */
export function cut(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length <= columns ? line : `${plain.slice(0, Math.max(0, columns - 1))}…`;
}
