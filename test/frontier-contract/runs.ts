/** Joining, leaving, budgets: what a run is. */
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import {
  type Crawl,
  commit,
  done,
  failed,
  nameOf,
  released,
  request,
  retry,
  take,
  takeOne,
  until,
} from './world.js';

export function runs(crawl: () => Crawl): void {
  describe('a run', () => {
    it('refuses a node of another shape, naming both values', async () => {
      await crawl().node({ shape: { queueClass: 'FifoQueue' } });
      const refused = crawl().node({ shape: { queueClass: 'LifoQueue' } });
      await expect(refused).rejects.toThrow(RefusedError);
      await expect(refused).rejects.toThrow(/FifoQueue/);
      await expect(refused).rejects.toThrow(/LifoQueue/);
    });

    it('keeps the shape when all nodes have left, and drops it with the job', async () => {
      const { frontier } = await crawl().node({ shape: { queueClass: 'FifoQueue' } });
      await frontier.leave('shutdown');
      await expect(crawl().node({ shape: { queueClass: 'LifoQueue' } })).rejects.toThrow(RefusedError);
      await frontier.clear(['queue', 'dupefilter', 'start_urls', 'items', 'stats', 'failed'], {
        force: false,
      });
      await crawl().node({ shape: { queueClass: 'LifoQueue' } });
    });

    it('tells a joining node what is there already', async () => {
      const one = await crawl().node();
      await one.frontier.push([request('a'), request('b'), request('c', { delayMs: 60_000 })], 'start');
      await takeOne(one.frontier);
      const two = await crawl().node();
      expect(two.joined.found).toEqual({
        ...{ pending: 1, delayed: 1, leased: 1, seen: 3, lost: 0, seenGone: 0, seenExpires: false, nodes: 1 },
      });
      expect(two.joined.startPushed).toBe(true);
      expect((await two.frontier.snapshot()).nodes).toHaveLength(2);
    });

    it('lets the latest tunables win for all nodes, with a notice', async () => {
      const one = await crawl().node({ tunables: { concurrencyPerDomain: 1 } });
      const two = await crawl().node({ tunables: { concurrencyPerDomain: 2 } });
      expect(one.joined.notices).toEqual([]);
      expect(two.joined.notices.length).toBeGreaterThan(0);
      await one.frontier.push([request('a'), request('b'), request('c')], 'links');
      expect((await one.frontier.lease(3, 0)).leases).toHaveLength(2);
    });

    it('ends with its last node, and the next one starts afresh', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push([request('a'), request('b')], 'links');
      await commit(one.frontier, await takeOne(one.frontier));
      const run = (await one.frontier.snapshot()).run;
      expect(run).toMatchObject({ pages: 1, closed: null });
      expect(await one.frontier.leave('shutdown')).toEqual({ last: false, cleared: false });
      expect(await two.frontier.leave('shutdown')).toEqual({ last: true, cleared: false });
      expect((await one.frontier.snapshot()).run).toMatchObject({ id: run?.id, closed: 'shutdown' });
      const three = await crawl().node();
      const next = await three.frontier.snapshot();
      expect(next.run).toMatchObject({ pages: 0, closed: null });
      expect(next.run?.id).not.toBe(run?.id);
      expect((await three.frontier.lease(0, 0)).crawl.acceptedInRun).toBe(0);
      expect(next.pending).toBe(1);
    });

    it('counts the items and the failed requests of all its nodes, from its start', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push([request('a'), request('b'), request('c'), request('d')], 'links');
      await commit(one.frontier, await takeOne(one.frontier), done, { stats: { item_scraped_count: 2 } });
      await commit(two.frontier, await takeOne(two.frontier), done, { stats: { item_scraped_count: 3 } });
      await commit(two.frontier, await takeOne(two.frontier), failed());
      expect((await one.frontier.snapshot()).run).toMatchObject({ items: 5, failed: 1 });
      await one.frontier.leave('shutdown');
      await two.frontier.leave('shutdown');
      expect((await one.frontier.snapshot()).run).toMatchObject({ items: 5, failed: 1, closed: 'shutdown' });

      const next = await crawl().node();
      expect((await next.frontier.snapshot()).run).toMatchObject({ items: 0, failed: 0 });
      await commit(next.frontier, await takeOne(next.frontier), failed());
      expect(await next.frontier.snapshot()).toMatchObject({ failed: 2, run: { items: 0, failed: 1 } });
    });

    it('says what its counters have grown by, also after the counters were reset', async () => {
      const one = await crawl().node();
      const counted = async () => (await one.frontier.snapshot()).run?.counters;
      await one.frontier.push([request('a'), request('b'), request('c'), request('d')], 'links');
      await commit(one.frontier, await takeOne(one.frontier), done, {
        stats: { 'page/one': 3, 'page/two': 1 },
      });
      expect(await counted()).toMatchObject({ 'page/one': 3, 'page/two': 1 });
      await one.frontier.leave('shutdown');

      const next = await crawl().node();
      await commit(next.frontier, await takeOne(next.frontier), done, {
        stats: { 'page/one': 2, 'page/new': 1 },
      });
      const grown = await counted();
      expect(grown).toMatchObject({ 'page/one': 2, 'page/new': 1 });
      expect(grown).not.toHaveProperty(['page/two']);
      await next.frontier.clear(['stats'], { force: true });
      await commit(next.frontier, await takeOne(next.frontier), done, { stats: { 'page/one': 1 } });
      expect(await counted()).toMatchObject({ 'page/one': 1 });
    });

    it('knows whether any of its pages was processed, and how many answered with an error', async () => {
      const one = await crawl().node();
      const run = async () => (await one.frontier.snapshot()).run;
      const names = ['a', 'b', 'c', 'd', 'e', 'f'];
      await one.frontier.push(
        names.map((name) => request(name)),
        'links',
      );
      await commit(one.frontier, await takeOne(one.frontier), failed());
      for (const noPage of ['other', 'error', 'error'] as const) {
        const outcome = { kind: 'done', reason: 'crawled', attempts: 1, noPage } as const;
        await commit(one.frontier, await takeOne(one.frontier), outcome);
      }
      expect(await run()).toMatchObject({ failed: 1, errorPages: 2, hasGoodPage: false });
      await commit(one.frontier, await takeOne(one.frontier), done);
      expect(await run()).toMatchObject({ failed: 1, errorPages: 2, hasGoodPage: true });
      await one.frontier.leave('shutdown');

      const next = await crawl().node();
      expect((await next.frontier.snapshot()).run).toMatchObject({ errorPages: 0, hasGoodPage: false });
    });

    it('is open from its first node to the end of its last one, and says why it closes', async () => {
      const outsider = await crawl().outsider();
      const runNow = async () => {
        const { run } = await outsider.snapshot();
        return run === null ? null : { closed: run.closed, hasEnded: run.endedAt !== null };
      };
      const open = { closed: null, hasEnded: false };
      await outsider.push([request('a'), request('b')], 'links');
      expect(await runNow()).toBeNull();
      const one = await crawl().node();
      expect(await runNow()).toEqual(open);
      await one.frontier.control('paused');
      expect(await runNow()).toEqual(open);
      await one.frontier.control('running');
      const two = await crawl().node();
      await one.frontier.leave('shutdown');
      expect(await runNow()).toEqual(open);
      await two.frontier.closeRun('closespider_timeout');
      expect(await runNow()).toEqual({ closed: 'closespider_timeout', hasEnded: false });
      await two.frontier.leave('shutdown');
      expect(await runNow()).toEqual({ closed: 'closespider_timeout', hasEnded: true });

      const quick = { tunables: { nodeTimeoutMs: 300 } };
      await crawl().node(quick);
      expect(await runNow()).toEqual(open);
      const live = async () => (await outsider.snapshot()).nodes.length;
      await until(live, (nodes) => nodes === 0);
      await outsider.recover();
      expect(await runNow()).toEqual(open);
      const next = await crawl().node(quick);
      expect(await runNow()).toEqual(open);
      await next.frontier.leave('finished');
      expect(await runNow()).toEqual({ closed: 'finished', hasEnded: true });
    });

    it('goes on when all its nodes died and another joins', async () => {
      const quick = { tunables: { nodeTimeoutMs: 300 }, budgets: { maxPages: 2 } };
      const doomed = await crawl().node(quick);
      await doomed.frontier.push([request('a'), request('b'), request('c')], 'links');
      await takeOne(doomed.frontier);
      const run = (await doomed.frontier.snapshot()).run;
      await crawl().recoverUntil(1, []);
      const next = await crawl().node(quick);
      expect((await next.frontier.snapshot()).run).toMatchObject({ id: run?.id, pages: 1 });
      await commit(next.frontier, await takeOne(next.frontier));
      expect((await next.frontier.lease(5, 0)).crawl.closing).toBe('closespider_pagecount');
    });

    it('gives back the page of a request that ended without a download, however it ended', async () => {
      const { frontier } = await crawl().node({ budgets: { maxPages: 1 } });
      const names = ['cached', 'dropped', 'again', 'loaded'];
      await frontier.push(
        names.map((name) => request(name)),
        'links',
      );
      const unstarted = true;
      await commit(frontier, await takeOne(frontier), { ...done, unstarted });
      await commit(frontier, await takeOne(frontier), { ...failed('refused'), unstarted });
      const again = await takeOne(frontier);
      await commit(frontier, again, { ...retry(again, 60_000), unstarted });
      expect((await frontier.snapshot()).run).toMatchObject({ pages: 0, closed: null });
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.snapshot()).toMatchObject({
        ...{ done: 2, failed: 1, delayed: 1 },
        run: { pages: 1, closed: 'closespider_pagecount' },
      });
    });

    it('never starts more pages than its budget, over all nodes, and keeps the rest for the next run', async () => {
      const choice = { budgets: { maxPages: 3 } };
      const one = await crawl().node(choice);
      const two = await crawl().node(choice);
      await one.frontier.push(
        Array.from({ length: 6 }, (_, n) => request(`page-${n}`)),
        'links',
      );
      const leases = (await one.frontier.lease(2, 0)).leases.concat((await two.frontier.lease(5, 0)).leases);
      expect(leases).toHaveLength(3);
      // The budget is used up, but a released page would give one back: nobody leaves yet.
      expect(await two.frontier.lease(5, 1)).toMatchObject({ leases: [], crawl: { closing: null } });

      await commit(one.frontier, leases[0]!, released);
      const again = await takeOne(one.frontier);
      expect((await one.frontier.lease(5, 2)).leases).toEqual([]);
      await commit(one.frontier, again);
      await commit(one.frontier, leases[1]!);
      expect((await one.frontier.snapshot()).run?.closed).toBeNull();
      await commit(two.frontier, leases[2]!);
      expect(await one.frontier.snapshot()).toMatchObject({
        pending: 3,
        done: 3,
        run: { pages: 3, closed: 'closespider_pagecount' },
      });
      expect((await two.frontier.lease(5, 0)).crawl.closing).toBe('closespider_pagecount');
      await one.frontier.leave('closespider_pagecount');
      await two.frontier.leave('closespider_pagecount');

      const late = await crawl().world.client();
      expect((await crawl().join(late, choice)).justClosed).toBe('closespider_pagecount');
      const other = await crawl().node({ budgets: { maxPages: 5 } });
      expect(other.joined.justClosed).toBeNull();
      expect(await take(other.frontier, 3)).toHaveLength(3);
    });

    it('goes on after a stop that all who were told of have not lived to hear', async () => {
      const quick = { tunables: { nodeTimeoutMs: 300 } };
      const doomed = await crawl().node(quick);
      await doomed.frontier.push([request('a'), request('b')], 'links');
      await takeOne(doomed.frontier);
      await doomed.frontier.control('stopping');
      await crawl().recoverUntil(1, []);
      const next = await crawl().node(quick);
      expect((await next.frontier.snapshot()).run?.id).toBe(doomed.joined.run);
      expect((await next.frontier.lease(0, 0)).crawl.control).toBe('running');
      await takeOne(next.frontier);
    });

    it('is begun by a new node only after those that a stop was meant for have ended or died', async () => {
      const quick = { tunables: { nodeTimeoutMs: 1_000 } };
      const one = await crawl().node(quick);
      const doomed = await crawl().node(quick);
      await one.frontier.push([request('a')], 'links');
      await one.frontier.control('stopping');
      await one.frontier.leave('stopped');
      const next = await crawl().world.client();
      const isRefused = (): Promise<boolean> =>
        crawl()
          .join(next, quick)
          .then(
            () => false,
            (error) => {
              expect(error).toMatchObject({ name: 'RefusedError', code: 'live_nodes' });
              return true;
            },
          );
      expect(await isRefused()).toBe(true);
      expect((await doomed.frontier.lease(1, 0)).crawl.control).toBe('stopping');
      expect(await until(isRefused, (refused) => !refused)).toBe(false);
      expect(nameOf(await takeOne(next))).toBe('a');
    });

    it('is stopped still for a node that was told and joins anew, though no other lives', async () => {
      const quick = { tunables: { nodeTimeoutMs: 300 } };
      const { frontier } = await crawl().node(quick);
      await frontier.control('stopping');
      const live = async () => (await frontier.snapshot()).nodes.length;
      await until(live, (nodes) => nodes === 0);
      await crawl().join(frontier, quick);
      expect((await frontier.lease(0, 0)).crawl.control).toBe('stopping');
    });

    it('leases nothing more once it is closed, for any node', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push([request('a'), request('b')], 'links');
      const held = await takeOne(one.frontier);
      await (await crawl().outsider()).closeRun('closespider_timeout');
      const answer = await two.frontier.lease(5, 0);
      expect(answer.leases).toEqual([]);
      expect(answer.crawl.closing).toBe('closespider_timeout');
      await commit(one.frontier, held);
      await one.frontier.leave('closespider_timeout');
      await two.frontier.leave('closespider_timeout');
      expect((await one.frontier.snapshot()).run?.closed).toBe('closespider_timeout');
      expect((await crawl().node()).joined.found.pending).toBe(1);
    });

    it('keeps the first reason it was closed for, and turns nobody away but after its budget', async () => {
      const choice = { budgets: { maxPages: 1 } };
      const one = await crawl().node(choice);
      await one.frontier.push([request('a'), request('b')], 'links');
      await commit(one.frontier, await takeOne(one.frontier));
      await one.frontier.leave('closespider_pagecount');
      const two = await crawl().node({ budgets: { maxPages: 2 } });
      await two.frontier.closeRun('closespider_timeout');
      await two.frontier.closeRun('closespider_errorcount');
      await two.frontier.leave('shutdown');
      expect((await two.frontier.snapshot()).run?.closed).toBe('closespider_timeout');
      expect((await crawl().node(choice)).joined.justClosed).toBeNull();
    });

    it('leases nothing while the crawl is paused or stopping, and goes on when it is resumed', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      for (const state of ['paused', 'stopping'] as const) {
        await frontier.control(state);
        const answer = await frontier.lease(1, 0);
        expect(answer).toMatchObject({
          leases: [],
          waitMs: 1000,
          crawl: { control: state, finished: false },
        });
      }
      await frontier.control('running');
      expect((await frontier.lease(1, 0)).leases).toHaveLength(1);
    });
  });
}
