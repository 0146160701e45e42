/** What a repair saves of a file whose pages are sound and whose rows are not. */
import { renameSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Connection, connect } from '../../../../src/disk/sqlite.js';
import { salvage } from '../../../../src/frontier/embedded/care/salvage.js';
import { openEmbedded } from '../../../../src/frontier/embedded/embedded-frontier.js';
import { fileIn } from '../../../../src/frontier/embedded/file/wal.js';
import type { Frontier } from '../../../../src/frontier/frontier.js';
import { reading } from '../../../frontier-contract/repair.js';
import { commit, done, request, takeOne } from '../../../frontier-contract/world.js';
import { joinAs } from '../../../helpers/joining.js';
import { defaultShape, openOptions } from '../../../helpers/open-options.js';
import { type TempDir, tempDir } from '../../../helpers/temp-dir.js';

const writer = { feed: 'feed', host: 'here', path: '/items.jsonl', pid: 1, owner: 'w', format: 'jsonl' };
const pages = Array.from({ length: 5 }, (_, n) => request(`p${n}`, { domain: `d${n}.example` }));

let folder: TempDir;
beforeEach(async () => {
  folder = tempDir('salvage');
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  await frontier.push(pages, 'links');
  await frontier.addStats([
    { name: 'last', op: 'set', value: 'a text' },
    { name: 'price', op: 'set', value: 0.5 },
  ]);
  await frontier.close();
});
afterEach(() => folder.remove());

it('stats of the user that are texts or fractions are saved', async () => {
  const { unreadable } = salvage(folder.dir, defaultShape, false);
  expect(unreadable).toEqual([]);
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  expect((await frontier.snapshot()).custom).toEqual({ last: 'a text', price: 0.5 });
  await frontier.close();
});

it('a value of the wrong type costs its row alone, and a request is rebuilt from its record', async () => {
  damageRows(
    `UPDATE request SET priority = 1.5 WHERE domain = 'd1.example'; UPDATE request SET domain = x'00ff' WHERE domain = 'd2.example'`,
  );
  const { unreadable, saved } = salvage(folder.dir, defaultShape, false);
  expect(unreadable).toEqual(['request']);
  expect(saved).toMatchObject({ request: 3, record: 5 });
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  expect(await frontier.repair(reading(...pages), { force: false })).toMatchObject({ pending: 5, failed: 0 });
  expect(await frontier.verify()).toEqual([]);
  await frontier.close();
});

it('entries of an index whose rows are gone are noticed, and a repair rebuilds the rows', async () => {
  losePendingRow('d0.example');
  const before = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  await expect(before.verify()).rejects.toThrow('the index request_pending holds 5 entries for 4 rows');
  await before.close();
  salvage(folder.dir, defaultShape, false);
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  expect(await frontier.repair(reading(...pages), { force: false })).toMatchObject({ pending: 5 });
  expect(await frontier.verify()).toEqual([]);
  expect(await frontier.snapshot()).toMatchObject({ accepted: 5, pending: 5, lost: 0 });
  await frontier.close();
});

it('fingerprints outlive the row that says their class', async () => {
  damageRows('DELETE FROM dupefilter');
  expect(salvage(folder.dir, defaultShape, false).lost).toEqual([]);
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  expect(await frontier.verify()).toContain('I2: fingerprints are recorded, but not of which class they are');
  await frontier.repair(reading(...pages), { force: false });
  expect(await frontier.verify()).toEqual([]);
  expect((await frontier.snapshot()).seen).toBe(5);
  const more = [...pages, request('new')];
  expect(await frontier.push(more, 'links')).toMatchObject({ accepted: 1, duplicates: 5 });
  await frontier.close();
});

/** Delete the request of a domain, but not its entry in the index of pending requests. */
function losePendingRow(domain: string): void {
  const file = fileIn(folder.dir);
  const damaged = writableSchema(file);
  const index = damaged
    .prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = 'request_pending'")
    .get() as Record<string, string | number>;
  damaged.exec("DELETE FROM sqlite_schema WHERE name = 'request_pending'");
  damaged.close();
  const without = writableSchema(file);
  without.exec(`DELETE FROM request WHERE domain = '${domain}'`);
  without.prepare('INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)').run(...Object.values(index));
  without.close();
}

/** Open a file so that its schema can be changed by hand. */
function writableSchema(file: string): Connection {
  const connection = connect(file) as Connection & { enableDefensive(isOn: boolean): void };
  connection.enableDefensive(false);
  connection.exec('PRAGMA writable_schema = ON');
  return connection;
}

it('counters that are gone are named with what to do, and counted anew', async () => {
  const damaged = connect(fileIn(folder.dir));
  damaged.exec('DELETE FROM tally');
  damaged.close();
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  await expect(frontier.snapshot()).rejects.toThrow(/counters of a crawl are gone.*--repair/);
  expect(await frontier.verify()).toEqual(['I4: the counters are gone']);
  expect(await frontier.repair(reading(...pages), { force: false })).toMatchObject({ pending: 5 });
  expect(await frontier.verify()).toEqual([]);
  expect(await frontier.snapshot()).toMatchObject({ accepted: 5, pending: 5, lost: 0 });
  await frontier.close();
});

it('items that wait for a feed whose record is gone are named, and written after a repair', async () => {
  const before = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  await joinAs(before, { feeds: ['feed'] });
  const commitOne = async (frontier: Frontier, item: string) =>
    commit(frontier, await takeOne(frontier), done, { feedItems: [item] });
  await commitOne(before, '{"n":1}');
  await before.feeds.open(writer, { staleMs: 1 });
  await before.feeds.checkpoint(writer, { sequence: 1, lengthBytes: 8, header: '' }, 0);
  await commitOne(before, '{"n":2}');
  await before.leave('signal');
  await before.close();
  const damaged = connect(fileIn(folder.dir));
  damaged.exec('DELETE FROM feed');
  damaged.close();

  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  expect(await frontier.verify()).toEqual(['I4: 1 items wait for the feed feed, and its record is gone']);
  await frontier.repair(reading(...pages), { force: false });
  expect(await frontier.verify()).toEqual([]);
  await joinAs(frontier, { feeds: ['feed'] });
  await commitOne(frontier, '{"n":3}');
  expect(await frontier.feeds.open(writer, { staleMs: 1 })).toBeNull();
  expect(await frontier.feeds.read('feed', 0, 9)).toEqual(['{"n":2}', '{"n":3}']);
  await frontier.close();
});

it('a lease that meets an index entry without its row says that the store is damaged', async () => {
  losePendingRow('d0.example');
  const frontier = await openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
  await joinAs(frontier);
  await expect(frontier.lease(5, 0)).rejects.toThrow(/is damaged .*which has no row.*--repair/);
  await frontier.close();
});

/** Copy all to a file whose table of requests is not STRICT: it holds what a damaged byte makes of a value. */
function damageRows(change: string): void {
  const file = fileIn(folder.dir);
  const copy = connect(`${file}.copy`);
  copy.exec(`PRAGMA auto_vacuum = INCREMENTAL; ATTACH '${file}' AS sound`);
  const parts = copy
    .prepare(
      `SELECT name, type, sql FROM sound.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`,
    )
    .all() as { name: string; type: string; sql: string }[];
  for (const { name, type, sql } of parts) {
    copy.exec(name === 'request' ? sql.replace(') STRICT', ')') : sql);
    if (type === 'table') copy.exec(`INSERT INTO main.${name} SELECT * FROM sound.${name}`);
  }
  copy.exec(change);
  copy.close();
  renameSync(`${file}.copy`, file);
}
