/** Contract: of one domain at most so many requests are accepted in a crawl, counted over all its nodes. */
import { describe, expect, it } from 'vitest';
import type { FrontierRequest } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, failed, type Node, request, retry, take, takeOne } from './world.js';

const pages = (from: number, count: number, domain = 'a.example'): FrontierRequest[] =>
  Array.from({ length: count }, (_, n) => request(`${domain}/${from + n}`, { domain }));

export function domainPages(crawl: () => Crawl): void {
  const choice = { tunables: { pagesPerDomain: 3 } };
  const trapped = async ({ frontier }: Node) =>
    (await frontier.snapshot()).counters['trap/domain_pages'] ?? 0;

  describe('a limit of pages per domain', () => {
    it('is exact over all nodes, and links beyond it are neither accepted nor seen', async () => {
      const [one, two] = [await crawl().node(choice), await crawl().node(choice)];
      await one.frontier.push(pages(0, 1), 'start');
      const links = [...pages(1, 4), ...pages(0, 2, 'b.example')];
      expect(await one.frontier.push([...links, ...pages(0, 1)], 'links')).toEqual({
        ...{ accepted: 4, duplicates: 1, trapped: 2 },
      });
      const answer = await commit(two.frontier, await takeOne(two.frontier), done, {
        requests: [...pages(4, 3), ...pages(2, 2, 'b.example')],
      });
      expect(answer).toMatchObject({ accepted: 1, duplicates: 0, trapped: 4, allSeen: false });
      expect(await trapped(one)).toBe(6);
      expect((await one.frontier.inspect(links[3]!)).state).toBe('unknown');
      expect(await one.frontier.snapshot()).toMatchObject({ accepted: 6, seen: 6 });
    });

    it('counts seeds and start requests, but never refuses them', async () => {
      const { frontier } = await crawl().node(choice);
      expect(await frontier.push(pages(0, 4), 'start')).toEqual({ accepted: 4, duplicates: 0 });
      expect(await frontier.push(pages(4, 1), 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.push(pages(5, 1), 'seeds-judged')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.push(pages(6, 1), 'links')).toEqual({ accepted: 0, duplicates: 0, trapped: 1 });
    });

    it('never drops a request that carries an item', async () => {
      const { frontier } = await crawl().node(choice);
      await frontier.push(pages(0, 3), 'start');
      const [plain, file] = pages(3, 2);
      const requests = [plain!, { ...file!, carriesItem: true as const }];
      const answer = await commit(frontier, await takeOne(frontier), done, { requests });
      expect(answer).toMatchObject({ accepted: 1, trapped: 1 });
      expect((await frontier.inspect(file!)).state).toBe('pending');
    });

    it('counts a request once, whether it is retried, fails, is done or comes back', async () => {
      const { frontier } = await crawl().node(choice);
      await frontier.push(pages(0, 2), 'links');
      const [one, two] = await take(frontier, 2);
      await commit(frontier, one!, retry(one!, 0));
      await commit(frontier, two!, failed());
      await frontier.failed.retry(pages(1, 1));
      for (const lease of await take(frontier, 2)) await commit(frontier, lease);
      expect(await frontier.push(pages(2, 2), 'links')).toEqual({ accepted: 1, duplicates: 0, trapped: 1 });
    });

    it('goes on counting when the crawl is stopped, and begins again when it has finished', async () => {
      const first = await crawl().node(choice);
      await first.frontier.push(pages(0, 3), 'links');
      await first.frontier.leave('shutdown');
      const second = await crawl().node(choice);
      expect(await second.frontier.push(pages(3, 1), 'links')).toMatchObject({ accepted: 0, trapped: 1 });
      for (const lease of await take(second.frontier, 3)) await commit(second.frontier, lease);
      await second.frontier.leave('finished');
      const third = await crawl().node(choice);
      expect(await third.frontier.push(pages(3, 4), 'links')).toEqual({
        ...{ accepted: 3, duplicates: 0, trapped: 1 },
      });
    });

    it('is the one of the latest node, for all; without one nothing is counted', async () => {
      const one = await crawl().node();
      await one.frontier.push(pages(0, 5), 'links');
      const two = await crawl().node(choice);
      expect(two.joined.notices).toEqual([expect.stringContaining('URL_PAGES_PER_DOMAIN_LIMIT')]);
      expect(await one.frontier.push(pages(5, 4), 'links')).toEqual({
        ...{ accepted: 3, duplicates: 0, trapped: 1 },
      });
    });
  });
}
