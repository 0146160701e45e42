/**
 * Flags of the ids that a walk has met: a hash table of their first 6 bytes, 9 bytes a place, since a million ids in a Map take ten
 * times as much. Ids are SHA-1: that two of a million begin alike is one chance in five hundred, and what the table says is looked
 * at again by whole ids.
 */
export class IdTable {
  #used = 0;
  #keys = new Float64Array(1 << 12);
  /** 0: the place is free. */
  #flags = new Uint8Array(1 << 12);

  /** Add flags to those of an id. @returns those that it had before. */
  mark(id: Uint8Array, flags: number): number {
    if (4 * this.#used >= 3 * this.#flags.length) this.#grow();
    const key = keyOf(id);
    const place = this.#placeOf(key);
    const before = this.#flags[place]!;
    if (before === 0) this.#used += 1;
    this.#keys[place] = key;
    this.#flags[place] = before | flags;
    return before;
  }

  flagsOf(id: Uint8Array): number {
    return this.#flags[this.#placeOf(keyOf(id))]!;
  }

  /** How many ids have exactly these flags. */
  count(flags: number): number {
    return this.#flags.reduce((sum, found) => sum + (found === flags ? 1 : 0), 0);
  }

  #placeOf(key: number): number {
    let place = key % this.#flags.length;
    while (this.#flags[place] !== 0 && this.#keys[place] !== key) place = (place + 1) % this.#flags.length;
    return place;
  }

  #grow(): void {
    const [keys, flags] = [this.#keys, this.#flags];
    this.#keys = new Float64Array(2 * keys.length);
    this.#flags = new Uint8Array(2 * flags.length);
    for (const [n, flag] of flags.entries()) {
      const place = this.#placeOf(keys[n]!);
      if (flag !== 0) [this.#keys[place], this.#flags[place]] = [keys[n]!, flag];
    }
  }
}

/** What somebody put into a queue by hand may be shorter than an id. */
function keyOf(id: Uint8Array): number {
  let key = 0;
  for (let n = 0; n < 6; n += 1) key = 256 * key + (id[n] ?? 0);
  return key;
}
