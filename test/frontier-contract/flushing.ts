/** SCHEDULER_FLUSH_ON_START: a new run that begins from nothing, in the same step as it begins. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, failed, request, takeOne, until } from './world.js';

export function flushing(crawl: () => Crawl): void {
  const flush = { flushOnStart: true };

  /** A run that has ended, with something of everything. */
  const endedRun = async (reason = 'shutdown') => {
    const { frontier, joined } = await crawl().node();
    await frontier.push(
      [request('a'), request('b'), request('c'), request('d', { delayMs: 60_000 })],
      'start',
    );
    await commit(frontier, await takeOne(frontier), undefined, {
      items: ['{}'],
      stats: { item_scraped_count: 1 },
    });
    await commit(frontier, await takeOne(frontier), failed());
    await frontier.appendSeeds(['https://a.example/seed']);
    await frontier.leave(reason);
    return joined;
  };

  describe('a flush on start', () => {
    it('begins a new run from nothing; seeds, items and counters stay', async () => {
      const before = await endedRun();
      const { frontier, joined } = await crawl().node(flush);
      expect(joined).toMatchObject({
        startPushed: false,
        found: { pending: 0, delayed: 0, leased: 0, seen: 0, nodes: 0 },
      });
      expect(joined.run).not.toBe(before.run);
      expect(joined.notices).toEqual([expect.stringContaining('SCHEDULER_FLUSH_ON_START')]);
      const left = await frontier.snapshot();
      expect(left).toMatchObject({
        ...{ pending: 0, delayed: 0, failed: 0, seen: 0, accepted: 0, done: 0, removed: 0 },
        ...{ startUrls: 1, items: 1, counters: { item_scraped_count: 1 } },
      });
      expect(await frontier.push([request('a'), request('b')], 'start')).toEqual({
        accepted: 2,
        duplicates: 0,
      });
      await commit(frontier, await takeOne(frontier));
    });

    it('takes another shape, since nothing of the old one is left', async () => {
      await endedRun();
      const { frontier } = await crawl().node({ ...flush, shape: { queueClass: 'LifoQueue' } });
      await frontier.push([request('a'), request('b')], 'links');
      expect((await takeOne(frontier)).id).toBe(request('b').id);
    });

    it('has nothing to say where nothing was', async () => {
      expect((await crawl().node(flush)).joined.notices).toEqual([]);
    });

    it('is not for a node that joins others, and says so', async () => {
      const one = await crawl().node(flush);
      await one.frontier.push([request('a')], 'start');
      const two = await crawl().node(flush);
      expect(two.joined).toMatchObject({ startPushed: true, found: { pending: 1, seen: 1, nodes: 1 } });
      expect(two.joined.notices).toEqual([expect.stringMatching(/SCHEDULER_FLUSH_ON_START.*1 other node/)]);
    });

    it('is not for a run whose nodes all died, and says so', async () => {
      const quick = { ...flush, tunables: { nodeTimeoutMs: 300 } };
      const doomed = await crawl().node(quick);
      await doomed.frontier.push([request('a'), request('b')], 'start');
      await takeOne(doomed.frontier);
      await crawl().recoverUntil(1, []);
      const next = await crawl().node(quick);
      expect(next.joined).toMatchObject({ run: doomed.joined.run, startPushed: true, found: { pending: 2 } });
      expect(next.joined.notices).toEqual([expect.stringMatching(/SCHEDULER_FLUSH_ON_START.*interrupted/)]);
    });

    it('is not for a node that was declared dead and joins anew, even if the others have left meanwhile', async () => {
      const quick = { ...flush, tunables: { nodeTimeoutMs: 300 } };
      const slow = await crawl().node(quick);
      const other = await crawl().node(quick);
      await other.frontier.push([request('a')], 'start');
      await until(
        async () => {
          await other.frontier.heartbeat(other.joined.incarnation, 0);
          return (await other.frontier.snapshot()).nodes.length;
        },
        (live) => live === 1,
      );
      await other.frontier.leave('shutdown');
      expect(await crawl().join(slow.frontier, quick)).toMatchObject({ found: { pending: 1 }, notices: [] });
    });

    it('leaves no token of an earlier run in effect', async () => {
      const quick = { tunables: { nodeTimeoutMs: 300 } };
      const doomed = await crawl().node(quick);
      await doomed.frontier.push([request('a')], 'links');
      const lease = await takeOne(doomed.frontier);
      await doomed.frontier.closeRun('closespider_timeout');
      await crawl().recoverUntil(1, []);
      const { frontier } = await crawl().node({ ...quick, ...flush });
      await frontier.push([request('a')], 'links');
      await expect(commit(doomed.frontier, lease)).rejects.toThrow();
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, accepted: 1, done: 0 });
    });
  });
}
