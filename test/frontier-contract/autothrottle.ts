/** AutoThrottle: Scrapy's formula, computed in the store from the latencies that all nodes settle with. */
import { describe, expect, it } from 'vitest';
import type { Frontier, Outcome, Tunables } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, failed, released, request, takeOne } from './world.js';

export function autothrottle(crawl: () => Crawl): void {
  describe('AutoThrottle', () => {
    const auto = { startDelayMs: 40, maxDelayMs: 90, targetConcurrency: 1 };
    const node = (tunables: Partial<Tunables> = {}) =>
      crawl().node({ tunables: { autothrottle: auto, ...tunables } });
    const pages = Array.from({ length: 20 }, (_, n) => request(`a/${n}`));
    const answered = (status: number): Outcome => ({ kind: 'done', reason: 'done', status, attempts: 1 });

    /** Take a request, and settle it with a latency. @returns the delay that its lease had. */
    async function page(
      frontier: Frontier,
      latencyMs: number | undefined,
      outcome: Outcome = done,
    ): Promise<number> {
      const lease = await takeOne(frontier);
      await commit(frontier, lease, outcome, latencyMs === undefined ? {} : { latencyMs });
      return lease.delayMs;
    }

    it('begins with the start delay, lowers it by half of the difference, and raises it at once', async () => {
      const { frontier } = await node();
      await frontier.push(pages, 'links');
      const delays = [];
      for (const latencyMs of [10, 10, 10, 30, 30, 500, 10]) delays.push(await page(frontier, latencyMs));
      // 40 → (40 + 10) / 2 → (25 + 10) / 2 = 17.5 → 13.75 → 30, as that is more than the mean → 30 → MAX_DELAY
      expect(delays).toEqual([40, 25, 18, 14, 30, 30, 90]);
      expect((await takeOne(frontier)).delayMs).toBe(50);
    });

    it('divides the latency by the concurrency it aims at', async () => {
      const { frontier } = await node({ autothrottle: { ...auto, targetConcurrency: 4 } });
      await frontier.push(pages, 'links');
      await page(frontier, 80);
      expect(await page(frontier, 240)).toBe(30);
      expect((await takeOne(frontier)).delayMs).toBe(60);
    });

    it('is not lowered by an answer other than 200, and raised by any', async () => {
      const { frontier } = await node();
      await frontier.push(pages, 'links');
      for (const status of [404, 301, 204]) expect(await page(frontier, 2, answered(status))).toBe(40);
      expect(await page(frontier, 50, answered(404))).toBe(40);
      expect(await page(frontier, 70, { ...failed('http_status'), status: 503 } as Outcome)).toBe(50);
      expect((await takeOne(frontier)).delayMs).toBe(70);
    });

    it('changes nothing without an answer, and by a lease that is released', async () => {
      const { frontier } = await node();
      await frontier.push(pages, 'links');
      expect(await page(frontier, undefined, failed())).toBe(40);
      expect(await page(frontier, 80, released)).toBe(40);
      expect(await page(frontier, undefined)).toBe(40);
    });

    it('is never below the delay of the settings, and has its own for each domain', async () => {
      const { frontier } = await node({ delayMs: 20, slots: { 'b.example': { delayMs: 35 } } });
      await frontier.push(
        [...pages, ...pages.map((_, n) => request(`b/${n}`, { domain: 'b.example' }))],
        'links',
      );
      const delays: Record<string, number> = {};
      for (let n = 0; n < 2 * pages.length; n += 1) {
        const lease = await takeOne(frontier);
        delays[lease.domain] = lease.delayMs;
        await commit(frontier, lease, done, { latencyMs: 1 });
      }
      expect(delays).toEqual({ 'a.example': 20, 'b.example': 35 });
    });

    it('holds for all nodes: each hears of the delay that the others have found', async () => {
      const [one, two] = [await node(), await node()];
      await one.frontier.push(pages, 'links');
      expect(await page(one.frontier, 10)).toBe(40);
      expect(await page(two.frontier, 10)).toBe(25);
      expect(await page(one.frontier, 10)).toBe(18);
    });

    it('counts a longer delay from the last lease on', async () => {
      const { frontier } = await node({ autothrottle: { ...auto, startDelayMs: 5, maxDelayMs: 60_000 } });
      await frontier.push(pages, 'links');
      await page(frontier, 50_000);
      const { dueAtMs } = await frontier.inspect(pages[1]!);
      expect(dueAtMs! - Date.now()).toBeGreaterThan(40_000);
      expect((await frontier.lease(1, 0)).leases).toEqual([]);
    });

    it('remembers the delay of a domain whose queue ran dry', async () => {
      const { frontier } = await node();
      await frontier.push(pages.slice(0, 1), 'links');
      await page(frontier, 10);
      await frontier.push(pages.slice(1), 'links');
      expect((await takeOne(frontier)).delayMs).toBe(25);
    });

    it('ends when the latest node has it off', async () => {
      const one = await node();
      await one.frontier.push(pages, 'links');
      await page(one.frontier, 10);
      const { joined } = await node({ autothrottle: null });
      expect(joined.notices.join()).toContain(
        'AUTOTHROTTLE was {"maxDelay":"0.09 s","startDelay":"0.04 s","targetConcurrency":1}',
      );
      expect(await page(one.frontier, 10)).toBe(0);
    });
  });
}
