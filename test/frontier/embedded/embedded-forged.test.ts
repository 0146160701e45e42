/** Values that somebody has forged in the file: what no verb has written ends no verb, and no request is lost by it. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/disk/sqlite.js';
import { openEmbedded } from '../../../src/frontier/embedded/embedded-frontier.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import { commit, effects, nameOf, request, retry, take } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
import { openOptions } from '../../helpers/open-options.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';

const names = ['done', 'a', 'b', 'c', 'd', 'leased', 'delayed'];
/** Which crawl and which request a row is of; and the requests themselves. A state of a request that is none is found as a stall. */
const identity = new Set([
  ...['space', 'id', 'n', 'number', 'crawl_id', 'format', 'shape', 'queue_class', 'dupefilter', 'choice'],
  ...['domain', 'feed', 'jar', 'name', 'origin', 'text', 'sequence', 'restoring'],
]);
const junk: Readonly<Record<string, readonly [string | number | bigint, ...(string | number | bigint)[]]>> = {
  INTEGER: [-1n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)],
  REAL: [-1, 1e308],
  TEXT: ['x', 'null', '{"a":[]}', ''],
  ANY: [9007199254740993n, 'x', -1.5],
};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

function byTable(columns: readonly Column[]): Map<string, Column[]> {
  const tables = new Map<string, Column[]>();
  for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
  return tables;
}

const opened = (dir: string): Promise<Frontier> => openEmbedded(openOptions(dir, 'news'), dir);

describe('in a file', () => {
  let folder: TempDir;
  let stored: string;
  let made = 0;
  beforeAll(async () => {
    folder = tempDir('forged');
    stored = join(folder.dir, 'stored');
    const frontier = await opened(stored);
    await joinAs(frontier, { feeds: ['feed'] });
    await frontier.push([request('done'), request('delayed')], 'links');
    const [first, second] = await take(frontier, 2);
    await commit(frontier, first!, undefined, effects({ stats: { 'response/count': 1 } }));
    await commit(frontier, second!, retry(second!, 20));
    await frontier.push([request('leased')], 'links');
    await take(frontier, 1);
    await frontier.push(
      ['a', 'b', 'c', 'd'].map((name) => request(name, { domain: `${name}.example` })),
      'links',
    );
    await frontier.close();
    // Its process is gone, so that its lease is given back.
    forge(stored, 'UPDATE node SET is_dead = 1');
  });
  afterAll(() => folder.remove());

  function forge(dir: string, statement: string, ...values: (string | bigint | number)[]): void {
    const connection = connect(fileIn(dir));
    connection.prepare(statement).run(...values);
    // The copies are of the file alone.
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    connection.close();
  }

  function columns(): Column[] {
    const connection = connect(fileIn(stored));
    try {
      return connection
        .prepare(`SELECT m.name AS "table", c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'
          AND m.name NOT LIKE 'sqlite_%'`)
        .all() as Column[];
    } finally {
      connection.close();
    }
  }

  /** A store with one forged column; null where no row has it. */
  function forged(statement: string, ...values: (string | bigint | number)[]): string {
    made += 1;
    const dir = join(folder.dir, String(made));
    mkdirSync(dir);
    cpSync(fileIn(stored), fileIn(dir));
    forge(dir, statement, ...values);
    return dir;
  }

  /** Crawl what is left. @returns the names of what was given out */
  async function rest(dir: string): Promise<string[]> {
    const frontier = await opened(dir);
    try {
      await frontier.snapshot();
      await joinAs(frontier, { feeds: ['feed'] });
      await frontier.recover(() => {});
      const found: string[] = [];
      for (const endsAt = performance.now() + 3_000; found.length < 6 && performance.now() < endsAt; ) {
        for (const lease of (await frontier.lease(10, 0)).leases) {
          found.push(nameOf(lease));
          await commit(frontier, lease);
        }
      }
      await frontier.snapshot();
      return found.sort();
    } finally {
      await frontier.close();
    }
  }

  it.each([0, 1, 2, 3])(
    'junk in all columns of a table loses no request, and is counted (%i)',
    { timeout: 60_000 },
    async (n) => {
      const broken: string[] = [];
      const tables = byTable(
        columns().filter(
          ({ table, name, type }) =>
            !identity.has(name) && type in junk && `${table}.${name}` !== 'request.state',
        ),
      );
      for (const [table, found] of tables) {
        const values = found.map(({ type }) => junk[type]![n % junk[type]!.length]!);
        const dir = forged(
          `UPDATE ${table} SET ${found.map(({ name }) => `${name} = ?`).join(', ')}`,
          ...values,
        );
        try {
          const given = await rest(dir);
          const missing = names.filter((each) => each !== 'done' && !given.includes(each));
          if (missing.length > 0) broken.push(`${table}: without ${missing.join(', ')}`);
        } catch (error) {
          broken.push(`${table}: ${(error as Error).message.replaceAll(folder.dir, '')}`.slice(0, 300));
        }
      }
      expect(broken).toEqual([]);
    },
  );
});
