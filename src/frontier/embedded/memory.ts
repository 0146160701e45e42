/** What a client remembers between transactions; each is valid only for a version that the store names. */

import { Kept } from './kept.js';
import { hexOf, ID_BYTES } from './keys.js';
import type { Meta } from './meta.js';

/** The meta last read by this client, so that its JSON is parsed only when it has changed. */
export class MetaCache {
  #version = -1;
  #meta: Meta | undefined;

  read(version: number, load: () => Buffer | undefined): Meta | undefined {
    if (this.#meta === undefined || this.#version !== version) {
      const bytes = load();
      if (bytes === undefined) return undefined;
      this.#meta = JSON.parse(bytes.toString()) as Meta;
      this.#version = version;
    }
    return this.#meta;
  }
}

/** Fingerprints kept at most, 28 bytes each; of the links of most spiders' pages the engine keeps its own (`engine/seen-links.ts`). */
const SLOTS = 2 ** 14;

/** A fingerprint in numbers of 32 bits. */
const WORDS = 5;

/**
 * Fingerprints found to be seen, so that those that every page brings are not looked up again: 0.1 µs instead of 1.2.
 * Each has one place, which the next one takes over. One that is recorded enters when it is met again, so that a new one
 * costs next to nothing. All are dropped when the dupefilter has forgotten anything, and when a transaction fails, which
 * may have found what it had recorded itself.
 */
export class SeenCache {
  #version = -1;
  readonly #words = new Int32Array(SLOTS * WORDS);
  /** Until when each counts as seen; 0 where there is none. */
  readonly #untilMs = new Float64Array(SLOTS);

  /** Whether the fingerprint is known to be seen, by a dupefilter of this version. */
  has(version: number, fingerprint: string, nowMs: number): boolean {
    if (version !== this.#version) return false;
    const slot = slotOf(fingerprint);
    if ((this.#untilMs[slot] ?? 0) <= nowMs) return false;
    for (let n = 0; n < WORDS; n += 1) {
      if (this.#words[slot * WORDS + n] !== wordOf(fingerprint, n)) return false;
    }
    return true;
  }

  /** Remember until when a fingerprint was found to be seen. */
  add(version: number, fingerprint: string, untilMs: number): void {
    if (version !== this.#version) {
      this.clear();
      this.#version = version;
    }
    const slot = slotOf(fingerprint);
    this.#untilMs[slot] = untilMs;
    for (let n = 0; n < WORDS; n += 1) this.#words[slot * WORDS + n] = wordOf(fingerprint, n);
  }

  clear(): void {
    this.#untilMs.fill(0);
  }
}

/** By its last digits, so that two that share a place differ in the first word. */
const slotOf = (fingerprint: string): number => hexOf(fingerprint, 2 * ID_BYTES - 4, 2 * ID_BYTES) % SLOTS;

const wordOf = (fingerprint: string, n: number): number => hexOf(fingerprint, 8 * n, 8 * (n + 1));

/** All that a client remembers. */
export class Memory {
  readonly meta = new MetaCache();
  readonly seen = new SeenCache();
  #kept = new Kept();
  /** The last transaction that `#kept` knows of. */
  #keptAt = -1;

  /** What the transaction before this number left, if it was ours; nothing else may use it until `keep`. */
  keptFor(transaction: number): Kept {
    if (this.#keptAt !== transaction - 1) this.#kept = new Kept();
    this.#keptAt = -1;
    return this.#kept;
  }

  /** The transaction of this number is committed, and what it kept is what the store holds. */
  keep(transaction: number): void {
    if (this.#kept.isSmall) this.#keptAt = transaction;
  }
}
