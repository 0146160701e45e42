/** The text form of settings: by it both engines compare them, and Redis stores those that are not numbers. */
import type { Tunables } from '../types/crawl.js';

/** A number or a flag as a number; anything else as JSON with sorted keys, and '' for null. Equal values have equal texts. */
export function tunableText(value: Tunables[keyof Tunables]): string {
  if (value === null) return '';
  return typeof value === 'object' ? sortedJson(value) : String(Number(value));
}

/** JSON with sorted keys. Equal values have equal texts. */
export function sortedJson(value: object): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
