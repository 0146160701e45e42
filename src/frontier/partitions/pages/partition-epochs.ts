/**
 * The epochs of all partitions as one. A link is cached as seen under all of them, so a fingerprint that is forgotten in any
 * partition empties the cache. What a node last heard of a partition may be a moment old. Commands that forget raise the
 * epochs of all partitions before they return, so only what is forgotten at the same instant is ever withheld.
 */
export class PartitionEpochs {
  readonly #known: string[];

  constructor(count: number) {
    this.#known = new Array<string>(count).fill('');
  }

  get all(): string {
    return this.#known.join(',');
  }

  of(partition: number): string {
    return this.#known[partition] ?? '';
  }

  hear(partition: number, epoch: string): void {
    if (epoch !== '') this.#known[partition] = epoch;
  }
}
