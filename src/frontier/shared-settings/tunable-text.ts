/** The text form of settings, by which both engines store and compare those that are not numbers. */
import type { AutoThrottle, Tunables } from '../crawl-types.js';

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

/** Texts that were read last: they are the same for every page. */
const parsed = new Map<string, unknown>();
const MOST_PARSED = 20;

/** The value of a stored text of `slots` or `autothrottle`; null for '' and for a text that somebody damaged. */
export function parseTunable<Value extends Tunables['slots'] | AutoThrottle>(text: string): Value | null {
  if (text === '') return null;
  if (!parsed.has(text)) {
    if (parsed.size >= MOST_PARSED) parsed.clear();
    parsed.set(text, parse(text));
  }
  return parsed.get(text) as Value | null;
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
