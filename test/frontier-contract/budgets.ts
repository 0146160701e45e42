/** What ends a run by count or time, over all its nodes: pages stand in `runs.ts`; items, errors and the clock here. */
import { describe, expect, it } from 'vitest';
import type { Frontier, FrontierRequest } from '../../src/frontier/frontier.js';
import type { JoinChoice } from '../helpers/joining.js';
import { type Crawl, commit, done, effects, failed, request, retry, take, takeOne, until } from './world.js';

const pages = (count: number): FrontierRequest[] =>
  Array.from({ length: count }, (_, n) => request(`page-${n}`));

/** What a page that gave `count` items is settled with. */
const items = (count: number) => ({
  items: Array.from({ length: count }, (_, n) => `{"n":${n}}`),
  stats: { item_scraped_count: count, response_received_count: 1 },
});

const closingOf = async (frontier: Frontier) => (await frontier.lease(0, 1)).crawl.closing;

export function budgets(crawl: () => Crawl): void {
  /** Two nodes of the same budgets, and so many leases, half for each. */
  const twoNodes = async (choice: JoinChoice, count: number, leased = count) => {
    const one = (await crawl().node(choice)).frontier;
    const two = (await crawl().node(choice)).frontier;
    await one.push(pages(count), 'links');
    const first = await take(one, Math.ceil(leased / 2));
    return { one, two, leases: [first, await take(two, leased - first.length)] as const };
  };

  describe('a page budget that is leased out', () => {
    it('lets nodes rest, although the delay of a domain has passed', async () => {
      const { frontier } = await crawl().node({ budgets: { maxPages: 1 }, tunables: { delayMs: 20 } });
      await frontier.push(pages(2), 'links');
      await takeOne(frontier);
      const { leases, waitMs } = await until(
        () => frontier.lease(5, 1),
        (answer) => answer.waitMs === 1_000,
      );
      expect({ leases, waitMs }).toEqual({ leases: [], waitMs: 1_000 });
    });
  });

  describe('an item budget', () => {
    it('is exact over all nodes where each page gives one item; pages that come later are given back', async () => {
      const { one, two, leases } = await twoNodes({ budgets: { maxItems: 3 } }, 8, 6);
      await commit(one, leases[0][0]!, done, items(1));
      await commit(two, leases[1][0]!, done, items(1));
      expect(await closingOf(one)).toBeNull();
      await commit(one, leases[0][1]!, done, items(1));
      expect(await closingOf(two)).toBe('closespider_itemcount');

      const late = effects({ ...items(1), requests: [request('found')], feedItems: ['{}'] });
      expect(await two.settle(leases[1][1]!, done, late)).toEqual({ committed: false, closed: true });
      expect(await one.settle(leases[0][2]!, failed(), late)).toEqual({ committed: false, closed: true });
      await commit(two, leases[1][2]!, done, { requests: [request('linked')] });
      expect(await one.snapshot()).toMatchObject({
        ...{ items: 3, done: 4, failed: 0, leased: 0, pending: 5, accepted: 9 },
        counters: { item_scraped_count: 3, response_received_count: 3 },
        run: { pages: 6, closed: 'closespider_itemcount' },
      });
    });

    it('lets the page that reaches it commit whole', async () => {
      const { one, leases } = await twoNodes({ budgets: { maxItems: 3 } }, 2);
      await commit(one, leases[0][0]!, done, items(2));
      const [more] = leases[1];
      expect(await closingOf(one)).toBeNull();
      const { frontier } = await crawl().node();
      expect(await frontier.settle(more!, done, effects(items(4)))).toEqual({ committed: false });
      expect(await one.snapshot()).toMatchObject({ items: 2, leased: 1 });
    });

    it('closes the run before a reason of the page that reaches it, and after one of a page before', async () => {
      for (const [reasons, closed] of [
        [['spider', undefined], 'spider'],
        [[undefined, 'spider'], 'closespider_itemcount'],
      ] as const) {
        const { frontier } = await crawl().node({ budgets: { maxItems: 2 } });
        await frontier.push(pages(2), 'links');
        const leases = await take(frontier, 2);
        const settles = leases.map((lease, n) => {
          const closing = reasons[n];
          return frontier.settle(lease, done, effects({ ...items(1), ...(closing && { closing }) }));
        });
        await Promise.all(settles);
        expect(await closingOf(frontier)).toBe(closed);
        await frontier.leave(closed);
        await frontier.clear(['queue', 'dupefilter', 'items', 'stats'], { force: true });
      }
    });

    it('closes the run before a reason of its last page, also when it is a budget of pages', async () => {
      const { frontier } = await crawl().node({ budgets: { maxPages: 1 } });
      await frontier.push(pages(2), 'links');
      await commit(frontier, await takeOne(frontier), done, { closing: 'spider' });
      expect(await closingOf(frontier)).toBe('closespider_pagecount');
    });

    it('answers a settle that is repeated as the first time', async () => {
      const { one, two, leases } = await twoNodes({ budgets: { maxItems: 1 } }, 2);
      await commit(one, leases[0][0]!, done, items(5));
      const given = () => two.settle(leases[1][0]!, done, effects(items(1)));
      expect(await given()).toEqual({ committed: false, closed: true });
      expect((await given()).committed).toBe(false);
      expect(await one.snapshot()).toMatchObject({ items: 5, pending: 1, leased: 0 });
    });

    it('begins anew with the next run, which takes what was given back', async () => {
      const { one, two, leases } = await twoNodes({ budgets: { maxItems: 1 } }, 2);
      await commit(one, leases[0][0]!, done, items(1));
      await two.settle(leases[1][0]!, done, effects(items(1)));
      await one.leave('closespider_itemcount');
      await two.leave('closespider_itemcount');
      const turnedAway = await crawl().join(await crawl().world.client(), { budgets: { maxItems: 1 } });
      expect(turnedAway.justClosed).toBe('closespider_itemcount');
      const next = (await crawl().node({ budgets: { maxItems: 2 } })).frontier;
      expect(await closingOf(next)).toBeNull();
      const lease = await takeOne(next);
      await commit(next, lease, done, items(2));
      expect(await next.snapshot()).toMatchObject({ items: 3, run: { closed: 'closespider_itemcount' } });
    });
  });

  describe('an error budget', () => {
    const thrown = { stats: { 'spider_exceptions/TypeError': 1, 'spider_exceptions/count': 1 } };

    it('counts exceptions of spider code over all nodes, and nothing else', async () => {
      const { one, two, leases } = await twoNodes({ budgets: { maxErrors: 2 } }, 8, 6);
      await commit(one, leases[0][0]!, failed('timeout'), { stats: { 'downloader/exception_count': 1 } });
      await commit(one, leases[0][1]!, failed('callback_error'), thrown);
      await commit(two, leases[1][0]!, retry(leases[1][0]!, 60_000));
      expect(await closingOf(two)).toBeNull();
      await commit(two, leases[1][1]!, failed('callback_error'), thrown);
      expect(await two.lease(5, 1)).toMatchObject({
        leases: [],
        crawl: { closing: 'closespider_errorcount' },
      });
      // What is in progress is finished, whatever comes of it.
      await commit(one, leases[0][2]!, done, { items: ['{}'], stats: { item_scraped_count: 1 } });
      await commit(two, leases[1][2]!, failed('callback_error'), thrown);
      expect(await one.snapshot()).toMatchObject({ failed: 4, done: 1, items: 1, pending: 2, delayed: 1 });
    });
  });

  describe('a time budget', () => {
    const quick = { budgets: { maxRunMs: 300 } };

    it('closes the run for all nodes once its time since the start is up', async () => {
      const { one, two, leases } = await twoNodes(quick, 4, 2);
      expect(
        await until(
          () => closingOf(one),
          (closing) => closing !== null,
        ),
      ).toBe('closespider_timeout');
      expect(await two.lease(5, 1)).toMatchObject({ leases: [], crawl: { closing: 'closespider_timeout' } });
      await commit(one, leases[0][0]!, done, items(1));
      await commit(two, leases[1][0]!);
      await one.leave('closespider_timeout');
      await two.leave('closespider_timeout');
      expect((await one.snapshot()).run?.closed).toBe('closespider_timeout');
      const again = await crawl().join(await crawl().world.client(), quick);
      expect(again).toMatchObject({ justClosed: 'closespider_timeout', run: '' });
    });

    it('begins anew with the next run', async () => {
      const one = (await crawl().node(quick)).frontier;
      await until(
        () => closingOf(one),
        (closing) => closing !== null,
      );
      await one.leave('closespider_timeout');
      const { frontier, joined } = await crawl().node({ budgets: { maxRunMs: 60_000 } });
      expect(joined.justClosed).toBeNull();
      expect(await closingOf(frontier)).toBeNull();
    });
  });

  describe('budgets together', () => {
    it('close a run for the one that is used up first', async () => {
      const choice = { budgets: { maxPages: 4, maxItems: 2, maxErrors: 1, maxRunMs: 60_000 } };
      const { one, leases } = await twoNodes(choice, 6, 4);
      await commit(one, leases[0][0]!, done, items(2));
      await commit(one, leases[0][1]!, failed(), { stats: { 'spider_exceptions/count': 1 } });
      expect(await closingOf(one)).toBe('closespider_itemcount');
    });

    const all = { maxPages: 3, maxItems: 3, maxErrors: 3, maxRunMs: 60_000 };
    const smaller = { maxPages: 1, maxItems: 1, maxErrors: 1, maxRunMs: 1 };

    it.each([
      ['other budgets', smaller, ['3; 1', '3; 1', '3; 1', '60; 0.001']],
      ['none', {}, ['3; off', '3; off', '3; off', '60; off']],
    ])('are those of the node that began the run: one that joins with %s is told', async (_, given, said) => {
      const one = await crawl().node({ budgets: all });
      const two = await crawl().node({ budgets: given });
      const names = ['PAGECOUNT', 'ITEMCOUNT', 'ERRORCOUNT', 'TIMEOUT'];
      expect(one.joined.notices).toEqual([]);
      expect(two.joined.notices).toEqual(
        names.map((name, n) => {
          const [there, here] = said[n]!.split('; ');
          return expect.stringMatching(
            new RegExp(`^CLOSESPIDER_${name}.* is ${there} in this run.*; ${here} has no effect`),
          );
        }),
      );
      expect((await crawl().node({ budgets: all })).joined.notices).toEqual([]);

      await one.frontier.push(pages(4), 'links');
      const leases = await take(two.frontier, 3);
      expect(await two.frontier.lease(1, 1)).toMatchObject({ leases: [], crawl: { closing: null } });
      const thrown = { stats: { 'spider_exceptions/count': 1 } };
      await commit(two.frontier, leases[0]!, done, items(2));
      await commit(two.frontier, leases[1]!, failed(), thrown);
      expect(await closingOf(one.frontier)).toBeNull();
      await commit(two.frontier, leases[2]!);
      expect(await closingOf(one.frontier)).toBe('closespider_pagecount');
    });

    it('do not come with a node that joins a run without them', async () => {
      const { one, leases } = await twoNodes({}, 4, 2);
      const late = await crawl().node({ budgets: smaller });
      expect(late.joined.notices).toHaveLength(4);
      expect(late.joined.notices[0]).toMatch(/CLOSESPIDER_PAGECOUNT.* is off in this run.*; 1 has no effect/);
      await commit(one, leases[0][0]!, done, items(2));
      await commit(late.frontier, await takeOne(late.frontier), done, items(2));
      expect(await late.frontier.lease(5, 0)).toMatchObject({ crawl: { closing: null } });
    });

    it('stay those of a run whose nodes all died', async () => {
      const tunables = { nodeTimeoutMs: 300 };
      const doomed = await crawl().node({ budgets: { maxPages: 2 }, tunables });
      await doomed.frontier.push(pages(4), 'links');
      await takeOne(doomed.frontier);
      await crawl().recoverUntil(1, []);
      const { frontier, joined } = await crawl().node({ budgets: { maxPages: 4 }, tunables });
      expect(joined.notices).toEqual([expect.stringContaining('is 2 in this run')]);
      await commit(frontier, await takeOne(frontier));
      expect(await closingOf(frontier)).toBe('closespider_pagecount');
    });

    it('tell the run that a node takes part in, the same for all its nodes', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      expect(one.joined.run).not.toBe('');
      expect(two.joined.run).toBe(one.joined.run);
      expect((await one.frontier.snapshot()).run?.id).toBe(one.joined.run);
      await one.frontier.leave('shutdown');
      await two.frontier.leave('shutdown');
      expect((await crawl().node()).joined.run).not.toBe(one.joined.run);
    });
  });
}
