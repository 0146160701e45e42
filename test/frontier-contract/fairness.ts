/** Fairness: a node that got nothing while a domain may be full gets a turn, although others ask more often. */
import { describe, expect, it } from 'vitest';
import type { Tunables } from '../../src/frontier/frontier.js';
import { type Crawl, commit, crawlTogether, request, take, until } from './world.js';

/** For how long a node counts as hungry, and a little less: an observation that took longer says nothing. */
const HUNGRY_MS = 250;

export function fairness(crawl: () => Crawl): void {
  describe('fairness between nodes', () => {
    const many = (domain: string, count: number) =>
      Array.from({ length: count }, (_, n) => request(`${domain}/${n}`, { domain }));

    it('shares a domain out when its concurrency is less than what one node would take', async () => {
      const tunables = { concurrencyPerDomain: 4 };
      const nodes = [await crawl().node({ tunables }), await crawl().node({ tunables })];
      await nodes[0]!.frontier.push(many('a.example', 60), 'links');
      const pages = await crawlTogether(nodes, 60);
      expect(Math.min(...pages)).toBeGreaterThan(10);
    });

    it('stands back for a node that got nothing only for a moment, whether it comes again or not', async () => {
      const tunables = { concurrencyPerDomain: 4 };
      const busy = await crawl().node({ tunables });
      const hungry = await crawl().node({ tunables });
      await busy.frontier.push(many('a.example', 8), 'links');
      const held = (await busy.frontier.lease(8, 0)).leases;
      expect((await hungry.frontier.lease(8, 0)).leases).toEqual([]);
      await commit(busy.frontier, held[0]!);
      const answer = await busy.frontier.lease(8, 3);
      expect(answer.leases).toEqual([]);
      expect(answer.waitMs).toBeGreaterThan(0);
      expect(answer.waitMs).toBeLessThan(300);
      const taken = await until(
        async () => (await busy.frontier.lease(8, 3)).leases,
        (leases) => leases.length > 0,
        2_000,
      );
      expect(taken).toHaveLength(1);
    });

    /**
     * One node holds `count` leases of a domain, and another asks in vain while a request of a second domain waits. When a
     * lease then ends and a request of the first domain comes: does the first node leave it to the other one?
     */
    async function standsBack(tunables: Partial<Tunables>, count: number, waiting = 1): Promise<boolean> {
      const busy = await crawl().node({ tunables });
      const hungry = await crawl().node({ tunables });
      await busy.frontier.throttle('a.example', { delayMs: 0, source: 'setting' });
      await busy.frontier.throttle('b.example', { forMs: 3_600_000, source: 'retry-after' });
      await busy.frontier.push([...many('a.example', count), ...many('b.example', waiting)], 'links');
      const held = await take(busy.frontier, count);
      for (let n = count; ; n += 1) {
        const startedAtMs = performance.now();
        expect((await hungry.frontier.lease(8, 0)).leases).toEqual([]);
        await commit(busy.frontier, held.shift()!);
        await busy.frontier.push([request(`a.example/${n}`, { domain: 'a.example' })], 'links');
        const { leases } = await busy.frontier.lease(1, held.length);
        if (leases.length === 0) return true;
        if (performance.now() - startedAtMs < HUNGRY_MS) return false;
        held.push(...leases);
      }
    }

    it('stands back when there were as many leases as the concurrency of a domain', async () => {
      expect(await standsBack({ concurrencyPerDomain: 2 }, 2)).toBe(true);
    });

    it('stands back when there were as many leases as the concurrency of any domain in DOWNLOAD_SLOTS', async () => {
      const slots = { 'c.example': { concurrency: 2 }, 'd.example': { concurrency: 9 }, 'e.example': {} };
      expect(await standsBack({ concurrencyPerDomain: 10, slots }, 2)).toBe(true);
    });

    it('takes what it can get when fewer leases can have filled no domain', async () => {
      expect(await standsBack({ concurrencyPerDomain: 3 }, 2)).toBe(false);
    });

    it('takes what it can get in a crawl with a delay, where any node may be the first to ask', async () => {
      expect(await standsBack({ concurrencyPerDomain: 2, delayMs: 3_600_000 }, 2)).toBe(false);
    });

    it('takes what it can get when nothing was pending', async () => {
      expect(await standsBack({ concurrencyPerDomain: 2 }, 2, 0)).toBe(false);
    });
  });
}
