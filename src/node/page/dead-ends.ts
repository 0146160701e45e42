/**
 * Pages, requests, items and seeds that ended without a result and without a failure: a status without a callback, a redirect that
 * leads nowhere, a request that the crawl does not follow, an item that a pipeline dropped, a bad seed. Counters hold the numbers; this
 * keeps one example of each kind.
 */

/** One kind of them. */
export interface DeadEnd {
  /** `status 404`, `redirect without a usable Location`, `offsite (allowedDomains)`. */
  readonly what: string;
  /** What is counted: downloaded pages, requests or items that a page yielded and that were dropped, or bad seeds. */
  readonly unit: 'page' | 'request' | 'item' | 'seed';
  readonly count: number;
  /** The first URL that ended so; of an item, that of its page and why it was dropped; of a seed, why it is bad. */
  readonly example: string;
}

/** Pages that robots.txt does not allow. */
export const FORBIDDEN_BY_ROBOTS = 'forbidden by robots.txt';

/** A limit, since a server may send any number of different statuses. */
const MAX_KINDS = 50;

/** Those of one node, over all its incarnations. */
export class DeadEnds {
  readonly #kinds = new Map<
    string,
    { readonly unit: DeadEnd['unit']; count: number; readonly example: string }
  >();

  /** Count a page of which nothing came, or a request or item that was dropped. */
  note(what: string, example: string, unit: DeadEnd['unit'] = 'page'): void {
    const kind = this.#kinds.get(what);
    if (kind !== undefined) kind.count++;
    else if (this.#kinds.size < MAX_KINDS) this.#kinds.set(what, { unit, count: 1, example });
  }

  list(): DeadEnd[] {
    return mostFirst([...this.#kinds].map(([what, kind]) => ({ what, ...kind })));
  }
}

/** Those of several nodes as one list, the most frequent first. */
export function sumOfDeadEnds(lists: readonly (readonly DeadEnd[])[]): DeadEnd[] {
  const sums = new Map<string, DeadEnd>();
  for (const end of lists.flat()) {
    const before = sums.get(end.what);
    sums.set(end.what, before === undefined ? end : { ...before, count: before.count + end.count });
  }
  return mostFirst([...sums.values()]);
}

function mostFirst(ends: DeadEnd[]): DeadEnd[] {
  return ends.sort((a, b) => b.count - a.count);
}
