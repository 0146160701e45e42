/** What a client remembers between transactions; each is valid only for a version that the store names. */
import { Kept } from './kept.js';
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

/** Fingerprints kept, a hundred bytes each; of the links of the pages the engine keeps its own (`engine/seen-links.ts`). */
const MAX_SEEN = 20_000;

/**
 * Fingerprints known to be seen, so that the links every page of a site repeats are not looked up again (1.4 µs each,
 * the most of what a settle with a hundred links cost). Entries enter only after their transaction committed, and are
 * dropped whenever the dupefilter has forgotten anything.
 */
export class SeenCache {
  #version = -1;
  /** Until when each counts as seen. */
  readonly #seen = new Map<string, number>();

  /** Whether the fingerprint is known to be seen, by a dupefilter of this version. */
  has(version: number, fingerprint: string, nowMs: number): boolean {
    if (version !== this.#version) {
      this.#seen.clear();
      this.#version = version;
    }
    const untilMs = this.#seen.get(fingerprint);
    return untilMs !== undefined && untilMs > nowMs;
  }

  /** Remember what a committed transaction found or recorded. */
  add(version: number, found: readonly (readonly [fingerprint: string, untilMs: number])[]): void {
    if (version !== this.#version) return;
    if (this.#seen.size + found.length > MAX_SEEN) this.#seen.clear();
    for (const [fingerprint, untilMs] of found) this.#seen.set(fingerprint, untilMs);
  }
}

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
