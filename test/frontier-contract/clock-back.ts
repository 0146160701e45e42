/** The clock of the store reads less than the crawl's last instant: between two runs, at a join, and while all nodes wait. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, type Node, nameOf, request, retry, take, takeOne, until } from './world.js';

const HOUR_MS = 3_600_000;
const slow = { tunables: { delayMs: 50, randomizeDelay: false } };

/** Commit every request as soon as it is due. @returns the names, in order. */
async function crawlAll(nodes: readonly Node[], count: number): Promise<string[]> {
  const names: string[] = [];
  await until(
    async () => {
      for (const { frontier } of nodes) {
        const { leases } = await frontier.lease(4, 0);
        for (const lease of leases) await commit(frontier, lease);
        names.push(...leases.map(nameOf));
        expect(await frontier.recover()).toBe(0);
      }
      return names.length;
    },
    (found) => found === count,
  );
  return names;
}

export function clockBack(crawl: () => Crawl): void {
  describe('a clock of the store that is set back by an hour', () => {
    const pages = ['a', 'b', 'c', 'd'].map((name) => request(name, { domain: 'slow.example' }));

    /** Two pages of a domain with a delay wait, and two for another try, as the clock was an hour ahead. */
    async function half({ frontier }: Node): Promise<void> {
      await frontier.push(pages, 'links');
      for (const _ of [1, 2]) {
        const lease = await takeOne(frontier);
        await commit(frontier, lease, retry(lease, 100));
      }
    }

    it('between two runs holds up neither a delay nor a retry', async ({ skip }) => {
      const clock = crawl().clockOr(skip);
      clock.setForward(HOUR_MS);
      const first = await crawl().node(slow);
      await half(first);
      await first.frontier.leave('shutdown');
      clock.reset();
      const next = await crawl().node(slow);
      expect(next.joined.found).toMatchObject({ nodes: 0 });
      expect((await crawlAll([next], 4)).sort()).toEqual(['a', 'b', 'c', 'd']);
      expect(await next.frontier.snapshot()).toMatchObject({ done: 4, leased: 0, silent: [] });
    });

    it('when a node joins beside others takes none for dead, and holds up nothing', async ({ skip }) => {
      const clock = crawl().clockOr(skip);
      clock.setForward(HOUR_MS);
      const first = await crawl().node(slow);
      await half(first);
      clock.reset();
      const second = await crawl().node(slow);
      expect(second.joined.found).toMatchObject({ nodes: 1 });
      expect((await crawlAll([first, second], 4)).sort()).toEqual(['a', 'b', 'c', 'd']);
      const { done, silent, nodes } = await second.frontier.snapshot();
      expect({ done, silent, nodes: nodes.length }).toEqual({ done: 4, silent: [], nodes: 2 });
    });

    it('after a node was killed does not keep its lease from the next run', async ({ skip }) => {
      const clock = crawl().clockOr(skip);
      clock.setForward(HOUR_MS);
      const killed = await crawl().node({ pid: 2 ** 22 + 1, tunables: { nodeTimeoutMs: 300 } });
      await killed.frontier.push([request('held')], 'links');
      await take(killed.frontier, 1);
      clock.reset();
      const next = await crawl().node({ tunables: { nodeTimeoutMs: 300 } });
      expect(await crawl().recoverUntil(1, [next])).toBe(1);
      await commit(next.frontier, await takeOne(next.frontier));
      expect(await next.frontier.snapshot()).toMatchObject({ done: 1, leased: 0 });
    });
  });
}
