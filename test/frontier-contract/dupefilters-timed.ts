/** The dupefilter that forgets each fingerprint in its time. */
import { describe, expect, it } from 'vitest';
import type { Dupefilter } from '../../src/frontier/frontier.js';
import type { InCrawl } from './dupefilters.js';
import { commit, request, takeOne, until } from './world.js';

export function timed(crawlWith: (dupefilter: Dupefilter) => InCrawl): void {
  const inCrawl = crawlWith({ class: 'TimedRFPDupeFilter', expireMs: 400 });

  describe('a timed dupefilter', () => {
    it(
      'accepts a link again when its time has come, and only that',
      inCrawl(async (crawl) => {
        const { frontier } = await crawl.node();
        await frontier.push([request('old')], 'links');
        await commit(frontier, await takeOne(frontier));
        // Being met again does not prolong it, or a page that is linked from everywhere would never be fetched again.
        const again = await until(
          () => frontier.push([request('old')], 'links'),
          ({ accepted }) => accepted === 1,
        );
        expect(again).toEqual({ accepted: 1, duplicates: 0 });
        await commit(frontier, await takeOne(frontier));
        // Accepted anew, it is remembered anew.
        expect(await frontier.push([request('old'), request('new')], 'links')).toEqual({
          accepted: 1,
          duplicates: 1,
        });
      }),
    );

    it(
      'never doubles a request that still waits when its time has come',
      inCrawl(async (crawl) => {
        const frontier = await crawl.outsider();
        await frontier.push([request('a')], 'links');
        const { seen } = await until(
          () => frontier.inspect(request('a')),
          (answer) => !answer.seen,
        );
        expect(seen).toBe(false);
        expect((await frontier.snapshot()).seen).toBe(0);
        expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
      }),
    );
  });
}
