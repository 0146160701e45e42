/** The dupefilter that forgets each fingerprint in its time. */
import { describe, expect, it } from 'vitest';
import type { BackupEntry } from '../../src/frontier/backup/entry.js';
import type { Dupefilter } from '../../src/frontier/frontier.js';
import { bringBack, readAll } from './backups-dupefilters.js';
import type { InCrawl } from './dupefilters.js';
import { type Crawl, commit, request, sha1, takeOne, until } from './world.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function timed(crawlWith: (dupefilter: Dupefilter) => InCrawl): void {
  const inCrawl = crawlWith({ class: 'TimedRFPDupeFilter', expireMs: 400 });

  describe('a timed dupefilter', () => {
    it('accepts a link again when its time has come, not before, and only that', ({ skip }) =>
      crawlWith({ class: 'TimedRFPDupeFilter', expireMs: DAY_MS })(async (crawl) => {
        const clock = crawl.clockOr(skip);
        const { frontier } = await crawl.node();
        await frontier.push([request('old')], 'links');
        await commit(frontier, await takeOne(frontier));
        clock.setForward(DAY_MS - HOUR_MS);
        // Being met again does not prolong it, or a page that is linked from everywhere would never be fetched again.
        expect(await frontier.push([request('old')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
        clock.setForward(HOUR_MS);
        expect(await frontier.push([request('old')], 'links')).toEqual({ accepted: 1, duplicates: 0 });
        await commit(frontier, await takeOne(frontier));
        // Accepted anew, it is remembered anew.
        clock.setForward(DAY_MS - HOUR_MS);
        expect(await frontier.push([request('old'), request('new')], 'links')).toEqual({
          accepted: 1,
          duplicates: 1,
        });
      })());

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

    it(
      'gives nothing to a backup that has expired',
      inCrawl(async (crawl) => {
        const frontier = await crawl.outsider();
        await frontier.push([request('a'), request('b')], 'links');
        await until(
          () => frontier.snapshot(),
          (answer) => answer.seen === 0,
        );
        expect((await readAll(frontier, ['dupefilter'])).filter(({ kind }) => kind === 'seen')).toEqual([]);
      }),
    );

    it(
      'remembers nothing of a backup for longer than what it records itself',
      crawlWith({ class: 'TimedRFPDupeFilter', expireMs: 60_000 })(async (crawl) => {
        const untilMs = await restored(crawl, [Date.now() + 30_000, Date.now() + 3_600_000, null]);
        const [least, ...others] = untilMs.map(
          (instant) => (instant ?? Number.POSITIVE_INFINITY) - Date.now(),
        );
        expect(least).toBeLessThanOrEqual(30_000);
        expect(others).toHaveLength(2);
        for (const other of others) {
          expect(other).toBeLessThanOrEqual(60_000);
          expect(other).toBeGreaterThan(30_000);
        }
      }),
    );

    it.each([[[null]], [undefined]])(
      'keeps the later of two expiries, also where a backup names none: %j',
      (untilMs) =>
        crawlWith({ class: 'TimedRFPDupeFilter', expireMs: 60_000 })(async (crawl) => {
          const frontier = await crawl.outsider();
          const values = [sha1('page')];
          const soon: BackupEntry = { kind: 'seen', values, untilMs: [Date.now() + 10_000] };
          const later: BackupEntry = { kind: 'seen', values, ...(untilMs !== undefined && { untilMs }) };
          await bringBack(frontier, [soon, later, soon], ['dupefilter']);
          const [found] = (await readAll(frontier, ['dupefilter'])).flatMap((entry) =>
            entry.kind === 'seen' ? (entry.untilMs ?? []) : [],
          );
          expect(found! - Date.now()).toBeGreaterThan(10_000);
          expect(found! - Date.now()).toBeLessThanOrEqual(60_000);
        })(),
    );

    it(
      'remembers all of a backup for ever where nothing that it records expires',
      crawlWith({ class: 'TimedRFPDupeFilter', expireMs: 0 })(async (crawl) => {
        expect(await restored(crawl, [Date.now() + 3_600_000, null])).toEqual([null, null]);
      }),
    );
  });
}

/** Restore fingerprints with these expiries. @returns the expiries that they have afterwards, ascending; null, never, is last */
async function restored(crawl: Crawl, untilMs: readonly (number | null)[]): Promise<(number | null)[]> {
  const frontier = await crawl.outsider();
  const values = untilMs.map((_, n) => sha1(`page-${n}`));
  await bringBack(frontier, [{ kind: 'seen', values, untilMs }], ['dupefilter']);
  const found = (await readAll(frontier, ['dupefilter'])).flatMap((entry) =>
    entry.kind === 'seen' ? (entry.untilMs ?? []) : [],
  );
  return [...found].sort((a, b) => (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY));
}
