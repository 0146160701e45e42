/** The names of DOWNLOAD_SLOTS that no request has had. A misspelt one has no effect, and the summary says so. */
import type { Tunables } from '../../frontier/frontier.js';

/** Those of one node, over all its incarnations. */
export class UnusedSlots {
  /** By the lower-case name, as hosts are compared. */
  readonly #names: Map<string, string>;

  constructor(slots: Tunables['slots']) {
    this.#names = new Map(Object.keys(slots ?? {}).map((name) => [name.toLowerCase(), name]));
  }

  /** A request of this domain was leased. */
  note(domain: string): void {
    if (this.#names.size > 0) this.#names.delete(domain.toLowerCase());
  }

  list(): string[] {
    return [...this.#names.values()];
  }
}
