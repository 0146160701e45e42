/** A lease whose download begins late gets an instant of its own on the clock of its domain. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, released, request, takeOne } from './world.js';

export function deferring(crawl: () => Crawl): void {
  describe('a deferred lease', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => request(`a/${n}`));

    it('begins at once where nothing was leased since, and the delay counts from then', async () => {
      const { frontier } = await crawl().node({ tunables: { delayMs: 60_000 } });
      await frontier.push(many(2), 'links');
      const lease = await takeOne(frontier);
      const pending = request('a/1');
      const before = (await frontier.inspect(pending)).dueAtMs ?? 0;
      await frontier.lease(1, 1);
      expect(await frontier.defer(lease)).toBe(0);
      expect((await frontier.inspect(pending)).dueAtMs).toBeGreaterThanOrEqual(before);
      expect((await frontier.lease(1, 1)).leases).toEqual([]);
    });

    it('waits for its turn behind those that were leased or deferred since, on any node', async () => {
      const tunables = { delayMs: 200 };
      const [one, two] = [await crawl().node({ tunables }), await crawl().node({ tunables })];
      await one.frontier.push(many(4), 'links');
      const first = await takeOne(one.frontier);
      const second = await takeOne(two.frontier);
      await takeOne(one.frontier);
      const waits = [await one.frontier.defer(first), await two.frontier.defer(second)] as number[];
      expect(waits[0]).toBeGreaterThan(0);
      expect(waits[0]).toBeLessThanOrEqual(200);
      expect(waits[1]).toBeGreaterThan(waits[0]!);
      expect(waits[1]).toBeLessThanOrEqual(400);
      // What is pending comes after both.
      const { dueAtMs } = await one.frontier.inspect(request('a/3'));
      expect(dueAtMs).not.toBeNull();
      expect((await two.frontier.lease(1, 1)).leases).toEqual([]);
      expect((await takeOne(two.frontier)).delayMs).toBe(200);
    });

    it('obeys a pause of its domain', async () => {
      const { frontier } = await crawl().node({ tunables: { delayMs: 100 } });
      await frontier.push(many(1), 'links');
      const lease = await takeOne(frontier);
      await frontier.throttle('a.example', { forMs: 60_000, source: 'retry-after' });
      expect(await frontier.defer(lease)).toBeGreaterThan(50_000);
      await commit(frontier, lease, released);
    });

    it('need not wait where its domain has no delay', async () => {
      const { frontier } = await crawl().node();
      await frontier.push(many(2), 'links');
      const lease = await takeOne(frontier);
      expect(await frontier.defer(lease)).toBe(0);
      expect((await frontier.lease(1, 1)).leases).toHaveLength(1);
    });

    it('is refused when it is no longer the lease of this node', async () => {
      const [one, two] = [await crawl().node(), await crawl().node()];
      await one.frontier.push(many(1), 'links');
      const lease = await takeOne(one.frontier);
      expect(await two.frontier.defer(lease)).toBeNull();
      await commit(one.frontier, lease);
      expect(await one.frontier.defer(lease)).toBeNull();
    });
  });
}
