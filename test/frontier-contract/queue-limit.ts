/** A bounded queue: seeds wait outside of it, and links that find it twice full are dropped, not forgotten. */
import { describe, expect, it } from 'vitest';
import type { FrontierRequest } from '../../src/frontier/frontier.js';
import { assessNow } from '../../src/frontier/telemetry/assess.js';
import { type Crawl, commit, request, retry, take, takeOne } from './world.js';

const named = (prefix: string, count: number): FrontierRequest[] =>
  Array.from({ length: count }, (_, n) => request(`${prefix}-${n}`, { domain: `${n % 3}.example` }));

export function queueLimit(crawl: () => Crawl): void {
  const choice = { tunables: { queueLimit: 5 } };

  describe('a limit of the queue', () => {
    it('says that the queue is full, by pending and delayed requests, and no more once it has room', async () => {
      const { frontier } = await crawl().node(choice);
      const full = async () => (await frontier.lease(0, 0)).crawl.full;
      await frontier.push(named('page', 4), 'links');
      expect(await full()).toBe(false);
      await frontier.push([request('later', { delayMs: 60_000 })], 'links');
      expect(await full()).toBe(true);
      await takeOne(frontier);
      expect(await full()).toBe(false);
      expect(await (await crawl().outsider()).snapshot()).toMatchObject({ queueLimit: 5 });
    });

    it('drops links at twice as many: neither accepted nor seen, and counted', async () => {
      const { frontier } = await crawl().node(choice);
      await frontier.push(named('start', 2), 'start');
      const lease = await takeOne(frontier);
      const found = named('page', 14);
      const answer = await commit(frontier, lease, undefined, { requests: [...found, request('start-0')] });
      expect(answer).toMatchObject({ accepted: 9, duplicates: 1, dropped: 5, allSeen: false });
      expect(await frontier.push(named('page', 14), 'links')).toEqual({
        ...{ accepted: 0, duplicates: 9, dropped: 5 },
      });
      expect(await frontier.snapshot()).toMatchObject({
        ...{ pending: 10, seen: 11, accepted: 11 },
        counters: { 'scheduler/dropped': 10, 'scheduler/enqueued': 11, 'dupefilter/filtered': 10 },
      });
      expect((await frontier.inspect(found[13]!)).state).toBe('unknown');
      // With room again they are as new as ever.
      for (const held of await take(frontier, 3)) await commit(frontier, held);
      expect(await frontier.push(found.slice(11), 'links')).toEqual({ accepted: 3, duplicates: 0 });
    });

    it('never drops a request that carries an item', async () => {
      const { frontier } = await crawl().node(choice);
      await frontier.push(named('start', 2), 'start');
      const lease = await takeOne(frontier);
      const file = { ...request('file', { dontFilter: true }), carriesItem: true } as const;
      const answer = await commit(frontier, lease, undefined, { requests: [...named('page', 14), file] });
      expect(answer).toMatchObject({ accepted: 10, dropped: 5 });
      expect((await frontier.inspect(file)).state).toBe('pending');
    });

    it('never drops what is pushed as a start request or seed, is retried, or comes back', async () => {
      const { frontier } = await crawl().node(choice);
      await frontier.push(named('start', 12), 'start');
      expect(await frontier.push(named('seed', 3), 'seeds')).toEqual({ accepted: 3, duplicates: 0 });
      expect(await frontier.push(named('other', 3), 'seeds-judged')).toEqual({
        accepted: 3,
        duplicates: 0,
      });
      const [one, two] = await take(frontier, 2);
      await commit(frontier, one!, retry(one!, 60_000));
      await commit(frontier, two!, { kind: 'released', reason: 'shutdown', unstarted: true });
      expect(await frontier.snapshot()).toMatchObject({ pending: 17, delayed: 1, accepted: 18 });
    });

    it('is the one of the latest node, for all', async () => {
      const one = await crawl().node(choice);
      const two = await crawl().node({ tunables: { queueLimit: 1 } });
      expect(two.joined.notices).toEqual([expect.stringContaining('SCHEDULER_QUEUE_LIMIT')]);
      expect(await one.frontier.push(named('page', 4), 'links')).toEqual({
        ...{ accepted: 2, duplicates: 0, dropped: 2 },
      });
      await crawl().node();
      expect(await one.frontier.push(named('page', 4), 'links')).toEqual({ accepted: 2, duplicates: 2 });
      expect((await one.frontier.lease(0, 0)).crawl.full).toBe(false);
    });

    it('of its size holds seeds back and drops links, until it is measured to be smaller, or the limit is raised', async () => {
      const { frontier } = await crawl().node({ tunables: { memoryLimit: 20_000 } });
      const full = async () => (await frontier.lease(0, 0)).crawl.full;
      const measure = async () => {
        const { point, assessment, storedBytes } = (await assessNow(frontier.telemetry, 1))!;
        await frontier.telemetry.record(point, assessment, 5, storedBytes);
        return assessment;
      };
      await measure();
      expect(await full()).toBe(false);
      const text = 'x'.repeat(1_000);
      const items = Array.from({ length: 40 }, (_, n) => JSON.stringify({ n, text }));
      await frontier.push(named('page', 3), 'start');
      await commit(frontier, await takeOne(frontier), undefined, { items });
      expect(await full()).toBe(false);
      await frontier.appendSeeds(['https://a.example/']);
      const assessment = await measure();
      expect(assessment).toMatchObject({ limitedBy: 'queue_limit' });
      expect(assessment.sentence).toMatch(
        /SCHEDULER_MEMORY_LIMIT is 20.0 KB: links are dropped, and 1 seed wait/,
      );
      expect(await full()).toBe(true);
      expect(await frontier.push(named('link', 3), 'links')).toMatchObject({ accepted: 0, dropped: 3 });
      expect(await frontier.push(named('seed', 3), 'seeds')).toEqual({ accepted: 3, duplicates: 0 });
      expect(await frontier.snapshot()).toMatchObject({ memoryLimit: 20_000 });
      await frontier.clear(['items'], { force: true });
      await measure();
      expect(await full()).toBe(false);
      await commit(frontier, await takeOne(frontier), undefined, { items });
      await measure();
      expect(await full()).toBe(true);
      await crawl().node({ tunables: { memoryLimit: 0 } });
      expect(await full()).toBe(false);
      expect(await frontier.push(named('link', 3), 'links')).toMatchObject({ accepted: 3 });
    });

    it('is unknown before the first node, and nothing is dropped', async () => {
      const outsider = await crawl().outsider();
      expect(await outsider.push(named('page', 20), 'links')).toEqual({ accepted: 20, duplicates: 0 });
      expect((await outsider.snapshot()).queueLimit).toBeNull();
    });
  });
}
