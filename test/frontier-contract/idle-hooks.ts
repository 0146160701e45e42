/** The hooks for an idle crawl: who asks them, and when the crawl is complete. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, request, takeOne, until } from './world.js';

export function idleHooks(crawl: () => Crawl): void {
  describe('a crawl with hooks for an idle crawl', () => {
    const state = async (node: { frontier: { lease(max: number, holding: number): Promise<unknown> } }) => {
      const { crawl: found } = (await node.frontier.lease(0, 0)) as {
        crawl: { finished: boolean; idleDue: boolean };
      };
      return { finished: found.finished, idleDue: found.idleDue };
    };
    const busy = { finished: false, idleDue: false };
    const due = { finished: false, idleDue: true };
    const over = { finished: true, idleDue: false };

    it('is complete only when they were asked and gave nothing', async () => {
      const one = await crawl().node({ hasIdle: true });
      const two = await crawl().node({ hasIdle: true });
      await one.frontier.push([request('a')], 'links');
      expect(await one.frontier.claimIdle(null)).toBe(false);
      expect(await state(one)).toEqual(busy);
      await commit(one.frontier, await takeOne(one.frontier));
      expect(await state(two)).toEqual(due);
      expect(await one.frontier.claimIdle(null)).toBe(true);
      expect(await two.frontier.claimIdle(null)).toBe(false);
      expect(await state(two)).toEqual(busy);
      await one.frontier.endIdle();
      expect(await state(two)).toEqual(over);
      expect(await two.frontier.claimIdle(null)).toBe(false);
      expect(await two.frontier.claimIdle(60_000)).toBe(false);
    });

    it('goes on with what they add, and asks again after it', async () => {
      const { frontier } = await crawl().node({ hasIdle: true });
      expect(await frontier.claimIdle(null)).toBe(true);
      expect(await frontier.push([request('a')], 'seeds-judged')).toMatchObject({ accepted: 1 });
      await frontier.endIdle();
      expect(await state({ frontier })).toEqual(busy);
      await commit(frontier, await takeOne(frontier));
      expect(await state({ frontier })).toEqual(due);
      expect(await frontier.claimIdle(null)).toBe(true);
      await frontier.endIdle();
      expect(await state({ frontier })).toEqual(over);
      await frontier.push([request('b')], 'seeds');
      await commit(frontier, await takeOne(frontier));
      expect(await state({ frontier })).toEqual(due);
    });

    it('asks again when a page has begun while they were asked', async () => {
      const { frontier } = await crawl().node({ hasIdle: true });
      expect(await frontier.claimIdle(null)).toBe(true);
      await frontier.push([request('a')], 'seeds');
      await commit(frontier, await takeOne(frontier));
      await frontier.endIdle();
      expect(await state({ frontier })).toEqual(due);
    });

    it('asks again after a time where a node wants that', async () => {
      const { frontier } = await crawl().node({ hasIdle: true });
      expect(await frontier.claimIdle(100)).toBe(true);
      await frontier.endIdle();
      const again = await until(
        () => frontier.claimIdle(100),
        (may) => may,
      );
      expect(again).toBe(true);
      expect(await state({ frontier })).toEqual(over);
    });

    it('has them asked by another node when the one that asked has died, and in a new run', async () => {
      const quick = { hasIdle: true, tunables: { nodeTimeoutMs: 300 } };
      const one = await crawl().node(quick);
      expect(await one.frontier.claimIdle(null)).toBe(true);
      const two = await crawl().node(quick);
      const recovered = async () => {
        await two.frontier.heartbeat(two.joined.incarnation, 0);
        await two.frontier.recover();
        return two.frontier.claimIdle(null);
      };
      expect(await until(recovered, (may) => may)).toBe(true);
      await two.frontier.endIdle();
      expect(await state(two)).toEqual(over);
      await two.frontier.leave('finished');
      expect(await state(await crawl().node(quick))).toEqual(due);
    });
  });
}
