/** Whoever can write to the store names no file, and makes no node cut off what it did not write. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { feedId } from '../../../src/feed-outbox.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { type Engine, engines, projectOn } from '../../helpers/engine-project.js';
import { startSite } from '../../helpers/sites/site.js';

/** A feed as a node leaves it that died: the store knows of items which are not in the file. */
interface Forged {
  readonly path: string;
  /** The file that the feed's id stands for; `path` unless told. */
  readonly file?: string;
  readonly lengthBytes: number;
  readonly sequence: number;
  readonly format: string;
  readonly header: string;
  readonly items: readonly string[];
}

/** Write a feed straight into the store, past crawlnode. */
async function forge(engine: Engine, place: string, feed: Forged): Promise<void> {
  const id = feedId(os.hostname(), feed.file ?? feed.path);
  const last = feed.sequence + feed.items.length;
  if (engine === 'redis') {
    const { path, lengthBytes, sequence, format, header } = feed;
    const client = new Redis(place);
    const record = {
      host: os.hostname(),
      path,
      pid: 1,
      format,
      seenMs: 0,
      staleMs: 1,
      sequence,
      lengthBytes,
      header,
    };
    await client.hset('news:requests:~feeds', id, JSON.stringify(record), `${id}:tail`, last);
    await client.del('news:requests:~outbox');
    for (const [n, item] of feed.items.entries())
      await client.hset('news:requests:~outbox', `${id}:${feed.sequence + 1 + n}`, item);
    client.disconnect();
    return;
  }
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(`${place}/frontier.db`);
  database.exec(`INSERT OR IGNORE INTO space (name) VALUES ('news:requests:~feeds')`);
  const { id: space } = database.prepare(`SELECT id FROM space WHERE name = 'news:requests:~feeds'`).get();
  database
    .prepare('REPLACE INTO feed VALUES (?, ?, ?, ?, 1, ?, NULL, 0, 1, ?, ?, ?, ?, NULL, NULL, 0, NULL, NULL)')
    .run(
      space,
      id,
      os.hostname(),
      feed.path,
      feed.format,
      last,
      feed.sequence,
      feed.lengthBytes,
      feed.header,
    );
  database.exec('DELETE FROM outbox');
  for (const [n, item] of feed.items.entries())
    database
      .prepare('INSERT INTO outbox (space, feed, sequence, text) VALUES (?, ?, ?, ?)')
      .run(space, id, feed.sequence + 1 + n, item);
  database.close();
}

const code = "import fs from 'node:fs'; fs.writeFileSync('pwned', '1');";

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { ROBOTSTXT_OBEY: false },
    files: {
      'spiders/news.ts': `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider { name = 'news'; *parse({ url }: Response) { yield { url }; } }
`,
    },
  });
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const crawl = (...args: string[]) => run('crawl', 'news', '--exit-when-done', ...args);

  async function crawlOnce(...args: string[]): Promise<string> {
    const site = await startSite();
    await run('seed', 'news', site.url);
    const { stdout, stderr, code } = await crawl(...args);
    await site.close();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout + stderr;
  }

  it.each([
    ['cut off', 0],
    ['added to', null],
  ] as const)('a file that the store names is not %s, whatever length it gives', async (_, length) => {
    await crawlOnce();
    const victim = here.project.path('victim.jsonl');
    writeFileSync(victim, '{"mine":1}\n');
    const lengthBytes = length ?? statSync(victim).size;
    await forge(engine, here.place(), {
      ...{ path: victim, lengthBytes, sequence: 3, format: 'jsonl', header: '' },
      items: [code],
    });
    await crawlOnce();
    expect(readFileSync(victim, 'utf8')).toBe('{"mine":1}\n');
    const exported = await run('items', 'news', 'export');
    expect(exported).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/1 items wait: .*start the crawl/),
    });
    expect(readFileSync(victim, 'utf8')).toBe('{"mine":1}\n');
    expect((await run('doctor', 'news')).stdout).toMatch(/problem.*1 committed items wait .*victim\.jsonl/);
  });

  it('a file of another crawl of this user is not written', async () => {
    await crawlOnce('-o', 'other.jsonl', '--job', 'other');
    await run('seed', 'news', 'http://127.0.0.1:1/');
    const file = here.project.path('other.jsonl');
    const before = readFileSync(file, 'utf8');
    await forge(engine, here.place(), {
      ...{ path: file, lengthBytes: before.length, sequence: 1, format: 'jsonl', header: '' },
      items: ['{"forged":1}'],
    });
    await crawlOnce();
    expect((await run('items', 'news', 'export')).code).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('a file of this crawl gets no line that is no item, and loses none that the store has forgotten', async () => {
    await crawlOnce('-o', 'out.jsonl');
    const file = here.project.path('out.jsonl');
    const before = readFileSync(file, 'utf8');
    await forge(engine, here.place(), {
      ...{ path: '/etc/passwd', file, lengthBytes: 0, sequence: 0, format: 'jsonl', header: '["x"]' },
      items: [code, `{"a":\n1}`],
    });
    await crawlOnce();
    const lines = (await here.project.readJsonLines('out.jsonl')) as unknown[];
    expect(lines).toEqual([{ value: code }, { a: 1 }]);
    const [copy] = readdirSync(here.project.dir).filter((name) => name.startsWith('out.jsonl.cut-'));
    expect(await here.project.read(copy!)).toBe(before);
  });

  it('a file that FEEDS names needs no record, and is not cut off without one', async () => {
    await here.project.write('feeds.jsonl', '{"mine":1}\n{"mine":2}\n');
    const feeds = ['-s', 'FEEDS={"feeds.jsonl":{}}'];
    await crawlOnce();
    const file = here.project.path('feeds.jsonl');
    const forged = { path: file, sequence: 1, format: 'jsonl', header: '', items: ['{"n":1}'] };
    await forge(engine, here.place(), { ...forged, lengthBytes: 11 });
    const refused = await run('items', 'news', 'export', ...feeds);
    expect(refused).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('somebody else has written to it'),
    });
    await forge(engine, here.place(), { ...forged, lengthBytes: 22 });
    expect(await run('items', 'news', 'export', ...feeds)).toMatchObject({ code: 0 });
    expect(await here.project.read('feeds.jsonl')).toBe('{"mine":1}\n{"mine":2}\n{"n":1}\n');
  });
});
