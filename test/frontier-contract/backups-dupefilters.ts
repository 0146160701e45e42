/** What a dupefilter knew comes back from a backup: into its own class all of it, into another the fingerprints. */
import { expect } from 'vitest';
import type { BackupEntry } from '../../src/frontier/backup/entry.js';
import { allParts, type Dupefilter, type Frontier, type Part } from '../../src/frontier/frontier.js';
import { Crawl, commit, failed, request, sha1, take, type World } from './world.js';

const COUNT = 1_500;

export async function readAll(frontier: Frontier, parts: readonly Part[] = allParts): Promise<BackupEntry[]> {
  const entries: BackupEntry[] = [];
  for await (const entry of frontier.backups.read(parts)) entries.push(entry);
  return entries;
}

export async function bringBack(
  { backups }: Frontier,
  entries: readonly BackupEntry[],
  parts: readonly Part[],
): Promise<void> {
  const ticket = { id: 'backup', parts, exclusive: [], force: false };
  await backups.begin(ticket);
  for (const [n, entry] of entries.entries()) await backups.apply('backup', n + 1, entry);
  await backups.end('backup');
}

const pages = Array.from({ length: COUNT }, (_, n) => request(`page-${n}`));

/** Some done, some failed, some pending. */
async function crawled(crawl: Crawl): Promise<Frontier> {
  const { frontier } = await crawl.node();
  for (let at = 0; at < COUNT; at += 500) await frontier.push(pages.slice(at, at + 500), 'links');
  const [a, b] = await take(frontier, 2);
  await commit(frontier, a!);
  await commit(frontier, b!, failed('timeout'));
  await frontier.leave('shutdown');
  return frontier;
}

export async function comesBack(crawl: Crawl): Promise<void> {
  const frontier = await crawled(crawl);
  const knowledge = async () => ({
    seen: (await frontier.snapshot()).seen,
    lives: await Promise.all(pages.slice(0, 5).map(async (page) => (await frontier.inspect(page)).life)),
  });
  const before = await knowledge();
  const entries = await readAll(frontier);
  await frontier.clear(allParts, { force: false });
  await bringBack(frontier, entries, allParts);
  expect(await knowledge()).toEqual(before);
  expect(valuesOf(await readAll(frontier))).toEqual(valuesOf(entries));
  expect(await frontier.push(pages.slice(0, 500), 'links')).toMatchObject({ accepted: 0, duplicates: 500 });
  const fresh = await frontier.push([request('never met')], 'links');
  expect(fresh).toMatchObject({ accepted: 1 });
}

export async function leavesNothing(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  const some = pages.slice(0, 3);
  await frontier.push(some, 'links');
  const kinds = async () => new Set((await readAll(frontier)).map(({ kind }) => kind));
  expect(await kinds()).toContain('dupefilter');
  for (const { fingerprint } of some) await frontier.forget(fingerprint);
  expect(await kinds()).not.toContain('dupefilter');
  expect(await kinds()).not.toContain('seen');
}

/** Of fingerprints with an expiry, only those come back that have not expired since the backup. */
export async function bringsBackTheLiving(crawl: Crawl): Promise<void> {
  const frontier = await crawl.outsider();
  const values = ['past', 'coming', 'never'].map(sha1);
  const seen: BackupEntry = { kind: 'seen', values, untilMs: [1_000, Date.now() + 3_600_000, null] };
  await bringBack(frontier, [seen], ['dupefilter']);
  expect((await frontier.snapshot()).seen).toBe(2);
  expect(await frontier.inspect(request('past'))).toMatchObject({ seen: false });
  expect(await frontier.inspect(request('never'))).toMatchObject({ seen: true });
}

/** What is seen, in an order of its own. */
function valuesOf(entries: readonly BackupEntry[]): unknown[] {
  return entries
    .flatMap((entry): unknown[] => {
      if (entry.kind === 'bits') return [...entry.values];
      if (entry.kind !== 'seen') return [];
      const { values, untilMs, lives } = entry;
      return values.map((value, n) => [value, untilMs?.[n], lives?.[n]]);
    })
    .map((value) => JSON.stringify(value))
    .sort();
}

/** The fingerprints of one class are what another needs, where the first keeps them whole. */
export async function movesTo(
  openWorld: () => Promise<World>,
  from: Dupefilter,
  into: readonly Dupefilter[],
): Promise<void> {
  const source = new Crawl(await openWorld(), { dupefilter: from, persist: true });
  try {
    const entries = await readAll(await crawled(source), ['dupefilter']);
    for (const dupefilter of into) {
      const crawl = new Crawl(await openWorld(), { dupefilter, persist: true });
      try {
        const frontier = await crawl.outsider();
        // The bits of another filter are nothing to this one.
        await bringBack(frontier, entries, ['dupefilter']);
        expect((await frontier.snapshot()).seen).toBe(COUNT);
        expect(await frontier.push(pages.slice(500, 1_000), 'links')).toMatchObject({ duplicates: 500 });
        expect(await frontier.push([request('never met')], 'links')).toMatchObject({ accepted: 1 });
      } finally {
        await crawl.end();
      }
    }
  } finally {
    await source.end();
  }
}
