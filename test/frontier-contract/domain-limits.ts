/** DOWNLOAD_SLOTS: single domains have a delay, a concurrency and a randomization of their own, for all nodes. */
import { describe, expect, it } from 'vitest';
import type { Tunables } from '../../src/frontier/frontier.js';
import { type Crawl, commit, crawlTogether, request, takeOne } from './world.js';

export function domainLimits(crawl: () => Crawl): void {
  describe('a domain with limits of its own', () => {
    const many = (domain: string, count: number) =>
      Array.from({ length: count }, (_, n) => request(`${domain}/${n}`, { domain }));
    const both = (count: number) => [...many('a.example', count), ...many('b.example', count)];
    const node = (tunables: Partial<Tunables>) => crawl().node({ tunables });

    it('has its own delay, and others that of the crawl', async () => {
      const slots = { 'a.example': { delayMs: 60_000 } };
      const nodes = [await node({ slots }), await node({ slots })];
      await nodes[0]!.frontier.push(both(3), 'links');
      const leases = [];
      for (const { frontier } of nodes) leases.push(...(await frontier.lease(8, 0)).leases);
      expect(leases.map(({ domain, delayMs }) => [domain, delayMs]).sort()).toEqual([
        ['a.example', 60_000],
        ...[0, 1, 2].map(() => ['b.example', 0]),
      ]);
    });

    it('may have no delay where the crawl has one', async () => {
      const { frontier } = await node({ delayMs: 60_000, slots: { 'b.example': { delayMs: 0 } } });
      await frontier.push(both(2), 'links');
      const { leases } = await frontier.lease(8, 0);
      expect(leases.map(({ domain }) => domain).sort()).toEqual(['a.example', 'b.example', 'b.example']);
    });

    it('has its own concurrency, lower or higher than that of the crawl', async () => {
      const slots = { 'a.example': { concurrency: 1 }, 'b.example': { concurrency: 3 } };
      const { frontier } = await node({ concurrencyPerDomain: 2, slots });
      await frontier.push([...both(4), ...many('c.example', 4)], 'links');
      const domains = (await frontier.lease(12, 0)).leases.map(({ domain }) => domain);
      const counts = ['a', 'b', 'c'].map(
        (name) => domains.filter((domain) => domain === `${name}.example`).length,
      );
      expect(counts).toEqual([1, 3, 2]);
    });

    it('is shared out between nodes when its concurrency is less than what one node would take', async () => {
      const tunables = { slots: { 'a.example': { concurrency: 4 } } };
      const nodes = [await node(tunables), await node(tunables)];
      await nodes[0]!.frontier.push(many('a.example', 60), 'links');
      const pages = await crawlTogether(nodes, 60);
      expect(Math.min(...pages)).toBeGreaterThan(10);
    });

    it('may have an exact delay where those of the crawl are randomized', async () => {
      const slots = { 'a.example': { delayMs: 40, randomizeDelay: false } };
      const { frontier } = await node({ delayMs: 40, randomizeDelay: true, slots });
      await frontier.push(many('a.example', 100), 'links');
      for (let seen = 0; seen < 5; ) {
        await takeOne(frontier);
        const { leases, waitMs } = await frontier.lease(1, 1);
        // The delay has passed between the two calls: this says nothing.
        if (leases.length > 0) continue;
        expect(waitMs).toBeLessThanOrEqual(40);
        seen += 1;
      }
    });

    it('obeys the limits of the latest node, which every node hears of', async () => {
      const one = await node({ slots: { 'a.example': { concurrency: 3 } } });
      await one.frontier.push(many('a.example', 6), 'links');
      const held = (await one.frontier.lease(2, 0)).leases;
      const { joined } = await node({
        slots: { 'a.example': { concurrency: 1 }, 'b.example': { delayMs: 1_500 } },
      });
      expect(joined.notices.join()).toContain(
        'DOWNLOAD_SLOTS was {"a.example":{"concurrency":3}} and is {"a.example":{"concurrency":1},"b.example":{"delay":"1.5 s"}} now',
      );
      expect((await one.frontier.lease(5, 2)).leases).toEqual([]);
      for (const lease of held) await commit(one.frontier, lease);
      expect((await one.frontier.lease(5, 0)).leases).toHaveLength(1);
      expect((await node({ slots: null })).joined.notices.join()).toContain('and is off now');
      expect((await one.frontier.lease(9, 1)).leases).toHaveLength(3);
    });

    it('is known by its name alone, not by a member that every object has', async () => {
      const { frontier } = await node({ slots: { 'a.example': { delayMs: 60_000 } } });
      await frontier.push([...many('constructor', 2), ...many('__proto__', 2)], 'links');
      expect((await frontier.lease(8, 0)).leases.map(({ delayMs }) => delayMs)).toEqual([0, 0, 0, 0]);
    });
  });
}
