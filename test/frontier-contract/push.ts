/** What is accepted, what is a duplicate, and what the dupefilter remembers. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, failed, request, take, takeOne } from './world.js';

export function push(crawl: () => Crawl): void {
  describe('push', () => {
    it('accepts unseen requests and counts duplicates, those inside one batch too', async () => {
      const frontier = await crawl().outsider();
      const first = await frontier.push([request('a'), request('b'), request('a')], 'links');
      expect(first).toEqual({ accepted: 2, duplicates: 1 });
      expect(await frontier.push([request('b'), request('c')], 'links')).toEqual({
        accepted: 1,
        duplicates: 1,
      });
      expect(await frontier.snapshot()).toMatchObject({
        ...{ pending: 3, accepted: 3, seen: 3, domains: 1 },
        counters: { 'scheduler/enqueued': 3, 'dupefilter/filtered': 2 },
      });
    });

    it('refuses a link whose page is done, because the dupefilter has seen it', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
    });

    it('neither asks nor tells the dupefilter of a request with dontFilter, but pushes it once', async () => {
      const frontier = await crawl().outsider();
      const one = request('a', { dontFilter: true, ordinal: 1 });
      const two = request('a', { dontFilter: true, ordinal: 2 });
      expect(await frontier.push([one, two], 'links')).toEqual({ accepted: 2, duplicates: 0 });
      expect(await frontier.push([one], 'links')).toEqual({ accepted: 0, duplicates: 1 });
      expect((await frontier.snapshot()).seen).toBe(0);
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 1, duplicates: 0 });
    });

    it('accepts a seed whatever the dupefilter says, and records it', async () => {
      const { frontier } = await crawl().node();
      expect(await frontier.push([request('a')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
      expect(await frontier.push([request('a')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, accepted: 2, done: 1, seen: 1 });
    });

    it('counts a seed that is pending, delayed or leased as a duplicate', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('leased', { priority: 1 })], 'seeds');
      await takeOne(frontier);
      await frontier.push([request('pending'), request('delayed', { delayMs: 60_000 })], 'seeds');
      const again = await frontier.push([request('leased'), request('pending'), request('delayed')], 'seeds');
      expect(again).toEqual({ accepted: 0, duplicates: 3 });
    });

    it('has filtered seeds pass the dupefilter', async () => {
      const { frontier } = await crawl().node();
      expect(await frontier.push([request('a')], 'seeds-judged')).toEqual({ accepted: 1, duplicates: 0 });
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.push([request('a')], 'seeds-judged')).toEqual({ accepted: 0, duplicates: 1 });
    });

    it('brings a failed request back by a seed, not by a link, and does not accept it twice', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), failed());
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
      expect(await frontier.push([request('a')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, failed: 0, accepted: 1 });
    });

    it('accepts the start requests of a job once, whichever client is first', async () => {
      const frontier = await crawl().outsider();
      const other = await crawl().world.client();
      expect(await frontier.push([request('a'), request('b')], 'start')).toEqual({
        accepted: 2,
        duplicates: 0,
      });
      expect(await other.push([request('a'), request('c')], 'start')).toEqual({ accepted: 0, duplicates: 2 });
      expect((await crawl().node({ hasStart: true })).joined.startPushed).toBe(true);
    });

    it('accepts each start request of a list in parts once, those with dontFilter and known ones too', async () => {
      const one = await crawl().world.client();
      const two = await crawl().world.client();
      await one.push([request('known')], 'links');
      const node = await crawl().node({ hasStart: true });
      await commit(node.frontier, await takeOne(node.frontier));
      const parts = [[request('known'), request('a', { dontFilter: true })], [request('b')]];
      const push = (by: typeof one, n: number) => by.push(parts[n]!, 'start', { from: 2 * n, total: 3 });
      expect(await push(one, 0)).toEqual({ accepted: 2, duplicates: 0 });
      for (const lease of await take(node.frontier, 2)) await commit(node.frontier, lease);
      expect((await node.frontier.lease(1, 0)).crawl.finished).toBe(false);
      expect((await crawl().node({ hasStart: true })).joined.startPushed).toBe(false);
      // The first client died here; the second begins anew.
      expect(await push(two, 0)).toEqual({ accepted: 0, duplicates: 2 });
      expect(await push(two, 1)).toEqual({ accepted: 1, duplicates: 0 });
      expect(await push(one, 1)).toEqual({ accepted: 0, duplicates: 1 });
      expect((await crawl().node({ hasStart: true })).joined.startPushed).toBe(true);
      expect(await one.snapshot()).toMatchObject({ pending: 1, done: 3 });
    });

    it('takes an empty start push as the job having no start requests', async () => {
      const frontier = await crawl().outsider();
      expect(await frontier.push([], 'start')).toEqual({ accepted: 0, duplicates: 0 });
      expect(await frontier.push([request('a')], 'start')).toEqual({ accepted: 0, duplicates: 1 });
    });

    it('accepts each request once when two clients push the same links at the same moment', async () => {
      const one = await crawl().world.client();
      const two = await crawl().world.client();
      const links = Array.from({ length: 200 }, (_, n) => request(`page-${n}`));
      const answers = await Promise.all([one.push(links, 'links'), two.push(links, 'links')]);
      expect(answers.reduce((sum, answer) => sum + answer.accepted, 0)).toBe(200);
      expect((await one.snapshot()).pending).toBe(200);
    });
  });
}
