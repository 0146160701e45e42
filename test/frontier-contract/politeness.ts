/** One clock per domain for all nodes; a slow domain holds up no other. */
import { describe, expect, it } from 'vitest';
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

export function politeness(crawl: () => Crawl): void {
  describe('politeness', () => {
    const many = (domain: string, count: number, priority = 0) =>
      Array.from({ length: count }, (_, n) => request(`${domain}/${n}`, { domain, priority }));

    it('leases at most the concurrency of a domain over all nodes, and more as leases end', async () => {
      const one = await crawl().node({ tunables: { concurrencyPerDomain: 2 } });
      const two = await crawl().node({ tunables: { concurrencyPerDomain: 2 } });
      await one.frontier.push(many('a.example', 6), 'links');
      const held = [...(await one.frontier.lease(5, 0)).leases, ...(await two.frontier.lease(5, 0)).leases];
      expect(held).toHaveLength(2);
      expect((await two.frontier.lease(5, 0)).leases).toEqual([]);
      for (const outcome of [done, failed(), released, retry(held[0]!, 60_000)]) {
        const lease = held.shift()!;
        await commit(one.frontier, lease, outcome);
        held.push(await takeOne(one.frontier));
        expect((await two.frontier.lease(5, 0)).leases).toEqual([]);
      }
    });

    it('has a node wait as long as the delay of the only domain with requests, its own delay included', async () => {
      const { frontier } = await crawl().node();
      await frontier.push(many('a.example', 2), 'links');
      await frontier.throttle('a.example', { delayMs: 60_000, source: 'robots' });
      await takeOne(frontier);
      expect(await frontier.lease(1, 1)).toMatchObject({ leases: [], waitMs: 1_000 });
    });

    it('holds up no other domain by a full or a waiting one, whatever the priorities', async () => {
      const { frontier } = await crawl().node({ tunables: { concurrencyPerDomain: 1 } });
      await frontier.push(
        [...many('a.example', 3, 10), ...many('b.example', 1), ...many('c.example', 1)],
        'links',
      );
      const domains = (await frontier.lease(5, 0)).leases.map((lease) => lease.domain);
      expect(domains).toEqual(['a.example', 'b.example', 'c.example']);
    });

    it('leases what lies behind any number of domains that another concurrency has made full', async () => {
      const one = await crawl().node({ tunables: { concurrencyPerDomain: 2 } });
      const domains = Array.from({ length: 40 }, (_, n) => `full-${n}.example`);
      for (const page of ['first', 'second']) {
        await one.frontier.push(
          domains.map((domain) => request(`${domain}/${page}`, { domain, priority: 1 })),
          'links',
        );
      }
      for (let n = 0; n < 40; n += 1) await takeOne(one.frontier);
      await one.frontier.push(many('last.example', 1), 'links');
      const two = await crawl().node({ tunables: { concurrencyPerDomain: 1 } });
      const { leases } = await two.frontier.lease(1, 0);
      expect(leases.map(({ domain }) => domain)).toEqual(['last.example']);
    });

    it('keeps the delay between two leases of a domain, whichever nodes ask', async () => {
      const tunables = { delayMs: 150 };
      const nodes = [await crawl().node({ tunables }), await crawl().node({ tunables })];
      await nodes[0]!.frontier.push(many('a.example', 4), 'links');
      const taken: { readonly askedAt: number; readonly answeredAt: number }[] = [];
      await until(
        async () => {
          for (const { frontier } of nodes) {
            const askedAt = performance.now();
            const { leases, waitMs } = await frontier.lease(8, taken.length);
            if (leases.length > 0) taken.push({ askedAt, answeredAt: performance.now() });
            for (const lease of leases) expect(lease.delayMs).toBe(150);
            expect(leases.length).toBeLessThanOrEqual(1);
            expect(waitMs).toBeGreaterThanOrEqual(taken.length < 4 && leases.length === 0 ? 1 : 0);
            expect(waitMs).toBeLessThanOrEqual(taken.length < 4 ? 150 : 1000);
          }
          return taken.length;
        },
        (count) => count === 4,
      );
      // The store's clock decided at some instant between question and answer.
      const longest = taken.slice(1).map(({ answeredAt }, n) => answeredAt - taken[n]!.askedAt);
      for (const gap of longest) expect(gap).toBeGreaterThan(148);
    });

    it('never shortens a randomized delay', async () => {
      const { frontier } = await crawl().node({ tunables: { delayMs: 100, randomizeDelay: true } });
      await frontier.push(many('a.example', 3), 'links');
      const first = await frontier.lease(3, 0);
      expect(first.leases).toHaveLength(1);
      expect(first.waitMs).toBeGreaterThan(50);
      expect(first.waitMs).toBeLessThanOrEqual(150);
      expect(await take(frontier, 2)).toHaveLength(2);
    });

    it('keeps the delay of a domain even when the queue ran dry in between', async () => {
      const { frontier } = await crawl().node({ tunables: { delayMs: 300 } });
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier));
      await frontier.push([request('b')], 'links');
      const answer = await frontier.lease(1, 0);
      expect(answer.leases).toEqual([]);
      expect(answer.waitMs).toBeGreaterThan(0);
      expect(nameOf(await takeOne(frontier))).toBe('b');
    });

    it('applies the longest delay that any source asks for', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([...many('a.example', 4), ...many('b.example', 2)], 'links');
      await frontier.throttle('a.example', { delayMs: 200, source: 'robots' });
      await frontier.throttle('a.example', { delayMs: 120, source: 'setting' });
      const first = (await frontier.lease(6, 0)).leases;
      expect(first.map((lease) => lease.domain).sort()).toEqual(['a.example', 'b.example', 'b.example']);
      expect(first.find((lease) => lease.domain === 'a.example')?.delayMs).toBe(200);
      await frontier.throttle('a.example', { delayMs: 0, source: 'robots' });
      expect((await takeOne(frontier)).delayMs).toBe(120);
    });

    it('counts a delay that is learnt after a lease from that lease on', async () => {
      const { frontier } = await crawl().node();
      await frontier.push(many('a.example', 2), 'links');
      await takeOne(frontier);
      await frontier.throttle('a.example', { delayMs: 250, source: 'robots' });
      const answer = await frontier.lease(1, 1);
      expect(answer.leases).toEqual([]);
      expect(answer.waitMs).toBeLessThanOrEqual(250);
      expect((await takeOne(frontier)).delayMs).toBe(250);
    });

    it('obeys another concurrency from the next lease on, lowered or raised', async () => {
      const one = await crawl().node({ tunables: { concurrencyPerDomain: 4 } });
      await one.frontier.push(many('a.example', 9), 'links');
      const held = (await one.frontier.lease(3, 0)).leases;
      await crawl().node({ tunables: { concurrencyPerDomain: 2 } });
      expect((await one.frontier.lease(5, 3)).leases).toEqual([]);
      await commit(one.frontier, held[0]!);
      expect((await one.frontier.lease(5, 2)).leases).toEqual([]);
      await crawl().node({ tunables: { concurrencyPerDomain: 5 } });
      expect((await one.frontier.lease(9, 2)).leases).toHaveLength(3);
    });

    it('leaves a domain alone for as long as it is told to', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([...many('a.example', 1), ...many('b.example', 1)], 'links');
      await frontier.throttle('a.example', { forMs: 250, source: 'retry-after' });
      const answer = await frontier.lease(2, 0);
      expect(answer.leases.map((lease) => lease.domain)).toEqual(['b.example']);
      expect(answer.waitMs).toBeGreaterThan(0);
      expect(answer.waitMs).toBeLessThanOrEqual(250);
      expect((await takeOne(frontier)).domain).toBe('a.example');
    });

    it('honours a pause of a domain that has nothing pending yet', async () => {
      const { frontier } = await crawl().node();
      await frontier.throttle('a.example', { forMs: 250, source: 'retry-after' });
      await frontier.push([request('a')], 'links');
      expect((await frontier.lease(1, 0)).leases).toEqual([]);
      expect(nameOf(await takeOne(frontier))).toBe('a');
    });

    it('says when to ask again: at once only when it gave all that was asked and more is ready', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([...many('a.example', 3), request('later', { delayMs: 400 })], 'links');
      expect((await frontier.lease(2, 0)).waitMs).toBe(0);
      const rest = await frontier.lease(2, 2);
      expect(rest.leases).toHaveLength(1);
      expect(rest.waitMs).toBeGreaterThan(0);
      expect(rest.waitMs).toBeLessThanOrEqual(400);
      expect(nameOf(await takeOne(frontier))).toBe('later');
      expect((await frontier.lease(1, 4)).waitMs).toBe(1000);
    });

    it('parks a delayed request until it is due', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('later', { delayMs: 200, priority: 9 }), request('now')], 'links');
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, delayed: 1 });
      expect((await frontier.lease(2, 0)).leases.map(nameOf)).toEqual(['now']);
      expect(nameOf(await takeOne(frontier))).toBe('later');
      expect(await frontier.snapshot()).toMatchObject({ pending: 0, delayed: 0, leased: 2 });
    });

    it('forgets a domain that has nothing left to do', async () => {
      const { frontier } = await crawl().node();
      await frontier.push(many('a.example', 2), 'links');
      for (const lease of await take(frontier, 2)) await commit(frontier, lease);
      expect((await frontier.snapshot()).domains).toBe(0);
    });
  });
}
