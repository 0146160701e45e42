/** The first keys of an index as they stand in the store, so that what is leased next is found without a search. */

/** Keys read at once. A range of LMDB costs as much to begin as a page's verbs, some 25 µs; each key of it 1 µs. */
const READ_AHEAD = 32;
/** More than so many are not kept, however many are added. */
const MOST = 4 * READ_AHEAD;

export class IndexHead {
  /** In order, without a gap; what comes after them is not known, unless `#isWhole`. */
  #keys: Buffer[] = [];
  #isWhole = false;

  /** Up to `max` first keys. @param read as many as there are, up to a number. */
  first(max: number, read: (max: number) => Buffer[]): readonly Buffer[] {
    if (this.#keys.length < max && !this.#isWhole) {
      const asked = max + READ_AHEAD;
      this.#keys = read(asked);
      this.#isWhole = this.#keys.length < asked;
    }
    return this.#keys.slice(0, max);
  }

  /** A key was put; it is copied where it is kept, as others are written over it. */
  add(key: Buffer): void {
    const at = this.#placeOf(key);
    if (at === this.#keys.length && !this.#isWhole) return;
    if (this.#keys[at]?.equals(key) === true) return;
    this.#keys.splice(at, 0, Buffer.from(key));
    if (this.#keys.length > MOST) {
      this.#keys.length = READ_AHEAD;
      this.#isWhole = false;
    }
  }

  /** A key was deleted. */
  remove(key: Buffer): void {
    const at = this.#placeOf(key);
    if (this.#keys[at]?.equals(key) === true) this.#keys.splice(at, 1);
  }

  /** Where the key is, or would be. What is leased or placed is mostly the first. */
  #placeOf(key: Buffer): number {
    let [from, to] = [0, this.#keys.length];
    for (let at = 0; from < to; at = (from + to) >> 1) {
      if ((this.#keys[at] as Buffer).compare(key) < 0) from = at + 1;
      else to = at;
    }
    return from;
  }
}
