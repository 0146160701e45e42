/** Backups: what a crawl holds goes out entry by entry, and comes back the same, once, however often it is cut off. */
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import type { BackupEntry } from '../../src/frontier/backup/entry.js';
import { allParts, type Frontier, type Part } from '../../src/frontier/frontier.js';
import { type Crawl, commit, failed, nameOf, request, retry, take, takeOne, until } from './world.js';

const usual = { staleMs: 30_000 };

/** Everything of these parts. */
async function read(frontier: Frontier, parts: readonly Part[] = allParts): Promise<BackupEntry[]> {
  const entries: BackupEntry[] = [];
  for await (const entry of frontier.backups.read(parts)) {
    // Sets and hashes come as they like.
    if (entry.kind === 'seen') entries.push({ ...entry, values: [...entry.values].sort() });
    else if (entry.kind === 'stats') entries.push({ ...entry, values: [...entry.values].sort() });
    else entries.push(entry);
  }
  return entries;
}

interface Choice {
  readonly id?: string;
  readonly parts?: readonly Part[];
  readonly force?: boolean;
  /** The last entry to apply: a restore that is cut off. */
  readonly last?: number;
}

/** Bring entries back. @returns what `begin` said. */
async function bringBack(
  { backups }: Frontier,
  entries: readonly BackupEntry[],
  { id = 'backup-1', parts = allParts, force = false, last = entries.length }: Choice = {},
): Promise<number | null> {
  const begun = await backups.begin({ id, parts, exclusive: [], force });
  if (begun === null) return null;
  for (const [n, entry] of entries.slice(0, last).entries()) await backups.apply(id, n + 1, entry);
  if (last === entries.length) await backups.end(id);
  return begun;
}

