/** External seeds: peek, convert, commit; two nodes may convert the same seed, one commits it. */
import { describe, expect, it } from 'vitest';
import type { BadSeed } from '../../src/frontier/bad-seed-entry.js';
import { MAX_SEED_BYTES } from '../../src/frontier/frontier.js';
import { type Crawl, commit, request, takeOne } from './world.js';

export function seeds(crawl: () => Crawl): void {
  describe('seed intake', () => {
    it('reads seeds in order without removing them', async () => {
      const frontier = await crawl().outsider();
      expect(await frontier.appendSeeds(['one', 'two', 'three'])).toBe(3);
      const peek = async () => (await frontier.peekSeeds(2)).map((seed) => seed.value.toString());
      expect(await peek()).toEqual(['one', 'two']);
      expect(await peek()).toEqual(['one', 'two']);
      expect((await frontier.snapshot()).startUrls).toBe(3);
    });

    it('commits a seed once when two nodes convert it', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.appendSeeds(['seed']);
      const convert = async (frontier: typeof one.frontier) =>
        (await frontier.peekSeeds(10)).map((seed) => ({ seed, requests: [request('a'), request('b')] }));
      const batches = [await convert(one.frontier), await convert(two.frontier)];
      expect(await one.frontier.intake(batches[0]!)).toEqual({ accepted: 2, duplicates: 0, bad: 0 });
      expect(await two.frontier.intake(batches[1]!)).toEqual({ accepted: 0, duplicates: 0, bad: 0 });
      expect(await one.frontier.snapshot()).toMatchObject({ startUrls: 0, pending: 2, seen: 2 });
    });

    it('removes one of two equal seeds at a time', async () => {
      const frontier = await crawl().outsider();
      await frontier.appendSeeds(['same', 'same']);
      const [seed] = await frontier.peekSeeds(1);
      expect(await frontier.intake([{ seed: seed!, requests: [request('a')] }])).toMatchObject({
        accepted: 1,
      });
      expect((await frontier.snapshot()).startUrls).toBe(1);
      expect(await frontier.intake([{ seed: seed!, requests: [request('a')] }])).toMatchObject({
        duplicates: 1,
      });
      expect((await frontier.snapshot()).startUrls).toBe(0);
    });

    it('sets bad seeds aside and proceeds with the rest', async () => {
      const frontier = await crawl().outsider();
      await frontier.appendSeeds(['good', 'bad', 'empty']);
      const [good, bad, empty] = await frontier.peekSeeds(3);
      const answer = await frontier.intake([
        { seed: bad!, bad: 'not a URL' },
        { seed: good!, requests: [request('a')] },
        { seed: empty!, requests: [] },
      ]);
      expect(answer).toEqual({ accepted: 1, duplicates: 0, bad: 1 });
      expect(await frontier.snapshot()).toMatchObject({ startUrls: 0, badSeeds: 1, pending: 1 });
      expect(await frontier.peekSeeds(10)).toEqual([]);
      const kept = (await frontier.badSeeds(0, 10)).map((text) => JSON.parse(text) as BadSeed);
      expect(kept).toMatchObject([{ seed: 'bad', reason: 'not a URL' }]);
      expect(Date.parse(kept[0]!.at)).toBeGreaterThan(0);
    });

    it('keeps bad seeds in order and whole, of one that is too large the beginning', async () => {
      const frontier = await crawl().outsider();
      const large = 'é'.repeat(MAX_SEED_BYTES);
      await frontier.appendSeeds(['one', large, 'three']);
      const seeds = await frontier.peekSeeds(3);
      await frontier.intake(seeds.map((seed) => ({ seed, bad: 'no' })));
      const read = async (from: number, max: number) =>
        (await frontier.badSeeds(from, max)).map((text) => JSON.parse(text) as BadSeed);
      expect(await read(0, 1)).toMatchObject([{ seed: 'one' }]);
      const [cut, last, ...more] = await read(1, 10);
      expect(cut).toMatchObject({ bytes: 2 * MAX_SEED_BYTES, seed_base64: expect.any(String) });
      expect(last).toMatchObject({ seed: 'three' });
      expect(more).toEqual([]);
      expect(await read(3, 10)).toEqual([]);
    });

    it('accepts all requests of a seed in one step, so that two nodes that convert it fetch each once', async () => {
      const frontier = await crawl().outsider();
      const other = await crawl().world.client();
      await frontier.appendSeeds(['many']);
      const requests = Array.from({ length: 5_000 }, (_, n) => request(`page-${n}`));
      const [seed] = await frontier.peekSeeds(1);
      const node = await crawl().node();
      expect(await frontier.intake([{ seed: seed!, requests }])).toEqual({
        ...{ accepted: 5_000, duplicates: 0, bad: 0 },
      });
      const lease = await takeOne(node.frontier);
      await commit(node.frontier, lease);
      expect(await other.intake([{ seed: seed!, requests }])).toEqual({ accepted: 0, duplicates: 0, bad: 0 });
      expect(await frontier.snapshot()).toMatchObject({ pending: 4_999, done: 1, accepted: 5_000 });
    });

    it('keeps the bytes of a seed as they are', async () => {
      const frontier = await crawl().outsider();
      const text = '{"url":"https://a.example/ü","meta":{"k":"\u0000 \u2028"}}';
      await frontier.appendSeeds([text]);
      expect((await frontier.peekSeeds(1))[0]?.value).toEqual(Buffer.from(text));
    });
  });
}
