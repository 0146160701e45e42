/** Prints rows of results: aligned columns on a terminal, tab-separated in a pipe (for `cut` and `awk`). */
import { type Context, print } from '../context.js';
import { oneLine } from './printable.js';
import { wrapped } from './reflow.js';

/**
 * @param header shown on a terminal only. A row may have one more cell: a remark, which a terminal shows on its own line.
 *   The longest column should be the last, and has a line of its own where a row is wider than the terminal. Nothing is cut, so that a
 *   URL can be copied.
 */
export function rowPrinter(
  context: Context,
  header: readonly string[],
): (rows: readonly (readonly string[])[]) => void {
  const clean = (row: readonly string[]) =>
    row.map((cell) => oneLine(context.mask(cell)).replaceAll('\t', ' '));
  if (!context.stdout.isTTY) {
    return (rows) => {
      for (const row of rows) print(context, clean(row).join('\t'));
    };
  }
  const last = header.length - 1;
  const widths = header.map(() => 0);
  let pending: readonly (readonly string[])[] = [header];
  return (rows) => {
    const shown = [...pending, ...rows].map(clean);
    pending = [];
    for (const row of shown) {
      for (const n of header.keys()) widths[n] = Math.max(widths[n]!, row[n]!.length);
    }
    const { columns } = context.stdout;
    const isWide = widths.reduce((sum, width) => sum + width + 2, -2) > columns;
    for (const row of shown) {
      const cells = row.slice(0, last).map((cell, n) => cell.padEnd(widths[n]!));
      print(context, wrapped([...cells, ...(isWide ? [] : [row[last]])].join('  '), context.stdout, '  '));
      if (isWide) print(context, `  ${row[last]}`);
      if (row[last + 1]) print(context, wrapped(`    ${row[last + 1]}`, context.stdout, '    '));
    }
  };
}
