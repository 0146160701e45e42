/**
 * The ids that a walk has met, with flags: a hash table in two arrays, 21 bytes a place, since a million ids as strings in a Map
 * take three times as much. Ids are SHA-1, so that their first bytes are their hash.
 */
const ID_BYTES = 20;

export class IdTable {
  #places = 1 << 12;
  #used = 0;
  #ids = Buffer.alloc(this.#places * ID_BYTES);
  /** 0: the place is free. */
  #flags = new Uint8Array(this.#places);

  /** Add flags to those of an id. @returns those that it had before. */
  mark(id: Uint8Array, flags: number): number {
    if (4 * this.#used >= 3 * this.#places) this.#grow();
    const key = Buffer.alloc(ID_BYTES);
    key.set(id.subarray(0, ID_BYTES));
    const place = this.#placeOf(key);
    const before = this.#flags[place]!;
    if (before === 0) {
      this.#ids.set(key, place * ID_BYTES);
      this.#used += 1;
    }
    this.#flags[place] = before | flags;
    return before;
  }

  /** The ids with exactly these flags. */
  *withFlags(flags: number): Generator<Buffer> {
    for (let place = 0; place < this.#places; place += 1) {
      if (this.#flags[place] === flags) yield this.#idAt(place);
    }
  }

  #idAt(place: number): Buffer {
    return Buffer.from(this.#ids.subarray(place * ID_BYTES, (place + 1) * ID_BYTES));
  }

  #placeOf(id: Buffer): number {
    let place = id.readUInt32LE(0) & (this.#places - 1);
    while (
      this.#flags[place] !== 0 &&
      this.#ids.compare(id, 0, ID_BYTES, place * ID_BYTES, (place + 1) * ID_BYTES) !== 0
    ) {
      place = (place + 1) & (this.#places - 1);
    }
    return place;
  }

  #grow(): void {
    const [ids, flags] = [this.#ids, this.#flags];
    this.#places *= 2;
    this.#ids = Buffer.alloc(this.#places * ID_BYTES);
    this.#flags = new Uint8Array(this.#places);
    for (const [place, flag] of flags.entries()) {
      if (flag === 0) continue;
      const id = ids.subarray(place * ID_BYTES, (place + 1) * ID_BYTES);
      const next = this.#placeOf(id);
      this.#ids.set(id, next * ID_BYTES);
      this.#flags[next] = flag;
    }
  }
}
