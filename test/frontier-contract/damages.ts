/**
 * A crawl that somebody damages in the same way on each engine: `verify` says the same of it, and `repair` leads to the same
 * state. Requests keep their order, delayed ones their instants, failed ones their reasons.
 */
import { describe, expect, it } from 'vitest';
import { reading } from './repair.js';
import { type Crawl, commit, failed, nameOf, request, take, takeOne } from './world.js';

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
  /** Delete the items that wait for feeds. */
  dropOutbox(): Promise<unknown>;
  /** Have the items that wait for feeds be those with the numbers before, as an older copy has them. */
  shiftOutbox(): Promise<unknown>;
  /** Delete what is recorded of feeds, but not their items. */
  dropFeeds(): Promise<unknown>;
  /** The record of a feed says that this many items more are written. */
  raiseWritten(feed: string, by: number): Promise<unknown>;
  /** Delete what the nodes of the crawl share. */
  dropCrawl(): Promise<unknown>;
  /** No request of a domain is due for years. */
  delayForYears(domain: string): Promise<unknown>;
  forgetSeen(id: string): Promise<unknown>;
}

const pages = Array.from({ length: 30 }, (_, n) =>
  request(`p${n}`, { domain: `d${n % 3}.example`, priority: n % 2 }),
);
const late = request('late', { domain: 'late.example', delayMs: 3_600_000 });
const all = [...pages, late];
/** In the order in which they are fetched: the first three are leased, the first one fails. */
const inOrder = [...pages.filter((_, n) => n % 2 === 1), ...pages.filter((_, n) => n % 2 === 0)].map(nameOf);

/** What the counters alone show of it; null where they cannot. */
type Counted = RegExp | null;
const uncounted = /^I4: .* accepted, but |^I1: \d+ records are of requests in no queue|^I4: there are /;

const damages: [
  what: string,
  breach: RegExp,
  damage: (hand: Hand) => Promise<unknown>,
  gone: string[],
  counted: Counted,
][] = [
  [
    'pending requests that are deleted',
    /^I1: the record of .* is in no queue/,
    (hand) => hand.dropPending(),
    [],
    uncounted,
  ],
  [
    'delayed requests that are deleted',
    /^I1: the record of .* is in no queue/,
    (hand) => hand.dropDelayed(),
    [],
    uncounted,
  ],
  [
    'leases that are deleted',
    /^I1: the record of .* is in no queue/,
    (hand) => hand.dropLeases(),
    [],
    uncounted,
  ],
  [
    'a record that is deleted',
    /^I1: pending request .* has no record/,
    (hand) => hand.dropRecord(pages[28]!.id),
    ['p28'],
    /^I1: at least 1 requests have no record/,
  ],
  [
    'domains that are deleted',
    /^I7: d0.example has \d+ pending requests and no record/,
    (hand) => hand.dropDomains(),
    [],
    null,
  ],
  [
    'nodes that are deleted',
    /^I3: request .* is leased to .*, which is not registered/,
    (hand) => hand.dropNodes(),
    [],
    null,
  ],
  [
    'a counter that is higher',
    /^I4: 32 accepted, but .* = 31$/,
    (hand) => hand.acceptOneMore(),
    [],
    /^I4: 32 accepted/,
  ],
];