export function backups(crawl: () => Crawl): void {
  describe('a backup', () => {
    const writer = { feed: 'f1', host: 'elsewhere', path: '/data/a', pid: 1, owner: 'w', format: 'csv' };

    /** A crawl with something of everything. */
    const full = async (): Promise<Frontier> => {
      const { frontier } = await crawl().node({ feeds: ['f1'] });
      const start = [1, 2, 3, 4].map((n) => request(`start-${n}`, { domain: `${n % 2}.example` }));
      await frontier.push(start, 'start');
      await commit(frontier, await takeOne(frontier), undefined, {
        items: ['{"n":1}', '{"n":"ü"}'],
        feedItems: ['one', 'two', 'three'],
        stats: { pages: 7 },
        custom: [
          { name: 'price', op: 'max', value: 0.1 },
          { name: 'last', op: 'set', value: 'ü"1"' },
        ],
      });
      const [a, b] = await take(frontier, 2);
      await commit(frontier, a!, failed('timeout'));
      await commit(frontier, b!, retry(b!, 3_600_000, 2));
      await frontier.push(
        [request('later', { priority: -3, domain: 'c.example' }), request('urgent', { priority: 5 })],
        'links',
      );
      await frontier.push([request('again', { dontFilter: true, ordinal: 3 })], 'links');
      await frontier.appendSeeds(['http://a.example/', '{"url":"http://b.example/"}', 'x']);
      await frontier.intake([{ seed: (await frontier.peekSeeds(1))[0]!, bad: 'no' }]);
      const feeds = (await crawl().outsider()).feeds;
      await feeds.open(writer, usual);
      await feeds.checkpoint(writer, { sequence: 1, lengthBytes: 4, header: 'h' });
      await feeds.release(writer);
      await frontier.leave('shutdown');
      return frontier;
    };

    it('holds what waits and what is leased once, however much of a queue has gone', async () => {
      const { frontier } = await crawl().node();
      const names = Array.from({ length: 40 }, (_, n) => `page-${n}`);
      await frontier.push(
        names.map((name) => request(name)),
        'links',
      );
      let held = await takeOne(frontier);
      for (let ended = 0; ended < names.length - 1; ended++) {
        const kept = (await read(frontier, ['queue'])).flatMap((entry) =>
          entry.kind === 'requests' ? entry.values.map(nameOf) : [],
        );
        expect(kept.toSorted()).toEqual(names.slice(ended).toSorted());
        const next = await takeOne(frontier);
        await commit(frontier, held);
        held = next;
      }
    });

    /** What of a crawl must be the same again. */
    const picture = async (frontier: Frontier) => {
      const { nodes, bytes, run, domains, queueLimit, memoryLimit, usedAtMs, ...snapshot } =
        await frontier.snapshot();
      return {
        // Its writers show no sign of life after a restore.
        snapshot: { ...snapshot, outbox: snapshot.outbox.map((feed) => ({ ...feed, seenAtMs: 0 })) },
        failed: (await frontier.failed.list(null, 10)).requests,
        seeds: (await frontier.peekSeeds(10)).map(({ value }) => value.toString()),
        outbox: await frontier.feeds.read('f1', 1, 10),
        due: await Promise.all(
          [1, 2, 3, 4].map(async (n) => (await frontier.inspect(request(`start-${n}`))).dueAtMs),
        ),
      };
    };

    it('brings back all of a crawl that was cleared, in its order', async () => {
      const frontier = await full();
      const before = await picture(frontier);
      const entries = await read(frontier);
      await frontier.clear(allParts, { force: false });
      expect(await bringBack(frontier, entries)).toBe(0);
      expect(await picture(frontier)).toEqual(before);
      expect(await read(frontier)).toEqual(entries);
      expect(await frontier.feeds.open(writer, usual)).toEqual({ sequence: 1, lengthBytes: 4, header: 'h' });
      const next = await crawl().node();
      expect(next.joined).toMatchObject({ startPushed: true, found: { pending: 4, delayed: 1, seen: 6 } });
      const order = (await take(next.frontier, 4)).map(nameOf);
      expect(order[0]).toBe('urgent');
      expect(order[3]).toBe('later');
      expect(order.slice(1, 3)).toEqual(['start-4', 'again']);
      expect(await next.frontier.push([request('start-1'), request('urgent')], 'links')).toEqual({
        accepted: 0,
        duplicates: 2,
      });
    });

    it('says the same of a crawl whichever part is asked first, and nothing of one that never was', async () => {
      expect(await read(await crawl().outsider())).toEqual([]);
      const frontier = await full();
      const all = await read(frontier);
      const kinds = (parts: readonly Part[]) =>
        read(frontier, parts).then((entries) => entries.map(({ kind }) => kind));
      expect(await kinds(['queue'])).toEqual(['crawl', 'requests']);
      expect(await kinds(['failed'])).toEqual(['failed']);
      expect(await kinds(['dupefilter'])).toEqual(['dupefilter', 'seen']);
      expect(await kinds(['start_urls'])).toEqual(['seeds', 'seeds']);
      expect(await kinds(['items'])).toEqual(['feed', 'outbox', 'items']);
      expect(await kinds(['stats'])).toEqual(['stats']);
      expect(all.map(({ kind }) => kind)).toEqual([
        ...[
          'crawl',
          'requests',
          'failed',
          'dupefilter',
          'seen',
          'seeds',
          'seeds',
          'feed',
          'outbox',
          'items',
          'stats',
        ],
      ]);
    });

    it('holds leased requests as pending ones, at the place they had', async () => {
      const { frontier } = await crawl().node();
      await frontier.push(
        ['a', 'b', 'c'].map((name) => request(name)),
        'links',
      );
      await take(frontier, 2);
      const entries = await read(frontier);
      await frontier.clear(allParts, { force: true });
      const next = await crawl().outsider();
      await bringBack(next, entries);
      const { frontier: node } = await crawl().node();
      expect((await take(node, 3)).map(nameOf)).toEqual(['a', 'b', 'c']);
    });

    it('keeps what requests have crashed, and what waits beside them', async () => {
      const { frontier } = await crawl().node({ pid: 2 ** 22 + 1, tunables: { nodeTimeoutMs: 50 } });
      await frontier.push([request('poison')], 'links');
      await takeOne(frontier);
      await crawl().recoverUntil(1, []);
      const outsider = await crawl().outsider();
      const entries = await read(outsider);
      expect(entries[1]).toMatchObject({ values: [{ crashes: 1, domain: 'a.example' }] });
      await outsider.clear(allParts, { force: true });
      await bringBack(outsider, entries);
      expect(await outsider.snapshot()).toMatchObject({ pending: 1, suspects: 1 });
      const { frontier: node } = await crawl().node();
      expect((await takeOne(node)).crashes).toBe(1);
    });

    it('cut off at any entry and begun again, is there once; no node joins in between', async () => {
      const frontier = await full();
      const before = await picture(frontier);
      const entries = await read(frontier);
      await frontier.clear(allParts, { force: false });
      for (let last = 0; last < entries.length; last += 3) {
        await bringBack(frontier, entries, { last });
        await expect(crawl().node()).rejects.toMatchObject({ code: 'restoring' });
      }
      expect(
        await frontier.backups.begin({ id: 'backup-1', parts: allParts, exclusive: [], force: false }),
      ).toBe(9);
      await expect(bringBack(frontier, entries, { id: 'another' })).rejects.toMatchObject({
        code: 'restoring',
      });
      expect(await bringBack(frontier, entries)).toBe(9);
      expect(await picture(frontier)).toEqual(before);
      await crawl().node();
    });

    it('a restore that was cut off is named, and ended by a repair: what it brought back is crawled', async () => {
      const frontier = await full();
      const entries = await read(frontier);
      await frontier.clear(allParts, { force: false });
      await bringBack(frontier, entries, { last: 3 });
      const named = ['a backup was brought back only in part'];
      expect(await frontier.verify()).toEqual(expect.arrayContaining(named));
      expect(await frontier.verifyCounts()).toEqual(expect.arrayContaining(named));
      const { losses } = await frontier.repair(() => null, { force: false });
      expect(losses).toContain('the rest of a backup that was brought back only in part');
      expect(await frontier.verify()).toEqual([]);
      await expect(frontier.backups.end('backup-1')).rejects.toThrow(RefusedError);
      await crawl().node();
    });

    it('a restore that was reset in between cannot go on', async () => {
      const frontier = await full();
      const entries = await read(frontier);
      await frontier.clear(allParts, { force: false });
      await bringBack(frontier, entries, { last: 5 });
      await frontier.clear(['stats'], { force: false });
      await expect(frontier.backups.apply('backup-1', 6, entries[5]!)).rejects.toThrow(RefusedError);
      await expect(frontier.backups.end('backup-1')).rejects.toThrow(RefusedError);
      await expect(bringBack(frontier, entries)).rejects.toMatchObject({ code: 'restoring' });
      await frontier.clear(allParts, { force: false });
      expect(await bringBack(frontier, entries)).toBe(0);
    });

    it('is refused while nodes live, and where a part holds something', async () => {
      const frontier = await full();
      const entries = await read(frontier);
      await expect(bringBack(frontier, entries)).rejects.toMatchObject({ code: 'not_empty' });
      await frontier.clear(['stats'], { force: false });
      const stats = entries.filter(({ kind }) => kind === 'stats');
      expect(await bringBack(frontier, stats, { parts: ['stats'] })).toBe(0);
      await frontier.clear(allParts, { force: false });
      await crawl().node();
      await expect(bringBack(frontier, entries)).rejects.toMatchObject({ code: 'live_nodes' });
    });

    it('merged by force adds what is missing, and the same backup again adds nothing', async () => {
      const frontier = await full();
      const entries = await read(frontier);
      await frontier.clear(allParts, { force: false });
      await frontier.push([request('start-4', { priority: 9 }), request('new')], 'links');
      expect(await bringBack(frontier, entries, { force: true })).toBe(0);
      expect(await frontier.snapshot()).toMatchObject({
        ...{ pending: 5, delayed: 1, failed: 1, done: 1, seen: 7, items: 2, startUrls: 2 },
      });
      const merged = await picture(frontier);
      expect(await bringBack(frontier, entries, { force: true })).toBeNull();
      expect(await picture(frontier)).toEqual(merged);
      const { frontier: node } = await crawl().node();
      expect((await take(node, 2)).map(nameOf)).toEqual(['start-4', 'urgent']);
    });

    it('comes in entries of bounded size, however much there is', async () => {
      const frontier = await crawl().outsider();
      const large = 'x'.repeat(300_000);
      for (let n = 0; n < 3; n += 1) {
        await frontier.push(
          Array.from({ length: 900 }, (_, i) => request(`${n}-${i}`)),
          'links',
        );
      }
      const heavy = Array.from({ length: 8 }, (_, n) => ({ ...request(`heavy-${n}`), record: `"${large}"` }));
      await frontier.push(heavy, 'links');
      const entries = await read(frontier);
      const sizes = entries.map((entry) => JSON.stringify(entry).length);
      expect(Math.max(...sizes)).toBeLessThan(1_500_000);
      const counts = entries.map((entry) => (entry.kind === 'requests' ? entry.values.length : 0));
      expect(Math.max(...counts)).toBeLessThanOrEqual(1_000);
      expect(counts.reduce((sum, count) => sum + count)).toBe(2_708);
      await frontier.clear(allParts, { force: false });
      await bringBack(frontier, entries);
      expect(await frontier.count()).toMatchObject({ queue: 2_708, dupefilter: 2_708 });
    });

    it('remembers when the crawl and its dupefilter began', async () => {
      const frontier = await crawl().outsider();
      expect(await frontier.snapshot()).toMatchObject({ beganAtMs: null, seenSinceMs: null });
      await frontier.push([request('a')], 'links');
      const first = await frontier.snapshot();
      expect(Math.abs(Date.now() - (first.beganAtMs ?? 0))).toBeLessThan(60_000);
      expect(first.seenSinceMs).toBe(first.beganAtMs);
      await until(
        async () => Date.now(),
        (now) => now > first.beganAtMs! + 5,
      );
      await frontier.clear(['queue'], { force: false });
      const second = await frontier.snapshot();
      expect(second.seenSinceMs).toBe(first.seenSinceMs);
      expect(second.beganAtMs).toBeGreaterThan(first.beganAtMs!);
      const entries = await read(frontier);
      await frontier.clear(['dupefilter'], { force: false });
      expect((await frontier.snapshot()).seenSinceMs).toBeGreaterThan(first.seenSinceMs!);
      await frontier.clear(allParts, { force: false });
      await bringBack(frontier, entries);
      expect(await frontier.snapshot()).toMatchObject({
        beganAtMs: second.beganAtMs,
        seenSinceMs: first.seenSinceMs,
      });
    });
  });
}
