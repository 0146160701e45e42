/** What the commands see and change: inspect, forget, count, clear. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { FrontierGoneError, RefusedError } from '../../src/errors.js';
import { allParts } from '../../src/frontier/frontier.js';
import { type Crawl, commit, failed, released, request, take, takeOne, until } from './world.js';

const usual = { staleMs: 30_000 };

const nothing = { queue: 0, dupefilter: 0, start_urls: 0, items: 0, stats: 0, failed: 0 };

export function upkeep(crawl: () => Crawl): void {
  describe('upkeep', () => {
    it('answers for a crawl that never was', async () => {
      const frontier = await crawl().outsider();
      expect(await frontier.snapshot()).toMatchObject({
        pending: 0,
        accepted: 0,
        seen: 0,
        nodes: [],
        counters: {},
        outbox: [],
        run: null,
        control: 'running',
      });
      expect(await frontier.count()).toEqual(nothing);
      expect(await frontier.heartbeat('nobody-x', 0)).toBe('gone');
      expect(await frontier.recover()).toBe(0);
      await frontier.clear(allParts, { force: false });
    });

    it('tells of silent nodes, the end of the run, the shape, the size of each part and who writes files', async () => {
      const { frontier } = await crawl().node({ tunables: { nodeTimeoutMs: 300 }, feeds: ['f'] });
      const writer = { feed: 'f', host: hostname(), path: '/data/f.jsonl', pid: process.pid, owner: 'me' };
      await frontier.push([request('a'), request('b')], 'links');
      await frontier.appendSeeds(['a seed']);
      await frontier.feeds.open(writer, usual);
      await commit(frontier, await takeOne(frontier), undefined, {
        items: ['{"n":1}'],
        feedItems: ['1'],
        stats: { n: 1 },
      });
      const outsider = await crawl().outsider();
      const { bytes, outbox, shape, run } = await outsider.snapshot();
      for (const size of Object.values(bytes)) expect(size).toBeGreaterThan(0);
      expect(outbox).toMatchObject([{ feed: 'f', waiting: 1, writerPid: process.pid }]);
      expect(shape).toMatchObject({ queueClass: 'PriorityQueue', dupefilter: { class: 'RFPDupeFilter' } });
      expect(run).toMatchObject({ closed: null, endedAt: null });
      const silent = await until(
        () => outsider.snapshot(),
        (snapshot) => snapshot.silent.length > 0,
      );
      expect(silent).toMatchObject({ nodes: [], silent: [{ id: 'node-1', pid: process.pid }] });
      expect(Math.abs(silent.silent[0]!.clockAheadMs)).toBeLessThan(5_000);
      await frontier.feeds.release(writer);
      expect((await outsider.snapshot()).outbox).toMatchObject([{ writerPid: null }]);
      const next = await crawl().node({ tunables: { nodeTimeoutMs: 300 } });
      await next.frontier.leave('shutdown');
      const ended = (await outsider.snapshot()).run;
      expect(ended).toMatchObject({ closed: 'shutdown' });
      expect(Math.abs(Date.now() - ended!.endedAt!)).toBeLessThan(60_000);
    });

    it('tells the state of one request', async () => {
      const { frontier, joined } = await crawl().node();
      const state = async (name: string) => (await frontier.inspect(request(name))).state;
      await frontier.push([request('a'), request('b'), request('c'), request('d')], 'links');
      await frontier.push([request('late', { delayMs: 60_000 })], 'links');
      const [a, b, c] = await take(frontier, 3);
      await commit(frontier, a!);
      await commit(frontier, b!, failed());
      expect(await state('a')).toBe('seen');
      expect(await state('b')).toBe('failed');
      expect(await state('d')).toBe('pending');
      expect(await state('late')).toBe('delayed');
      expect(await state('never')).toBe('unknown');
      expect((await frontier.inspect(request('b'))).failure).toMatchObject({
        ...{
          reason: 'timeout',
          status: null,
          attempts: 3,
          node: expect.stringContaining('node-1'),
          detail: null,
        },
        failedAtMs: expect.any(Number),
      });
      expect((await frontier.inspect(request('d'))).dueAtMs).toBeNull();
      await frontier.throttle('a.example', { forMs: 60_000, source: 'retry-after' });
      const { dueAtMs, leasedAtMs } = await frontier.inspect(request('d'));
      expect(dueAtMs! - Date.now()).toBeGreaterThan(50_000);
      expect(leasedAtMs).toBeNull();
      const leased = await frontier.inspect(request('c'));
      expect(Math.abs(Date.now() - leased.leasedAtMs!)).toBeLessThan(60_000);
      expect(leased).toMatchObject({
        state: 'leased',
        owner: joined.incarnation,
        record: c!.record,
        seen: true,
      });
    });

    it('forgets a fingerprint, so that a link to it is accepted again', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.forget(request('a').fingerprint)).toBe(true);
      expect(await frontier.forget(request('a').fingerprint)).toBe(false);
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 1, duplicates: 0 });
    });

    it('never doubles a live request that was forgotten', async () => {
      const frontier = await crawl().outsider();
      await frontier.push([request('a')], 'links');
      await frontier.forget(request('a').fingerprint);
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
    });

    it('refuses to clear under live nodes unless forced, and then they notice', async () => {
      const { frontier, joined } = await crawl().node();
      const outsider = await crawl().outsider();
      await frontier.push([request('a')], 'links');
      await expect(outsider.clear(allParts, { force: false })).rejects.toThrow(RefusedError);
      expect((await outsider.snapshot()).pending).toBe(1);
      await outsider.clear(allParts, { force: true });
      expect(await outsider.heartbeat(joined.incarnation, 0)).toBe('gone');
      await expect(frontier.lease(1, 0)).rejects.toThrow(FrontierGoneError);
    });

    it('leaves nothing when all parts are cleared', async () => {
      const { frontier } = await crawl().node({ feeds: ['feed-1'] });
      await frontier.push([request('a'), request('b'), request('c')], 'start');
      await frontier.appendSeeds(['x', 'y']);
      await frontier.intake([{ seed: (await frontier.peekSeeds(1))[0]!, bad: 'no' }]);
      await commit(frontier, await takeOne(frontier), undefined, {
        items: ['{}'],
        feedItems: ['{}'],
        stats: { n: 1 },
      });
      await commit(frontier, await takeOne(frontier), failed());
      expect(await frontier.count()).toMatchObject({
        queue: 1,
        dupefilter: 3,
        items: 1,
        stats: 2,
        failed: 1,
      });
      await frontier.leave('shutdown');
      await frontier.clear(allParts, { force: false });
      expect(await frontier.count()).toEqual(nothing);
      expect(await frontier.snapshot()).toMatchObject({ accepted: 0, badSeeds: 0, run: null, outbox: [] });
    });

    it('clears the queue alone, keeping failed requests and the dupefilter', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b'), request('c', { delayMs: 60_000 })], 'start');
      await commit(frontier, await takeOne(frontier), failed());
      await commit(frontier, await takeOne(frontier), released);
      await frontier.leave('shutdown');
      await frontier.clear(['queue'], { force: false });
      expect(await frontier.snapshot()).toMatchObject({
        pending: 0,
        delayed: 0,
        failed: 1,
        seen: 3,
        domains: 0,
      });
      const next = await crawl().node();
      expect(next.joined.startPushed).toBe(false);
      expect(await frontier.push([request('b')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.push([request('a')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
    });

    it('begins feeds anew with the queue, except those whose items still wait to be written', async () => {
      const { frontier } = await crawl().node({ feeds: ['written', 'waiting'] });
      const writers = ['written', 'waiting'].map((feed) => ({
        feed,
        host: hostname(),
        path: `/data/${feed}.jsonl`,
        pid: process.pid,
        owner: feed,
      }));
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), undefined, { feedItems: ['one', 'two'] });
      for (const [n, writer] of writers.entries()) {
        await frontier.feeds.open(writer, usual);
        await frontier.feeds.checkpoint(writer, { sequence: 2 - n, lengthBytes: 10, header: '' });
        await frontier.feeds.release(writer);
      }
      await frontier.leave('finished');
      await frontier.clear(['queue', 'dupefilter'], { force: false });
      const [written, waiting] = writers;
      expect(await frontier.feeds.open(written!, usual)).toBeNull();
      expect(await frontier.feeds.open(waiting!, usual)).toMatchObject({ sequence: 1 });
      expect(await frontier.feeds.read('waiting', 1, 10)).toEqual(['two']);
    });

    it('clears the failed list alone, and the dupefilter alone', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      await commit(frontier, await takeOne(frontier), failed());
      await frontier.leave('shutdown');
      await frontier.clear(['failed'], { force: false });
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, failed: 0, seen: 2 });
      await frontier.clear(['dupefilter'], { force: false });
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, seen: 0 });
      expect(await frontier.push([request('a'), request('b')], 'links')).toEqual({
        accepted: 1,
        duplicates: 1,
      });
    });
  });
}