export function careOfDamages(open: () => Promise<{ crawl: Crawl; hand: Hand }>): void {
  describe('a damaged crawl', { timeout: 30_000 }, () => {
    it.each(damages)('with %s', async (_, breach, damage, gone, counted) => {
      const { crawl, hand } = await open();
      const { frontier } = await crawl.node({ tunables: { nodeTimeoutMs: 60_000 } });
      await frontier.push(all, 'links');
      const [first] = await take(frontier, 3);
      await commit(frontier, first!, failed());
      const outsider = await crawl.outsider();
      expect(await outsider.verify()).toEqual([]);
      expect(await outsider.verifyCounts()).toEqual([]);
      const { dueAtMs } = await outsider.inspect(late);
      await damage(hand);
      if (counted !== null)
        expect(await outsider.verifyCounts()).toContainEqual(expect.stringMatching(counted));
      expect(await outsider.verify()).toContainEqual(expect.stringMatching(breach));

      const left = inOrder.filter((name) => name !== nameOf(first!) && !gone.includes(name));
      const counts = { pending: left.length, delayed: 1, failed: 1 };
      expect(await outsider.repair(reading(...all), { force: true })).toMatchObject(counts);
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
      expect(await outsider.verify(readable)).toEqual([
        `I1: the record of ${pages[0]!.id} cannot be read: its request would fail`,
      ]);
      const repaired = await outsider.repair(readable, { force: false });
      expect(repaired).toMatchObject({ pending: 29, delayed: 1, failed: 1, unreadable: 1 });
      expect((await outsider.failed.list(null, 9)).requests).toMatchObject([{ reason: 'bad_record' }]);
      expect(await outsider.verify(readable)).toEqual([]);
      await crawl.end();
    });

    it('without the record that its nodes share is repaired although a node lives, and says what that means', async () => {
      const { crawl, hand } = await open();
      const { frontier } = await crawl.node({ hasStart: true });
      await frontier.push(all, 'links');
      await take(frontier, 3);
      await hand.dropCrawl();
      const outsider = await crawl.outsider();
      expect(await outsider.verify()).not.toEqual([]);
      const repaired = await outsider.repair(reading(...all), { force: false });
      expect(repaired).toMatchObject({
        pending: 30,
        losses: [expect.stringMatching(/^the record of the crawl.*start requests/)],
      });
      expect(await outsider.verify()).toEqual([]);
      const next = await crawl.node();
      expect((await take(next.frontier, 30)).map(nameOf)).toEqual(inOrder);
      await crawl.end();
    });

    it('of which a domain waits for years goes on after a repair', async () => {
      const { crawl, hand } = await open();
      const outsider = await crawl.outsider();
      await outsider.push(all, 'links');
      await outsider.throttle('d0.example', { delayMs: 1, source: 'setting' });
      await hand.delayForYears('d0.example');
      expect(await outsider.verify()).toContainEqual(
        'I7: d0.example waits until an instant that neither its delay nor a throttle explains',
      );
      await outsider.repair(reading(...all), { force: false });
      expect(await outsider.verify()).toEqual([]);
      const next = await crawl.node();
      expect((await take(next.frontier, 30)).length).toBe(30);
      await crawl.end();
    });

    it('of which a fingerprint vanished says so after a repair', async () => {
      const { crawl, hand } = await open();
      const { frontier } = await crawl.node();
      await frontier.push(all, 'links');
      await frontier.leave('shutdown');
      const outsider = await crawl.outsider();
      await hand.forgetSeen(pages[3]!.id);
      const { losses } = await outsider.repair(reading(...all), { force: false });
      expect(losses).toEqual([expect.stringMatching(/:dupefilter: 1 (of 31 )?fingerprints/)]);
      expect(await outsider.snapshot()).toMatchObject({ seen: 30, seenGone: 1 });
      expect(await outsider.verify()).toEqual([]);
      await crawl.end();
    });
  });

  describe('a damaged feed', { timeout: 30_000 }, () => {
    const writer = {
      feed: 'feed',
      host: 'here',
      path: '/out.jsonl',
      pid: process.pid,
      owner: 'w',
      format: 'jsonl',
    };
    const usual = { staleMs: 30_000 };
    const three = pages.slice(0, 3);

    /** A crawl with three items, of which the file has `written`; its node has left. */
    const withItems = async (written: number, feeds = ['feed']) => {
      const { crawl, hand } = await open();
      const { frontier } = await crawl.node({ feeds });
      await frontier.push(three, 'links');
      for (const [n, lease] of (await take(frontier, 3)).entries())
        await commit(frontier, lease, undefined, { feedItems: [`{"n":${n}}`] });
      await frontier.feeds.open(writer, usual);
      await frontier.feeds.checkpoint(writer, { sequence: written, lengthBytes: 8 * written, header: '' }, 0);
      await frontier.feeds.release(writer);
      await frontier.leave('signal');
      const outsider = await crawl.outsider();
      expect(await outsider.verify()).toEqual([]);
      const repair = async () => {
        const { losses } = await outsider.repair(reading(...three), { force: false });
        expect(await outsider.verify()).toEqual([]);
        return losses;
      };
      return { crawl, hand, outsider, repair };
    };
    const damaged = { code: 'outbox_damaged' };

    it('whose waiting items were deleted counts them as lost until somebody accepts that', async () => {
      const { crawl, hand, outsider, repair } = await withItems(1);
      await hand.dropOutbox();
      expect(await outsider.verify()).toEqual(['I4: 0 items wait for the feed feed, and its record says 2']);
      expect(await repair()).toEqual(['2 items that waited for the feed feed']);
      expect(await repair()).toEqual([]);
      const next = await crawl.node();
      expect(next.joined.found).toMatchObject({ lost: 2 });
      await next.frontier.leave('requests_lost');
      expect(await outsider.acceptLosses()).toBe(2);
      expect(await outsider.snapshot()).toMatchObject({ lost: 0 });
      await crawl.end();
    });

    it.each([[['feed']], [['feed', 'other']]])(
      'whose waiting items are those of an earlier time is named and mended: of %j',
      async (feeds) => {
        const { crawl, hand, outsider, repair } = await withItems(1, feeds);
        await hand.shiftOutbox();
        const gone = (feed: string, of: number) =>
          `I4: 1 of the ${of} items that wait for the feed ${feed} are gone, and others have come in their place`;
        const waiting = { feed: 2, other: 3 };
        expect([...(await outsider.verify())].sort()).toEqual(
          feeds.map((feed) => gone(feed, waiting[feed as 'feed'])),
        );
        expect([...(await repair())].sort()).toEqual(
          feeds.map((feed) => `1 items that waited for the feed ${feed}`),
        );
        expect(await outsider.snapshot()).toMatchObject({ lost: feeds.length });
        expect(await outsider.feeds.read('feed', 1, 9)).toEqual(['{"n":2}']);
        await crawl.end();
      },
    );

    it('that says it has written more than there was is refused to its writer, and loses nothing by a repair', async () => {
      const { crawl, hand, outsider, repair } = await withItems(1);
      await hand.raiseWritten('feed', 50);
      expect(await outsider.verify()).toEqual([
        'I4: the record of the feed feed says that more is written than there was',
      ]);
      expect((await outsider.snapshot()).outbox).toMatchObject([{ waiting: 0 }]);
      await expect(outsider.feeds.open(writer, usual)).rejects.toMatchObject(damaged);
      expect(await repair()).toEqual([]);
      expect((await outsider.snapshot()).outbox).toMatchObject([{ waiting: 2 }]);
      expect(await outsider.feeds.open(writer, usual)).toMatchObject({ sequence: 51 });
      expect(await outsider.feeds.read('feed', 51, 9)).toEqual(['{"n":1}', '{"n":2}']);
      await crawl.end();
    });

    it('whose record is deleted while it is written is refused to its writer, with and without further items', async () => {
      const { crawl, hand, outsider } = await withItems(1);
      await outsider.feeds.open(writer, usual);
      await hand.dropFeeds();
      const more = { sequence: 2, lengthBytes: 16, header: '' };
      await expect(outsider.feeds.checkpoint(writer, more, 1)).rejects.toMatchObject(damaged);
      const { frontier } = await crawl.node({ feeds: ['feed'] });
      await frontier.push([request('more')], 'links');
      await commit(frontier, await takeOne(frontier), undefined, { feedItems: ['{"n":3}'] });
      await expect(outsider.feeds.open(writer, usual)).rejects.toMatchObject(damaged);
      await outsider.repair(reading(...three), { force: true });
      await crawl.end();
    });

    it.each([1, 3])(
      'whose record was deleted when %i of 3 items were written is refused to its writer, and counted',
      async (written) => {
        const { crawl, hand, outsider, repair } = await withItems(written);
        await hand.dropFeeds();
        expect(await outsider.verify()).toEqual([
          `I4: ${3 - written} items wait for the feed feed, and its record is gone`,
        ]);
        await expect(outsider.feeds.open(writer, usual)).rejects.toMatchObject(damaged);
        expect(await repair()).toEqual([
          expect.stringMatching(/^the record of the feed feed: .* may be in it twice$/),
        ]);
        expect(await outsider.snapshot()).toMatchObject({ lost: 1 });
        expect(await outsider.feeds.open(writer, usual)).toBeNull();
        expect(await outsider.feeds.read('feed', 0, 9)).toEqual(['{"n":1}', '{"n":2}'].slice(written - 1));
        await crawl.end();
      },
    );
  });
}
