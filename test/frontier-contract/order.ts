/** Which request goes first. */
import { describe, expect, it } from 'vitest';
import type { Shape } from '../../src/frontier/frontier.js';
import { type Crawl, commit, failed, nameOf, released, request, retry, take, takeOne } from './world.js';

export function order(crawl: () => Crawl): void {
  describe('order', () => {
    const leasedNames = async (queueClass: Shape['queueClass']): Promise<string[]> => {
      const { frontier } = await crawl().node({ shape: { queueClass } });
      await frontier.push([request('first', { domain: 'a.example', priority: 1 })], 'links');
      await frontier.push([request('second', { domain: 'b.example', priority: -3 })], 'links');
      await frontier.push([request('third', { domain: 'a.example', priority: 5 })], 'links');
      await frontier.push([request('fourth', { domain: 'c.example', priority: 1 })], 'links');
      await frontier.push([request('fifth', { domain: 'b.example', priority: 5 })], 'links');
      return (await take(frontier, 5)).map(nameOf);
    };

    it('is higher priority first, then first come first served, over all domains', async () => {
      expect(await leasedNames('PriorityQueue')).toEqual(['third', 'fifth', 'first', 'fourth', 'second']);
    });

    it('is by arrival alone in a FifoQueue', async () => {
      expect(await leasedNames('FifoQueue')).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
    });

    it('is newest first in a LifoQueue', async () => {
      expect(await leasedNames('LifoQueue')).toEqual(['fifth', 'fourth', 'third', 'second', 'first']);
    });

    it('keeps the order of one batch', async () => {
      const { frontier } = await crawl().node();
      const names = Array.from({ length: 50 }, (_, n) => `page-${n}`);
      await frontier.push(
        names.map((name, n) => request(name, { domain: `${n % 7}.example` })),
        'links',
      );
      expect((await take(frontier, 50)).map(nameOf)).toEqual(names);
    });

    it('spans the whole range of priorities', async () => {
      const { frontier } = await crawl().node();
      const priorities = [0, -(2 ** 31), 2 ** 31 - 1, -1, 1, 1000, -1000];
      await frontier.push(
        priorities.map((priority) => request(String(priority), { priority })),
        'links',
      );
      const sorted = [...priorities].sort((a, b) => b - a).map(String);
      expect((await take(frontier, priorities.length)).map(nameOf)).toEqual(sorted);
    });

    it('gives a released request its old place back', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      const first = await takeOne(frontier);
      expect(nameOf(first)).toBe('a');
      await commit(frontier, first, released);
      expect((await take(frontier, 3)).map(nameOf)).toEqual(['a', 'b', 'c']);
    });

    it('puts a retried request behind its equals, once it is due', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const first = await takeOne(frontier);
      await commit(frontier, first, retry(first, 1));
      expect(nameOf(await takeOne(frontier))).toBe('b');
      await frontier.push([request('c', { delayMs: 30 })], 'links');
      expect((await take(frontier, 2)).map(nameOf)).toEqual(['a', 'c']);
    });

    it('keeps the order of a batch whose requests are delayed equally', async () => {
      const { frontier } = await crawl().node();
      const names = Array.from({ length: 12 }, (_, n) => `page-${n}`);
      await frontier.push(
        names.map((name) => request(name, { delayMs: 30 })),
        'links',
      );
      expect((await take(frontier, 12)).map(nameOf)).toEqual(names);
    });

    it('gives a failed request that comes back a new arrival', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), failed());
      await frontier.push([request('b')], 'links');
      expect(await frontier.failed.retry([request('a')])).toBe(1);
      expect((await take(frontier, 2)).map(nameOf)).toEqual(['b', 'a']);
    });
  });
}
