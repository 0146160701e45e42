/** Formats rows of cells as aligned columns. */

/** Other rows are not padded to a longer cell: names may come from a store that others write to. */
const MAX_WIDTH = 200;

/** Numbers are aligned right, text left. A column is numeric when every cell below its first row is a number. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  const isText: boolean[] = [];
  for (const [line, row] of rows.entries()) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, Math.min(cell.length, MAX_WIDTH));
      if (line > 0 || rows.length === 1) isText[at] ||= !/^[\d,.]/.test(cell);
    }
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (isText[at] ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  );
}
