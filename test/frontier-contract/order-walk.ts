/** The order under whatever comes and goes, against a plain sorted list: exact over all domains, in all three classes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Frontier, Lease, Shape } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, nameOf, released, request, retry, take } from './world.js';

const queueClasses: readonly Shape['queueClass'][] = ['PriorityQueue', 'FifoQueue', 'LifoQueue'];

const priority = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, -7) },
  { weight: 1, arbitrary: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) },
);
/** How many domains there are, and at most how many requests come in a row and are leased at once. */
const sizes = [
  { domains: 3, run: 70, runs: 4, lease: 90 },
  { domains: 40, run: 4, runs: 60, lease: 12 },
] as const;

const walks = queueClasses.flatMap((queueClass) => sizes.map((size) => ({ queueClass, size })));

const stepOf = ({ domains, run, runs, lease }: (typeof sizes)[number]) =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        verb: fc.constant('push' as const),
        /** Pages of one site and priority, as links come, or a mixture. */
        runs: fc.array(fc.record({ domain: fc.nat(domains - 1), priority, count: fc.nat(run) }), {
          maxLength: runs,
          size: 'max',
        }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ verb: fc.constant('lease' as const), max: fc.nat(lease) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        verb: fc.constant('settle' as const),
        count: fc.nat(50),
        how: fc.constantFrom('done', 'released', 'retry'),
        fromTheEnd: fc.boolean(),
        priority,
      }),
    },
  );
type Step = ReturnType<typeof stepOf> extends fc.Arbitrary<infer T> ? T : never;

export function orderWalk(crawl: () => Crawl): void {
  describe('order, whatever comes and goes', () => {
    for (const { queueClass, size } of walks) {
      it(`is that of a sorted list in a ${queueClass} over ${size.domains} domains`, async () => {
        const { frontier } = await crawl().node({
          shape: { queueClass },
          tunables: { concurrencyPerDomain: 100_000 },
        });
        let pages = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(stepOf(size), { minLength: 5, maxLength: 25 }), async (steps) => {
            const walker = new OrderWalk(frontier, queueClass, () => `page-${pages++}`);
            for (const next of steps) {
              await walker.take(next);
              expect(await frontier.verify()).toEqual([]);
            }
            await walker.drain();
            expect(await frontier.verify()).toEqual([]);
          }),
          { numRuns: 12 },
        );
      });
    }
  });
}

interface Entry {
  readonly name: string;
  readonly priority: number;
  readonly arrival: number;
}

/** A frontier and the list it must agree with. */
class OrderWalk {
  readonly #frontier: Frontier;
  readonly #queueClass: Shape['queueClass'];
  readonly #newName: () => string;
  #pending: Entry[] = [];
  /** Retried: pending with a new arrival at the next lease. One at a time, as equals in time have no order. */
  #due: { readonly name: string; readonly priority: number } | null = null;
  readonly #held: { readonly lease: Lease; readonly entry: Entry }[] = [];
  #arrivals = 0;

  constructor(frontier: Frontier, queueClass: Shape['queueClass'], newName: () => string) {
    this.#frontier = frontier;
    this.#queueClass = queueClass;
    this.#newName = newName;
  }

  async take(next: Step): Promise<void> {
    switch (next.verb) {
      case 'push':
        return this.#push(next.runs);
      case 'lease':
        return this.#lease(next.max);
      case 'settle':
        // At once, as a node does with pages that end together.
        await Promise.all(Array.from({ length: next.count }, () => this.#settle(next)));
    }
  }

  /** Take what is left, and end everything. */
  async drain(): Promise<void> {
    await this.#lease(this.#pending.length + 1);
    await Promise.all(this.#held.splice(0).map(({ lease }) => commit(this.#frontier, lease, done)));
  }

  async #push(runs: readonly { domain: number; priority: number; count: number }[]): Promise<void> {
    const requests = runs.flatMap(({ domain, priority, count }) =>
      Array.from({ length: count }, () => {
        const name = this.#newName();
        this.#arrive(name, priority);
        return request(name, { domain: `${domain}.example`, priority });
      }),
    );
    await this.#frontier.push(requests, 'links');
  }

  async #lease(max: number): Promise<void> {
    if (max === 0) return;
    if (this.#due !== null) this.#arrive(this.#due.name, this.#due.priority);
    this.#due = null;
    this.#pending.sort((a, b) => this.#compare(a, b));
    const expected = this.#pending.splice(0, max);
    const leases = await take(this.#frontier, expected.length);
    expect(leases.map(nameOf)).toEqual(expected.map(({ name }) => name));
    this.#held.push(...leases.map((lease, n) => ({ lease, entry: expected[n] as Entry })));
  }

  async #settle({ how, fromTheEnd, priority }: Extract<Step, { verb: 'settle' }>): Promise<void> {
    const held = fromTheEnd ? this.#held.pop() : this.#held.shift();
    if (held === undefined) return;
    const { lease, entry } = held;
    if (how === 'retry' && this.#due === null) {
      this.#due = { name: entry.name, priority };
      await commit(this.#frontier, lease, retry(lease, 0, priority));
    } else if (how === 'released') {
      this.#pending.push(entry);
      await commit(this.#frontier, lease, released);
    } else {
      await commit(this.#frontier, lease, done);
    }
  }

  #arrive(name: string, priority: number): void {
    this.#arrivals += 1;
    this.#pending.push({ name, priority, arrival: this.#arrivals });
  }

  #compare(a: Entry, b: Entry): number {
    if (this.#queueClass === 'LifoQueue') return b.arrival - a.arrival;
    if (this.#queueClass === 'FifoQueue') return a.arrival - b.arrival;
    return b.priority - a.priority || a.arrival - b.arrival;
  }
}
