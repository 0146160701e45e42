/** Repair: indexes and counters from the records alone. */
import { describe, expect, it } from 'vitest';
import { IncarnationDeadError, RefusedError } from '../../src/errors.js';
import type { FrontierRequest, RecordedRequest } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, effects, failed, nameOf, request, retry, take, takeOne } from './world.js';

/** What `read` makes of the records of these requests: their domain and priority, accepted in this order. */
export function reading(...requests: readonly FrontierRequest[]) {
  const known = new Map(requests.map((one, n) => [one.id, { ...one, acceptedAtMs: 1_000 + n }]));
  return (id: string): RecordedRequest | null => known.get(id) ?? null;
}

export function repair(crawl: () => Crawl): void {
  describe('repair', () => {
    it('of a crawl that never was, and of an empty one, finds nothing', async () => {
      const frontier = await crawl().outsider();
      const nothing = { pending: 0, delayed: 0, failed: 0, unreadable: 0, losses: [] };
      expect(await frontier.repair(() => null, { force: false })).toEqual(nothing);
      expect(await frontier.repair(() => null, { force: false })).toEqual(nothing);
      expect((await frontier.snapshot()).control).toBe('running');
    });

    it('leaves a sound crawl as it was: states, order, counters, delays, who waits alone', async () => {
      const { frontier } = await crawl().node({ tunables: { nodeTimeoutMs: 60_000 } });
      const low = Array.from({ length: 40 }, (_, n) => request(`low-${n}`, { domain: `d${n % 3}.example` }));
      const high = Array.from({ length: 5 }, (_, n) => request(`high-${n}`, { priority: 7 }));
      const first = ['done', 'fail', 'retry'].map((name) => request(name, { priority: 9 }));
      const late = request('late', { delayMs: 60_000 });
      await frontier.push(first, 'links');
      const [one, two, three] = await take(frontier, 3);
      await commit(frontier, one!);
      await commit(frontier, two!, failed());
      await commit(frontier, three!, retry(three!, 60_000));
      await frontier.push([...low, ...high, late], 'links');
      await frontier.throttle('d1.example', { delayMs: 5_000, source: 'robots' });
      await frontier.leave('shutdown');
      const outsider = await crawl().outsider();
      const before = await outsider.snapshot();
      expect(await outsider.repair(reading(...first, ...low, ...high, late), { force: false })).toEqual({
        ...{ pending: 45, delayed: 2, failed: 1, unreadable: 0, losses: [] },
      });
      expect(await outsider.verify()).toEqual([]);
      const { pending, delayed, leased, failed: lost, accepted, done: ended, seen } = before;
      expect(await outsider.snapshot()).toMatchObject({
        ...{ pending, delayed, leased, failed: lost, accepted, done: ended, seen },
      });
      expect((await outsider.inspect(late)).state).toBe('delayed');
      expect((await outsider.inspect(first[1]!)).state).toBe('failed');
      const next = await crawl().node();
      const names = (await take(next.frontier, 45, 500)).map(nameOf);
      expect(names.slice(0, 5)).toEqual(high.map(nameOf));
      // The one domain with a delay gives one, and then waits.
      expect(names.filter((name) => name.startsWith('low')).length).toBe(1 + 40 - 13);
      expect(names.filter((name) => name.startsWith('low-') && Number(name.slice(4)) % 3 === 1)).toHaveLength(
        1,
      );
    });

    it('is refused while a node lives; forced, it takes its leases back, and the node finds itself dead', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const lease = await takeOne(frontier);
      const outsider = await crawl().outsider();
      const read = reading(request('a'), request('b'));
      await expect(outsider.repair(read, { force: false })).rejects.toThrow(RefusedError);
      expect(await outsider.snapshot()).toMatchObject({ pending: 1, leased: 1, control: 'running' });
      expect(await outsider.repair(read, { force: true })).toMatchObject({ pending: 2 });
      await expect(frontier.lease(1, 0)).rejects.toThrow(IncarnationDeadError);
      await crawl().join(frontier);
      expect(await frontier.settle(lease, done, effects({}))).toEqual({ committed: false });
      expect((await take(frontier, 2)).map(nameOf).sort()).toEqual(['a', 'b']);
    });

    it('keeps a crawl paused that was paused', async () => {
      const frontier = await crawl().outsider();
      await frontier.push([request('a')], 'links');
      await frontier.control('paused');
      await frontier.repair(reading(request('a')), { force: false });
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, control: 'paused' });
    });

    it('walks over more than a step', async () => {
      const frontier = await crawl().outsider();
      const many = Array.from({ length: 1_700 }, (_, n) => request(`${n}`, { domain: `d${n % 7}.example` }));
      await frontier.push(many, 'links');
      expect(await frontier.repair(reading(...many), { force: false })).toMatchObject({ pending: 1_700 });
    });
  });
}
