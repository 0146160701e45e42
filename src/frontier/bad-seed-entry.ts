/** The stored record of a seed that could not be used; the same text in both engines. */
import { isUtf8 } from 'node:buffer';
import { MAX_SEED_BYTES } from './frontier.js';

/** An entry of `<key>:bad`. */
export type BadSeed = {
  /** Why the seed is bad: a message for the user. */
  readonly reason: string;
  /** When it was set aside, ISO 8601. */
  readonly at: string;
  /** The size of the seed; present only when it was truncated. */
  readonly bytes?: number;
} & ({ readonly seed: string } | { readonly seed_base64: string });

/** The entry as JSON. A seed that is not UTF-8 is stored as base64. A seed beyond the size limit is truncated. */
export function badSeedEntry(value: Buffer, reason: string, nowMs: number): string {
  const isCut = value.length > MAX_SEED_BYTES;
  const stored = isCut ? value.subarray(0, MAX_SEED_BYTES) : value;
  // A truncated seed is stored as base64, since the cut may be within a character.
  const seed =
    isCut || !isUtf8(stored) ? { seed_base64: stored.toString('base64') } : { seed: stored.toString() };
  const entry: BadSeed = {
    ...seed,
    reason,
    at: new Date(nowMs).toISOString(),
    ...(isCut && { bytes: value.length }),
  };
  return JSON.stringify(entry);
}
