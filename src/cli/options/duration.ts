/** Durations with a unit: `90s`, `15m`, `12h`, `7d`, `2w`. */
import { InvalidArgumentError } from 'commander';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** An argument parser for commander. @returns ms */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text.trim()) ?? [];
  if (number === undefined) {
    throw new InvalidArgumentError('Expected a number with a unit: 90s, 15m, 12h, 7d or 2w.');
  }
  return Number(number) * units[unit as keyof typeof units];
}

/** The two largest units of a duration, such as `6d 23h`. */
export function inWords(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, ms);
  for (const [unit, size] of Object.entries(units).reverse()) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (parts.length === 0 && unit === 's')) parts.push(`${count}${unit}`);
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}
