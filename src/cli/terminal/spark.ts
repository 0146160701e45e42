/** Small pictures of numbers in a line of text. */

const LEVELS = '▁▂▃▄▅▆▇█';
/** An eighth of a character more each. */
const PARTS = ' ▏▎▍▌▋▊▉';

/** A character for each number, from 0 to the largest; a space where there is none. */
export function sparkline(values: readonly (number | null)[]): string {
  const most = Math.max(...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === null) return ' ';
      return LEVELS[most <= 0 ? 0 : Math.min(7, Math.floor((Math.max(0, value) / most) * 8))];
    })
    .join('');
}

/** `███▌      ` of a share of 1. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const full = '█'.repeat(Math.floor(eighths / 8));
  return `${full}${full.length < width ? PARTS[eighths % 8] : ''}`.padEnd(width);
}
