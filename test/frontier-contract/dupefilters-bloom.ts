/** The dupefilter that errs at a stated rate. Fingerprints are SHA-1 of names, so each count is the same every time. */
import { describe, expect, it } from 'vitest';
import type { Dupefilter, Frontier } from '../../src/frontier/frontier.js';
import { type InCrawl, pushAll } from './dupefilters.js';
import { request } from './world.js';

const CAPACITY = 2_000;
const RATE = 0.02;
const ASKED = 3_000;

export function bloom(crawlWith: (dupefilter: Dupefilter) => InCrawl): void {
  const inCrawl = crawlWith({ class: 'BloomDupeFilter', capacity: CAPACITY, errorRate: RATE });

  /** The share of requests never pushed that are taken for seen. */
  const errorRate = async (frontier: Frontier): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: ASKED }, (_, n) => frontier.inspect(request(`never-${n}`))),
    );
    return answers.filter(({ seen }) => seen).length / ASKED;
  };

  describe('a Bloom dupefilter', () => {
    it(
      'errs at its stated rate at capacity, at most twice beyond, and never takes a seen one for new',
      inCrawl(async (crawl) => {
        const frontier = await crawl.outsider();
        await pushAll(frontier, CAPACITY);
        // Three standard deviations of a sample of this size.
        const spread = 3 * Math.sqrt((RATE * (1 - RATE)) / ASKED);
        expect(await errorRate(frontier)).toBeLessThan(RATE + spread);
        const theory = (CAPACITY * Math.log(1 / RATE)) / Math.LN2 ** 2 / 8;
        expect((await frontier.snapshot()).bytes.dupefilter).toBeGreaterThan(theory);
        await pushAll(frontier, 5 * CAPACITY);
        expect(await errorRate(frontier)).toBeLessThan(2 * (RATE + spread));
        expect(await pushAll(frontier, 5 * CAPACITY)).toEqual({ accepted: 0, duplicates: 5 * CAPACITY });
      }),
    );

    it(
      'says that it cannot forget, and what to do',
      inCrawl(async (crawl) => {
        const frontier = await crawl.outsider();
        await frontier.push([request('a')], 'links');
        await expect(frontier.forget(request('a').fingerprint)).rejects.toMatchObject({
          name: 'RefusedError',
          code: 'cannot_forget',
          message: expect.stringContaining('reset'),
        });
        expect(await frontier.inspect(request('a'))).toMatchObject({ seen: true });
      }),
    );
  });
}
