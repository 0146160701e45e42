/** Rows of results: aligned columns on a terminal, tabs in a pipe, where `cut` and `awk` take them. */
import { type Context, print } from './context.js';
import { oneLine } from './printable.js';

/** @param header shown on a terminal only. The last column may be long; on a terminal it is cut at the edge. */
export function rowPrinter(
  context: Context,
  header: readonly string[],
): (rows: readonly (readonly string[])[]) => void {
  const { isTTY, columns } = context.stdout;
  if (!isTTY) {
    return (rows) => {
      for (const row of rows) print(context, row.map((cell) => tabless(context.mask(cell))).join('\t'));
    };
  }
  const widths = header.map((cell) => cell.length);
  let pending: readonly (readonly string[])[] = [header];
  return (rows) => {
    const shown = [...pending, ...rows].map((row) => row.map((cell) => tabless(context.mask(cell))));
    pending = [];
    for (const row of shown) {
      for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length);
    }
    for (const row of shown) {
      const line = row.map((cell, n) => (n === row.length - 1 ? cell : cell.padEnd(widths[n]!))).join('  ');
      print(context, line.length <= columns ? line : `${line.slice(0, Math.max(1, columns - 1))}…`);
    }
  };
}

const tabless = (cell: string) => oneLine(cell).replaceAll('\t', ' ');
