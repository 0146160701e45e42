/** When a crawl is truly complete, and what is left of it then. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, type Node, request, retry, takeOne, until } from './world.js';

export function completion(crawl: () => Crawl): void {
  describe('completion', () => {
    it('needs nothing pending, delayed or leased', async () => {
      const { frontier } = await crawl().node();
      const finished = async () => (await frontier.lease(0, 0)).crawl.finished;
      expect(await finished()).toBe(true);
      await frontier.push([request('a')], 'links');
      expect(await finished()).toBe(false);
      const lease = await takeOne(frontier);
      expect(await finished()).toBe(false);
      await commit(frontier, lease, retry(lease, 100));
      expect(await finished()).toBe(false);
      await commit(frontier, await takeOne(frontier));
      expect(await finished()).toBe(true);
      expect((await frontier.lease(0, 0)).crawl.acceptedInRun).toBe(1);
    });

    it('needs the start requests pushed, no seed waiting and a crawl that is not paused', async () => {
      const { frontier } = await crawl().node({ hasStart: true });
      const state = async () => (await frontier.lease(0, 0)).crawl;
      expect((await state()).finished).toBe(false);
      await frontier.push([], 'start');
      expect((await state()).finished).toBe(true);
      await frontier.appendSeeds(['https://a.example/']);
      expect(await state()).toMatchObject({ finished: false, seedsWaiting: 1 });
      await frontier.intake([{ seed: (await frontier.peekSeeds(1))[0]!, bad: 'not wanted' }]);
      expect(await state()).toMatchObject({ finished: true, seedsWaiting: 0 });
      await frontier.control('paused');
      expect((await state()).finished).toBe(false);
    });

    it('counts for how long nothing was to be done', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      const idleMs = async () => (await frontier.lease(0, 1)).crawl.idleMs;
      expect(await idleMs()).toBe(0);
      await commit(frontier, lease);
      expect(await until(idleMs, (ms) => ms > 50)).toBeGreaterThan(50);
      await frontier.push([request('b')], 'links');
      expect(await idleMs()).toBe(0);
    });

    it('clears the crawl with its last node when the shape does not persist; items and counters stay', async () => {
      const one = await crawl().node({ shape: { persist: false } });
      const two = await crawl().node({ shape: { persist: false } });
      await one.frontier.push([request('a')], 'start');
      await commit(one.frontier, await takeOne(one.frontier), undefined, {
        items: ['{}'],
        stats: { item_scraped_count: 1 },
      });
      expect(await one.frontier.leave('finished')).toEqual({ last: false, cleared: false });
      expect((await two.frontier.snapshot()).seen).toBe(1);
      expect(await two.frontier.leave('finished')).toEqual({ last: true, cleared: true });
      const left = await (await crawl().outsider()).snapshot();
      expect(left).toMatchObject({ seen: 0, pending: 0, done: 0, accepted: 0, items: 1, nodes: [] });
      expect(left.counters.item_scraped_count).toBe(1);
      const next = await crawl().node({ shape: { persist: false } });
      expect(next.joined.startPushed).toBe(false);
      expect(await next.frontier.push([request('a')], 'start')).toEqual({ accepted: 1, duplicates: 0 });
    });

    describe('to who would leave it to others that may have been killed', () => {
      /** A node whose process no engine can see; silent unless it beats. */
      const unseen = { pid: 99_999_999, shape: { persist: false } };
      const all = 60_000;
      it('says to stay until they count as dead, and is cleared then', async () => {
        const soonDead = { ...unseen, tunables: { nodeTimeoutMs: 2_000 } };
        const { frontier } = await crawl().node(soonDead);
        await frontier.push([request('a')], 'links');
        await commit(frontier, await takeOne(frontier));
        const { joined } = await crawl().node(soonDead);
        const stays = await frontier.leave('finished', 0);
        expect(stays).toEqual({
          ...{ last: false, cleared: false },
          awaits: { incarnations: [joined.incarnation], forMs: expect.any(Number) },
        });
        expect(stays.awaits?.forMs).toBeGreaterThan(0);
        expect(stays.awaits?.forMs).toBeLessThanOrEqual(2_000);
        expect(await frontier.snapshot()).toMatchObject({ seen: 1, run: { closed: null } });
        const left = await until(
          () => frontier.leave('finished', 0),
          ({ awaits }) => awaits === undefined,
        );
        expect(left).toEqual({ last: true, cleared: true });
        expect(await frontier.snapshot()).toMatchObject({ seen: 0, nodes: [], silent: [] });
      });

      it('lets the first go that hears of another, and the other is the last', async () => {
        const [one, two] = [await crawl().node(unseen), await crawl().node(unseen)];
        expect(await one.frontier.leave('finished', 0)).toHaveProperty('awaits');
        expect(await two.frontier.leave('finished', all)).toEqual({ last: false, cleared: false });
        expect(await one.frontier.leave('finished', 0)).toEqual({ last: true, cleared: true });
      });

      const signs = {
        'a heartbeat': ({ frontier, joined }: Node) => frontier.heartbeat(joined.incarnation, 0),
        'asking for work': ({ frontier }: Node) => frontier.lease(1, 0),
      };
      it.each(Object.entries(signs))('takes %s for a sign of life', async (_, sign) => {
        const [one, two] = [await crawl().node(unseen), await crawl().node(unseen)];
        const silent = await crawl().node(unseen);
        const { awaits } = await one.frontier.leave('finished', 0);
        expect(awaits?.incarnations).toHaveLength(2);
        const ageOfLatest = async () =>
          (await one.frontier.snapshot()).nodes.find(({ id }) => id === 'node-3')?.heartbeatAgeMs ?? 0;
        await until(ageOfLatest, (ageMs) => ageMs >= 1_000);
        await sign(two);
        expect(await one.frontier.leave('finished', 1_000)).toEqual({ last: false, cleared: false });
        const last = await two.frontier.leave('finished', 0);
        expect(last.awaits?.incarnations).toEqual([silent.joined.incarnation]);
      });

      it('keeps nobody while it is unfinished, nor where it persists', async () => {
        const [one, two] = [await crawl().node(unseen), await crawl().node(unseen)];
        expect(await one.frontier.leave('finished', 0)).toHaveProperty('awaits');
        await two.frontier.push([request('a')], 'links');
        await commit(one.frontier, await takeOne(one.frontier));
        expect(await one.frontier.leave('finished', 0)).toHaveProperty('awaits');
        await two.frontier.push([request('b')], 'links');
        expect(await one.frontier.leave('finished', 0)).toEqual({ last: false, cleared: false });
        await two.frontier.clear(['queue', 'dupefilter'], { force: true });
        const kept = { ...unseen, shape: { persist: true } };
        const three = await crawl().node(kept);
        await crawl().node(kept);
        expect(await three.frontier.leave('finished', 0)).toEqual({ last: false, cleared: false });
      });

      it('keeps nobody who does not ask for it', async () => {
        const [one] = [await crawl().node(unseen), await crawl().node(unseen)];
        expect(await one.frontier.leave('shutdown')).toEqual({ last: false, cleared: false });
      });
    });

    it.each(['shutdown', 'stopped', 'closespider_pagecount', 'error'])(
      'clears nothing that its last node leaves for another reason, though all is done: %s',
      async (reason) => {
        const one = await crawl().node({ shape: { persist: false } });
        const { frontier } = await crawl().node({ shape: { persist: false } });
        await frontier.push([request('a')], 'start');
        await commit(frontier, await takeOne(frontier));
        await one.frontier.leave(reason);
        expect(await frontier.leave(reason)).toEqual({ last: true, cleared: false });
        expect(await frontier.snapshot()).toMatchObject({ seen: 1, done: 1, run: { closed: reason } });
        const next = await crawl().node({ shape: { persist: false } });
        expect(await next.frontier.leave('finished')).toEqual({ last: true, cleared: true });
      },
    );

    it('clears nothing that is unfinished', async () => {
      const { frontier } = await crawl().node({ shape: { persist: false } });
      await frontier.push([request('a'), request('b')], 'links');
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.leave('shutdown')).toEqual({ last: true, cleared: false });
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, seen: 2 });
    });
  });
}
