/** Contract: pages that are done although their spider did not process their status are listed, the last ones of the crawl. */
import { describe, expect, it } from 'vitest';
import { MAX_IGNORED } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, effects, request, take, takeOne } from './world.js';

const gone = (n: number) => ({ status: 404, url: `https://a.example/${n}`, referer: null });

export function ignoredPages(crawl: () => Crawl): void {
  describe('pages with an ignored status', () => {
    it('are listed with their referers, the oldest first, by every client', async () => {
      const { frontier } = await crawl().node();
      expect(await frontier.failed.ignored()).toEqual([]);
      const pages = [
        gone(1),
        { status: 403, url: 'https://a.example/ü?a="b"', referer: 'https://b.example/' },
      ];
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      for (const ignored of pages) await commit(frontier, await takeOne(frontier), done, { ignored });
      await commit(frontier, await takeOne(frontier));
      expect(await (await crawl().outsider()).failed.ignored()).toEqual(pages);
    });

    it('are not written under a lost lease', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      await commit(frontier, lease);
      expect(await frontier.settle(lease, done, effects({ ignored: gone(1) }))).toEqual({ committed: false });
      expect(await frontier.failed.ignored()).toEqual([]);
    });

    it(`are kept up to ${MAX_IGNORED} of a crawl, the last ones`, async () => {
      const { frontier } = await crawl().node({ tunables: { concurrencyPerDomain: 2_000 } });
      const count = MAX_IGNORED + 5;
      await frontier.push(
        Array.from({ length: count }, (_, n) => request(`${n}`)),
        'links',
      );
      const leases = await take(frontier, count);
      await Promise.all(leases.map((lease, n) => commit(frontier, lease, done, { ignored: gone(n) })));
      const listed = await frontier.failed.ignored();
      expect(listed).toEqual(Array.from({ length: MAX_IGNORED }, (_, n) => gone(n + 5)));
    });

    it.each([['failed'], ['queue'], ['queue', 'failed']] as const)(
      'are forgotten by a reset of %s, and only of these parts',
      async (...parts) => {
        const { frontier } = await crawl().node();
        await frontier.push([request('a'), request('b')], 'links');
        await commit(frontier, await takeOne(frontier), done, { ignored: gone(1) });
        await frontier.clear(['dupefilter', 'stats', 'items'], { force: true });
        expect(await frontier.failed.ignored()).toEqual([gone(1)]);
        await frontier.clear(parts, { force: true });
        expect(await frontier.failed.ignored()).toEqual([]);
      },
    );

    it('stay through a repair', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), done, { ignored: gone(1) });
      await frontier.repair(() => null, { force: true });
      expect(await frontier.failed.ignored()).toEqual([gone(1)]);
    });
  });
}
