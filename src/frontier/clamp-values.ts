/** Bounds on numbers and ids from spiders, for both engines, so that one bad request cannot affect others. */
import { InvalidRequestError } from '../errors.js';
import type { FrontierRequest } from './frontier.js';

/** About nine thousand years. */
const MAX_DELAY_MS = 2 ** 48 - 1;
/** In UTF-8 at most 1,200 bytes. */
const MAX_NAME_CHARS = 400;

const ID_CHARS = 40;
const NO_DIGIT = 255;

/** The value of each hexadecimal digit, by character code. Faster than a regular expression or `Buffer.write`. */
const hexDigits = new Uint8Array(128).fill(NO_DIGIT);
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/** The delay that the store accepts: whole ms, from 0 to `MAX_DELAY_MS`. */
export function delayInBounds(delayMs: number | undefined): number {
  return Math.max(0, Math.min(MAX_DELAY_MS, Math.round(delayMs ?? 0) || 0));
}

/** The counters to add in the store: whole numbers other than 0, with names of bounded length. */
export function countersInBounds(stats: Readonly<Record<string, number>>): [string, number][] {
  const counters: [string, number][] = [];
  for (const name of Object.keys(stats)) {
    const value = Math.round(stats[name]!);
    if (value !== 0 && Number.isSafeInteger(value)) counters.push([name.slice(0, MAX_NAME_CHARS), value]);
  }
  return counters;
}

/** @throws InvalidRequestError for an id or fingerprint that is not 40 hex digits. */
export function requireIds(requests: readonly Pick<FrontierRequest, 'id' | 'fingerprint'>[]): void {
  for (const { id, fingerprint } of requests) {
    if (isId(fingerprint) && (id === fingerprint || isId(id))) continue;
    throw new InvalidRequestError(
      `the fingerprint of a request must be 40 hex digits, not ${JSON.stringify(fingerprint)} (id ${JSON.stringify(id)}): see the spider's fingerprint()`,
    );
  }
}

/** Whether a text is 40 hex digits. */
function isId(text: unknown): boolean {
  if (typeof text !== 'string' || text.length !== ID_CHARS) return false;
  for (let n = 0; n < ID_CHARS; n += 1) if (!(hexDigits[text.charCodeAt(n)]! < NO_DIGIT)) return false;
  return true;
}
