/** Rows that somebody changes under a live node: a crawl is over only when its rows say so, whatever the counters say. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/disk/sqlite.js';
import { salvage } from '../../../src/frontier/embedded/care/salvage.js';
import { openEmbedded } from '../../../src/frontier/embedded/embedded-frontier.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import { startKey } from '../../../src/frontier/shared-settings/run-arguments.js';

import { reading } from '../../frontier-contract/repair.js';
import { commit, nameOf, request, retry, take } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
import { openOptions } from '../../helpers/open-options.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';

const pages = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => request(name, { domain: `${name}.example` }));
const args = { section: 'all' };
const requestCounters = 'pending = 0, suspects = 0, delayed = 0, leased = 0';

describe('a crawl in a file', () => {
  let folder: TempDir;
  let dir: string;
  let frontier: Frontier;
  beforeEach(async () => {
    folder = tempDir('hands');
    dir = join(folder.dir, 'store');
    frontier = await openEmbedded(openOptions(dir, 'news'), dir);
    await joinAs(frontier, { hasStart: true, args });
  });
  afterEach(async () => {
    await frontier.close();
    await folder.remove();
  });

  function hand(statement: string): void {
    const connection = connect(fileIn(dir));
    connection.exec(statement);
    connection.close();
  }

  /** Crawl to the end. @returns the names of what was given out */
  async function rest(): Promise<string[]> {
    const found: string[] = [];
    for (const endsAt = performance.now() + 10_000; performance.now() < endsAt; ) {
      const { leases, crawl } = await frontier.lease(10, 0);
      for (const lease of leases) {
        found.push(nameOf(lease));
        await commit(frontier, lease, undefined, { items: ['{}'] });
      }
      if (crawl.finished) return found.sort();
    }
    throw new Error(`not finished; given out: ${found}`);
  }

  it('begins anew for a node under which an older copy was put in its place, so that links it knows are sent again', async () => {
    await frontier.push(pages, 'start', { from: 0, total: pages.length, key: startKey(args) });
    const [first] = await take(frontier, 1);
    await commit(frontier, first!);
    const copy = join(folder.dir, 'copy.db');
    hand(`VACUUM INTO '${copy}'`);
    const epochOf = async () => {
      const [lease] = await take(frontier, 1);
      return (await commit(frontier, lease!)).epoch;
    };
    const before = await epochOf();
    const connection = connect(fileIn(dir));
    const tables = connection
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all() as { name: string }[];
    const rows = tables.map(
      ({ name }) => `DELETE FROM main.${name}; INSERT INTO main.${name} SELECT * FROM old.${name};`,
    );
    connection.exec(`ATTACH '${copy}' AS old; BEGIN IMMEDIATE; ${rows.join(' ')} COMMIT`);
    connection.close();
    await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'store_replaced' });
    await joinAs(frontier, { hasStart: true, args });
    expect(await epochOf()).not.toBe(before);
    expect(await rest()).toHaveLength(4);
  });

  it.each([
    ['counters say that no request is left', `UPDATE tally SET ${requestCounters}`],
    ['counters say that fewer are left than none', 'UPDATE tally SET pending = pending - 4'],
    ['keys have no names', 'DELETE FROM space'],
    ['key has another name', "UPDATE space SET name = 'x' WHERE is_crawl"],
    ['key has a name of 64 MB', 'UPDATE space SET name = hex(zeroblob(32000000)) WHERE is_crawl'],
    ['row has a name of 64 MB', 'UPDATE crawl SET name = hex(zeroblob(32000000))'],
    ['domains are in no state', "UPDATE domain SET state = 'x', until = NULL"],
    ['domains have negative numbers', 'UPDATE domain SET active = -1, next_at = -5'],
    ['run cannot be read', "UPDATE crawl SET run = 'x'"],
    ['run has budgets that cannot be read', "UPDATE crawl SET run = json_set(run, '$.budgets', 'x')"],
    ['tunables cannot be read', "UPDATE crawl SET tunables = json_remove('{}', '$.x')"],
  ])('whose %s is crawled to its end, and each page once', { timeout: 30_000 }, async (_, statement) => {
    await frontier.push(pages, 'start', { from: 0, total: pages.length, key: startKey(args) });
    const [first, second] = await take(frontier, 2);
    await commit(frontier, first!, undefined, { items: ['{}'] });
    await commit(frontier, second!, retry(second!, 50));
    hand(statement);
    const found = await rest();
    expect([...found, nameOf(first!)].sort()).toEqual(pages.map(({ record }) => nameOf({ record } as never)));
    expect(await frontier.push(pages, 'links')).toMatchObject({ accepted: 0 });
    expect(await frontier.snapshot()).toMatchObject({ done: 6, lost: 0, items: 6, seen: 6 });
    expect(await frontier.verify()).toEqual([]);
  });

  it.each([
    ['counter says 0', 'UPDATE space SET entries = 0'],
    ['key has no name', "DELETE FROM space WHERE name LIKE '%start_urls'"],
  ])('with seeds whose %s is not over before they are read', async (_, statement) => {
    await frontier.push([], 'start', { from: 0, total: 0, key: startKey(args) });
    await frontier.push(pages.slice(0, 1), 'links');
    await frontier.appendSeeds(['https://seed.example']);
    await commit(frontier, (await take(frontier, 1))[0]!);
    hand(statement);
    expect((await frontier.lease(1, 0)).crawl).toMatchObject({ finished: false, seedsWaiting: 1 });
    expect(await frontier.peekSeeds(9)).toHaveLength(1);
  });

  it.each([
    ['budgets', "UPDATE crawl SET run = json_set(run, '$.budgets', 'x')", { maxPages: 1 }],
    ['delays', "UPDATE crawl SET tunables = 'x'", {}],
  ])(
    'whose %s cannot be read has those of the node that asks, which says so',
    async (what, statement, budgets) => {
      await frontier.leave('shutdown');
      await joinAs(frontier, { args, budgets, tunables: { delayMs: 7 } });
      await frontier.push(pages, 'links');
      await commit(frontier, (await take(frontier, 1))[0]!);
      hand(statement);
      const { leases, crawl } = await frontier.lease(1, 0);
      expect(crawl.notices).toEqual([expect.stringContaining(what)]);
      expect(leases.map(({ delayMs }) => delayMs)).toEqual(what === 'budgets' ? [] : [7]);
      expect((await frontier.lease(1, 1)).crawl).not.toHaveProperty('notices');
    },
  );

  it('whose latest requests somebody deletes takes further ones, and has those again after a repair', async () => {
    await frontier.push(pages, 'links');
    hand('DELETE FROM request WHERE n > (SELECT max(n) - 2 FROM request)');
    expect(await frontier.push([request('more')], 'links')).toMatchObject({ accepted: 1 });
    const read = reading(...pages, request('more'));
    expect(await frontier.repair(read, { force: true })).toMatchObject({ pending: 7, losses: [] });
  });

  it('whose row somebody deletes is a problem to doctor, without looking deeply', async () => {
    await frontier.push(pages, 'links');
    hand('DELETE FROM crawl');
    const other = await openEmbedded(openOptions(dir, 'news'), dir);
    const problems = (await other.examine()).filter(({ level }) => level === 'problem');
    await other.close();
    expect(problems).toMatchObject([
      { check: 'record', message: expect.stringContaining('of a crawl that is not there') },
    ]);
  });

  it('of whose nodes somebody has written over what the file says gives their items to their feeds', async () => {
    await frontier.leave('shutdown');
    await joinAs(frontier, { args, feeds: ['feed'] });
    await frontier.push(pages, 'links');
    const [lease] = await take(frontier, 1);
    const connection = connect(fileIn(dir));
    const names = connection.prepare("SELECT name FROM pragma_table_info('node') WHERE type = 'TEXT'").all();
    for (const { name } of names as { name: string }[]) connection.exec(`UPDATE node SET ${name} = '[]'`);
    connection.close();
    await commit(frontier, lease!, undefined, { feedItems: ['{"n":1}'] });
    expect(await frontier.feeds.read('feed', 0, 9)).toEqual(['{"n":1}']);
  });

  it('whose feed is said to have items that wait goes on where it was', async () => {
    const writer = { feed: 'feed', host: 'here', path: '/o', pid: process.pid, owner: 'w', format: 'jsonl' };
    await frontier.leave('shutdown');
    await joinAs(frontier, { args, feeds: ['feed'] });
    await frontier.push(pages, 'links');
    const [last, ...leases] = await take(frontier, 6);
    for (const lease of leases) await commit(frontier, lease, undefined, { feedItems: ['{}'] });
    hand('UPDATE feed SET last = -1, written = -1');
    await commit(frontier, last!, undefined, { feedItems: ['{}'] });
    await frontier.feeds.open(writer, { staleMs: 30_000 });
    await frontier.feeds.checkpoint(writer, { sequence: 2, lengthBytes: 6, header: '' }, 0);
    hand('UPDATE feed SET written = written + 3');
    expect(await frontier.feeds.read('feed', 2, 9)).toHaveLength(4);
    hand('UPDATE feed SET written = written + 3');
    expect(await frontier.feeds.open(writer, { staleMs: 30_000 })).toMatchObject({ sequence: 2 });
    hand(`UPDATE feed SET owner = 'x', host = 'elsewhere', seen_at = ${Number.MAX_SAFE_INTEGER}`);
    expect(await frontier.feeds.open(writer, { staleMs: 30_000 })).toMatchObject({ sequence: 2 });
  });

  it.each([
    ['no checkpoint', 'written_bytes = NULL', 1],
    ['a checkpoint below 0', 'written_bytes = -1', 1],
    ['numbers below 0', 'last = -1, written = -1', 0],
  ])('whose feed has %s is written on after a repair at most', async (_, change, lost) => {
    const writer = { feed: 'feed', host: 'here', path: '/o', pid: process.pid, owner: 'w', format: 'jsonl' };
    await frontier.push(pages, 'links');
    await frontier.leave('shutdown');
    await joinAs(frontier, { args, feeds: ['feed'] });
    const leases = await take(frontier, 6);
    await commit(frontier, leases[0]!, undefined, { feedItems: ['{}'] });
    await frontier.feeds.open(writer, { staleMs: 30_000 });
    await frontier.feeds.checkpoint(writer, { sequence: 1, lengthBytes: 3, header: '' }, 0);
    await frontier.feeds.release(writer);
    hand(`UPDATE feed SET ${change}`);
    if (lost > 0) {
      await expect(frontier.feeds.open(writer, { staleMs: 30_000 })).rejects.toMatchObject({
        code: 'outbox_damaged',
      });
      await frontier.repair(reading(...pages), { force: true });
      await joinAs(frontier, { args, feeds: ['feed'] });
    }
    const checkpoint = await frontier.feeds.open(writer, { staleMs: 30_000 });
    const lease = lost > 0 ? (await take(frontier, 1))[0]! : leases[1]!;
    await commit(frontier, lease, undefined, { feedItems: ['{"n":2}'] });
    expect(await frontier.feeds.read('feed', checkpoint?.sequence ?? 0, 9)).toEqual(['{"n":2}']);
    expect(await frontier.snapshot()).toMatchObject({ lost });
    expect(await frontier.verify()).toEqual([]);
  });

  it.each(['x', ''])(
    'in which somebody says that a backup is being brought back (%j) goes on by a repair',
    async (id) => {
      await frontier.push(pages, 'links');
      await frontier.leave('shutdown');
      hand(`UPDATE crawl SET restoring = '${id}'`);
      await expect(joinAs(frontier, { args })).rejects.toMatchObject({
        code: 'restoring',
        message: expect.stringContaining('--repair'),
      });
      expect(await frontier.verify()).toEqual(['a backup was brought back only in part']);
      expect(await frontier.repair(reading(...pages), { force: false })).toMatchObject({
        losses: ['the rest of a backup that was brought back only in part'],
      });
      expect(await frontier.verify()).toEqual([]);
      await joinAs(frontier, { args });
      expect(await rest()).toHaveLength(6);
    },
  );

  /** Close it, and leave what a process leaves that was killed: it closes nothing. */
  async function closeAsKilled(): Promise<void> {
    const users = join(dir, 'users');
    const [user] = readdirSync(users);
    const killed = { ...JSON.parse(readFileSync(join(users, user!), 'utf8')), pid: 2 ** 30 };
    expect(killed).toMatchObject({ wroteTo: expect.any(String) });
    await frontier.close();
    writeFileSync(join(users, 'killed.json'), JSON.stringify(killed));
    rmSync(`${fileIn(dir)}-wal`, { force: true });
  }

  it('that was replaced by a sound copy after a kill goes on from there', async () => {
    await frontier.push(pages, 'links');
    const copy = join(folder.dir, 'copy.db');
    hand(`VACUUM INTO '${copy}'`);
    await frontier.push([request('later')], 'links');
    await closeAsKilled();
    renameSync(copy, fileIn(dir));
    frontier = await openEmbedded(openOptions(dir, 'news'), dir);
    expect(await frontier.snapshot()).toMatchObject({ pending: 6 });
  });

  it('whose log was deleted after a kill is a damaged one, until a repair', async () => {
    await frontier.push(pages, 'links');
    await frontier.leave('shutdown');
    await closeAsKilled();
    await expect(openEmbedded(openOptions(dir, 'news'), dir)).rejects.toMatchObject({
      code: 'damaged_store',
      message: expect.stringMatching(/frontier.db-wal was deleted/),
    });
    salvage(dir, { queueClass: 'PriorityQueue', dupefilter: null }, false);
    frontier = await openEmbedded(openOptions(dir, 'news'), dir);
    expect(await frontier.snapshot()).toMatchObject({ pending: 6 });
  });

  it('is left by a process that ends without closing it, whatever SQLite then does with the log', async () => {
    await frontier.close();
    const internal = new URL('../../../dist/internal.js', import.meta.url).href;
    const options = JSON.stringify(openOptions(dir, 'news'));
    const code = `const { openEmbedded } = await import('${internal}');
      const frontier = await openEmbedded(${options}, ${JSON.stringify(dir)});
      await frontier.push([${JSON.stringify(request('a'))}], 'links');
      process.exit(0);`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
    expect(readdirSync(join(dir, 'users'))).toEqual([]);
    frontier = await openEmbedded(openOptions(dir, 'news'), dir);
    expect(await frontier.snapshot()).toMatchObject({ pending: 1 });
  });

  it.each(['-wal', '-shm'])('whose file %s is deleted ends the process that has it open', async (end) => {
    await frontier.push(pages, 'links');
    rmSync(fileIn(dir) + end);
    await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
  });

  it('whose dupefilter has no name takes no page for new', async () => {
    await frontier.push(pages, 'links');
    hand("DELETE FROM space WHERE name = 'news:dupefilter'");
    expect(await frontier.push([...pages, request('new')], 'links')).toMatchObject({ accepted: 1 });
    expect(await frontier.snapshot()).toMatchObject({ seen: 7 });
  });
});
