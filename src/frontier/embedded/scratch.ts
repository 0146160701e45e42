/**
 * Bytes on their way into the store, which copies them before `put` returns: memory that is written over and over. A
 * Buffer of its own for each key and value of a link takes a tenth of what the link costs, and the collector as much.
 */
export class Scratch {
  /** Where to write. */
  readonly bytes: Buffer;
  readonly #beginnings: (Buffer | undefined)[];

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.#beginnings = Array.from({ length: size + 1 });
  }

  /** The first `length` bytes, to be put before anything else is written. */
  first(length: number): Buffer {
    let beginning = this.#beginnings[length];
    if (beginning === undefined) {
      beginning = this.bytes.subarray(0, length);
      this.#beginnings[length] = beginning;
    }
    return beginning;
  }
}
