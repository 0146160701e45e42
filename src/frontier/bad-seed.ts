/** What is kept of a seed that could not be used: the same text in both engines. */
import { isUtf8 } from 'node:buffer';
import { MAX_SEED_BYTES } from './frontier.js';

/** An entry of `<key>:bad`. */
export type BadSeed = {
  /** Why, for people. */
  readonly reason: string;
  /** When it was set aside, ISO 8601. */
  readonly at: string;
  /** Its size, where only the beginning of it is kept. */
  readonly bytes?: number;
} & ({ readonly seed: string } | { readonly seed_base64: string });

/** As JSON. A seed that is no text is kept as base64; of one larger than a seed may be, the beginning. */
export function badSeedEntry(value: Buffer, reason: string, nowMs: number): string {
  const isCut = value.length > MAX_SEED_BYTES;
  const kept = isCut ? value.subarray(0, MAX_SEED_BYTES) : value;
  // A cut through a character would make a text of it that was none.
  const seed = isCut || !isUtf8(kept) ? { seed_base64: kept.toString('base64') } : { seed: kept.toString() };
  const entry: BadSeed = {
    ...seed,
    reason,
    at: new Date(nowMs).toISOString(),
    ...(isCut && { bytes: value.length }),
  };
  return JSON.stringify(entry);
}
