/**
 * Pages that ended without an item, a link or a failure: a status that no callback asked for, or a redirect that leads
 * nowhere. And links that were refused as traps. Counters say how many; this keeps one URL of each kind, to be looked at.
 */

/** One kind of them. */
export interface DeadEnd {
  /** `status 404`, `redirect without a usable Location`. */
  readonly what: string;
  /** What is counted. */
  readonly of: 'page' | 'link';
  readonly count: number;
  /** The first URL that ended so. */
  readonly example: string;
}

/** Statuses come from servers, which may make up a thousand of them. */
const MAX_KINDS = 50;

/** Those of one node, over all its incarnations. */
export class DeadEnds {
  readonly #kinds = new Map<
    string,
    { readonly of: DeadEnd['of']; count: number; readonly example: string }
  >();

  /** A page that ended so. */
  note(what: string, url: string): void {
    this.#note(what, 'page', url);
  }

  /** A link that was refused. */
  noteLink(what: string, url: string): void {
    this.#note(what, 'link', url);
  }

  #note(what: string, of: DeadEnd['of'], url: string): void {
    const kind = this.#kinds.get(what);
    if (kind !== undefined) kind.count++;
    else if (this.#kinds.size < MAX_KINDS) this.#kinds.set(what, { of, count: 1, example: url });
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
