/**
 * A crawl that somebody damages in the same way on each engine: `verify` says the same of it, and `repair` leads to the same
 * state. Requests keep their order, delayed ones their instants, failed ones their reasons.
 */
import { describe, expect, it } from 'vitest';
import { reading } from './repair.js';
import { type Crawl, commit, failed, nameOf, request, take } from './world.js';

/** What somebody at the store of one engine can do to the crawl. */
export interface Hand {
  dropPending(): Promise<unknown>;
  dropDelayed(): Promise<unknown>;
  dropRecord(id: string): Promise<unknown>;
  dropDomains(): Promise<unknown>;
  dropNodes(): Promise<unknown>;
  dropLeases(): Promise<unknown>;
  acceptOneMore(): Promise<unknown>;
  spoilRecord(id: string): Promise<unknown>;
}

const pages = Array.from({ length: 30 }, (_, n) =>
  request(`p${n}`, { domain: `d${n % 3}.example`, priority: n % 2 }),
);
const late = request('late', { domain: 'late.example', delayMs: 3_600_000 });
const all = [...pages, late];
/** In the order in which they are fetched: the first three are leased, the first one fails. */
const inOrder = [...pages.filter((_, n) => n % 2 === 1), ...pages.filter((_, n) => n % 2 === 0)].map(nameOf);

const damages: [what: string, breach: RegExp, damage: (hand: Hand) => Promise<unknown>, gone: string[]][] = [
  [
    'pending requests that are deleted',
    /^I1: the record of .* is in no queue/,
    (hand) => hand.dropPending(),
    [],
  ],
  [
    'delayed requests that are deleted',
    /^I1: the record of .* is in no queue/,
    (hand) => hand.dropDelayed(),
    [],
  ],
  ['leases that are deleted', /^I1: the record of .* is in no queue/, (hand) => hand.dropLeases(), []],
  [
    'a record that is deleted',
    /^I1: pending request .* has no record/,
    (hand) => hand.dropRecord(pages[28]!.id),
    ['p28'],
  ],
  [
    'domains that are deleted',
    /^I7: d0.example has \d+ pending requests and no record/,
    (hand) => hand.dropDomains(),
    [],
  ],
  [
    'nodes that are deleted',
    /^I3: request .* is leased to .*, which is not registered/,
    (hand) => hand.dropNodes(),
    [],
  ],
  ['a counter that is higher', /^I4: 32 accepted, but .* = 31$/, (hand) => hand.acceptOneMore(), []],
];

export function careOfDamages(open: () => Promise<{ crawl: Crawl; hand: Hand }>): void {
  describe('a damaged crawl', { timeout: 30_000 }, () => {
    it.each(damages)('with %s', async (_, breach, damage, gone) => {
      const { crawl, hand } = await open();
      const { frontier } = await crawl.node({ tunables: { nodeTimeoutMs: 60_000 } });
      await frontier.push(all, 'links');
      const [first] = await take(frontier, 3);
      await commit(frontier, first!, failed());
      const outsider = await crawl.outsider();
      expect(await outsider.verify()).toEqual([]);
      const { dueAtMs } = await outsider.inspect(late);
      await damage(hand);
      expect(await outsider.verify()).toContainEqual(expect.stringMatching(breach));

      const left = inOrder.filter((name) => name !== nameOf(first!) && !gone.includes(name));
      const counts = { pending: left.length, delayed: 1, failed: 1 };
      expect(await outsider.repair(reading(...all), { force: true })).toEqual(counts);
      expect(await outsider.verify()).toEqual([]);
      expect(await outsider.inspect(late)).toMatchObject({ state: 'delayed', dueAtMs });
      expect((await outsider.failed.list(null, 9)).requests).toMatchObject([
        { id: first!.id, reason: 'timeout' },
      ]);
      const next = await crawl.node();
      expect((await take(next.frontier, left.length)).map(nameOf)).toEqual(left);
      await crawl.end();
    });

    it('of which a record cannot be read', async () => {
      const { crawl, hand } = await open();
      const outsider = await crawl.outsider();
      await outsider.push(all, 'links');
      await hand.spoilRecord(pages[0]!.id);
      const read = reading(...all);
      const readable = (id: string, record: string) => (record === 'junk' ? null : read(id));
      const repaired = await outsider.repair(readable, { force: false });
      expect(repaired).toEqual({ pending: 29, delayed: 1, failed: 1 });
      expect((await outsider.failed.list(null, 9)).requests).toMatchObject([{ reason: 'bad_record' }]);
      expect(await outsider.verify()).toEqual([]);
      await crawl.end();
    });
  });
}
