/**
 * Flags of the ids that a walk has met: a hash table of their first 8 bytes, 9 bytes a place, since a million ids as strings in a
 * Map take ten times as much. Ids are SHA-1: two of a million that begin alike are one chance in thirty million, and what the
 * table says is looked at again by whole ids.
 */
export class IdTable {
  #places = 1 << 12;
  #used = 0;
  #low = new Uint32Array(this.#places);
  #high = new Uint32Array(this.#places);
  /** 0: the place is free. */
  #flags = new Uint8Array(this.#places);

  /** Add flags to those of an id. @returns those that it had before. */
  mark(id: Uint8Array, flags: number): number {
    if (4 * this.#used >= 3 * this.#places) this.#grow();
    const [low, high] = wordsOf(id);
    const place = this.#placeOf(low, high);
    const before = this.#flags[place]!;
    if (before === 0) this.#used += 1;
    this.#put(place, low, high, before | flags);
    return before;
  }

  flagsOf(id: Uint8Array): number {
    return this.#flags[this.#placeOf(...wordsOf(id))]!;
  }

  /** How many ids have exactly these flags. */
  count(flags: number): number {
    return this.#flags.reduce((sum, found) => sum + (found === flags ? 1 : 0), 0);
  }

  #put(place: number, low: number, high: number, flags: number): void {
    this.#low[place] = low;
    this.#high[place] = high;
    this.#flags[place] = flags;
  }

  #placeOf(low: number, high: number): number {
    let place = low & (this.#places - 1);
    while (this.#flags[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high)) {
      place = (place + 1) & (this.#places - 1);
    }
    return place;
  }

  #grow(): void {
    const [lows, highs, flags] = [this.#low, this.#high, this.#flags];
    this.#places *= 2;
    this.#low = new Uint32Array(this.#places);
    this.#high = new Uint32Array(this.#places);
    this.#flags = new Uint8Array(this.#places);
    for (const [n, flag] of flags.entries()) {
      if (flag !== 0) this.#put(this.#placeOf(lows[n]!, highs[n]!), lows[n]!, highs[n]!, flag);
    }
  }
}

/** What somebody put into a queue by hand may be shorter than an id. */
function wordsOf(id: Uint8Array): [low: number, high: number] {
  const word = (at: number) =>
    (((id[at] ?? 0) << 24) | ((id[at + 1] ?? 0) << 16) | ((id[at + 2] ?? 0) << 8) | (id[at + 3] ?? 0)) >>> 0;
  return [word(0), word(4)];
}
