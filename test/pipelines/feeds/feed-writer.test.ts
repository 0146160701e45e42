/** Feed files hold every committed item once, whatever fails or is killed in between. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, rm, truncate } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FrontierUnavailableError, RefusedError, UsageError } from '../../../src/errors.js';
import {
  type FeedChange,
  type FeedCheckpoint,
  type FeedWriter,
  feedId,
  type Outbox,
} from '../../../src/feed-outbox.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { feedRolledBack } from '../../../src/frontier/feed-claim.js';
import { type Frontier, noEffects } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { silentLogger } from '../../../src/log.js';
import { FeedDisk } from '../../../src/pipelines/feeds/feed-disk.js';
import { FeedRecords } from '../../../src/pipelines/feeds/feed-records.js';
import { type FeedFile, type FeedOptions, openFeedWriter } from '../../../src/pipelines/feeds/feed-writer.js';
import type { FeedFormatName } from '../../../src/pipelines/feeds/formats/feed-format.js';
import { request, take } from '../../frontier-contract/world.js';
import { engines } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { openOptions } from '../../helpers/open-options.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';
import { waitFor } from '../../helpers/wait-for.js';

let folder: TempDir;
const opened: FeedFile[] = [];
beforeEach(() => {
  folder = tempDir('feed');
});
afterEach(async () => {
  for (const file of opened.splice(0)) await file.close().catch(() => {});
  await folder.remove();
});

/** The outbox as the contract has it, in memory: what is tested here is the file. */
class MemoryOutbox implements Outbox {
  readonly items: string[] = [];
  saved: FeedCheckpoint | null = null;
  /** Called before a checkpoint is answered, after it was stored. */
  onCheckpoint = () => {};
  checkpoints = 0;

  async open() {
    return this.saved;
  }
  /** The next read finds less than its writer knows of. */
  isRolledBack = false;

  async read(_feed: string, sequence: number, max: number) {
    if (this.isRolledBack) {
      this.isRolledBack = false;
      throw feedRolledBack();
    }
    // Like the stores: what a checkpoint covers is gone, and is not asked for again.
    expect(sequence).toBeGreaterThanOrEqual(this.saved?.sequence ?? 0);
    return this.items.slice(sequence, sequence + max);
  }
  async checkpoint(_writer: FeedWriter, checkpoint: FeedCheckpoint) {
    this.saved = checkpoint;
    this.checkpoints += 1;
    this.onCheckpoint();
  }
  /** What the store was told of the file. */
  change: FeedChange | null = null;
  async noteChange(_feed: string, change: FeedChange) {
    this.change = change;
  }
  async release() {}

  add(...items: object[]) {
    for (const item of items) this.items.push(JSON.stringify(item));
  }
}

const at = (name: string) => join(folder.dir, name);
const text = (name: string) => readFileSync(at(name), 'utf8');

async function open(name: string, feeds: Outbox, more: Partial<FeedOptions> = {}): Promise<FeedFile> {
  const path = at(name);
  const host = hostname();
  const file = await openFeedWriter({
    feeds,
    writer: { feed: feedId(host, path), host, path, pid: process.pid, owner: `${opened.length}` },
    path,
    format: name.slice(name.indexOf('.') + 1) as FeedFormatName,
    overwrite: false,
    staleMs: 30_000,
    log: silentLogger,
    ...more,
  });
  opened.push(file);
  return file;
}

test('committed items are written in order, and only new ones by the next drain', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('deep/er/a.jsonl', outbox);
  expect(text('deep/er/a.jsonl')).toBe('');
  outbox.add({ n: 1 }, { n: 'ü' });
  expect(await file.drain()).toBe(2);
  expect(await file.drain()).toBe(0);
  outbox.add({ n: 3 });
  expect(await file.drain()).toBe(1);
  expect(text('deep/er/a.jsonl')).toBe('{"n":1}\n{"n":"ü"}\n{"n":3}\n');
  expect(outbox.saved).toMatchObject({ sequence: 3, lengthBytes: 8 + 11 + 8, header: '' });
  expect(file.items).toBe(3);
});

test('more items than one batch are all written', async () => {
  const outbox = new MemoryOutbox();
  outbox.add(...Array.from({ length: 2500 }, (_, n) => ({ n })));
  const file = await open('a.json', outbox);
  expect(await file.drain()).toBe(2500);
  expect(JSON.parse(text('a.json')).map(({ n }: { n: number }) => n)).toEqual([...Array(2500).keys()]);
});

test('a json file is a valid list at every checkpoint and after a restart', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.json', outbox);
  outbox.onCheckpoint = () => expect(JSON.parse(text('a.json'))).toHaveLength(outbox.saved!.sequence);
  expect(JSON.parse(text('a.json'))).toEqual([]);
  outbox.add({ n: 1 });
  await file.drain();
  outbox.add({ n: 2 });
  await file.drain();
  await file.close();
  const again = await open('a.json', outbox);
  expect(JSON.parse(text('a.json'))).toEqual([{ n: 1 }, { n: 2 }]);
  outbox.add({ n: 3 });
  await again.drain();
  expect(JSON.parse(text('a.json'))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('a csv file goes on with its columns after a restart, and says once which fields have none', async () => {
  const outbox = new MemoryOutbox();
  outbox.add({ a: 1, b: 2 });
  await (await open('a.csv', outbox)).drain();
  const warnings: object[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const again = await open('a.csv', outbox, { log });
  outbox.add({ b: 4, c: 5, a: 3 });
  await again.drain();
  outbox.add({ d: 6 });
  await again.drain();
  expect(text('a.csv')).toBe('a,b\r\n1,2\r\n3,4\r\n,\r\n');
  expect(warnings).toEqual([{ file: at('a.csv'), fields: ['c'] }]);
});

/** A file of two items, and what a writer that dies while it writes two more may leave behind them. */
async function crashed(format: FeedFormatName) {
  const outbox = new MemoryOutbox();
  const name = `a.${format}`;
  outbox.add({ n: 1, s: 'x' }, { n: 2, s: 'x' });
  await (await open(name, outbox)).drain();
  const saved = outbox.saved!;
  const good = readFileSync(at(name));
  outbox.add({ n: 3, s: 'ü' }, { n: 4, s: 'x' });
  await (await open(name, outbox)).drain();
  const whole = readFileSync(at(name));
  outbox.saved = saved;
  // More was committed since, so the next writer's batch is another one.
  outbox.add({ n: 5, s: 'x' });
  return { outbox, name, good, whole, from: saved.lengthBytes };
}

test.each<FeedFormatName>(['jsonl', 'json', 'csv', 'xml', 'jsonl.gz', 'json.gz'])(
  'what a crash left after the last checkpoint of a %s file is cut off, wherever its write ended',
  async (format) => {
    const { outbox, name, good, whole, from } = await crashed(format);
    const expected = [1, 2, 3, 4, 5];
    for (let end = from; end <= whole.length; end += 1) {
      const torn = Buffer.concat([whole.subarray(0, end), good.subarray(end)]);
      // A power cut: the file has its length, and not yet its bytes.
      const zeros = Buffer.concat([whole.subarray(0, end), Buffer.alloc(whole.length - end)]);
      for (const left of [torn, zeros]) {
        writeFileSync(at(name), left);
        const copy = Object.assign(new MemoryOutbox(), { saved: outbox.saved });
        copy.items.push(...outbox.items);
        const file = await open(name, copy);
        expect(readFileSync(at(name)), `${end} of ${whole.length}`).toEqual(good);
        await file.drain();
        await file.close();
        expect(numbers(format, at(name)), `${end} of ${whole.length}`).toEqual(expected);
      }
    }
  },
);

test.each<FeedFormatName>(['jsonl', 'json', 'csv', 'xml', 'jsonl.gz'])(
  'nothing that somebody else wrote to a %s file is cut off, whatever length the store gives',
  async (format) => {
    const { outbox, name, whole, from } = await crashed(format);
    const { sequence, header } = outbox.saved!;
    const foreign = Buffer.concat([whole, Buffer.from('mine\n')]);
    writeFileSync(at(name), foreign);
    const forged = [0, 1, 3, from, from - 1, -1, 1.5, 1e300, Number.NaN, '0', null] as number[];
    for (const lengthBytes of forged) {
      outbox.saved = { sequence, lengthBytes, header };
      await expect(open(name, outbox), String(lengthBytes)).rejects.toMatchObject({ code: 'feed_changed' });
      expect(readFileSync(at(name))).toEqual(foreign);
    }
    expect(readdirSync(folder.dir)).toEqual([name]);
  },
);

describe('a file that somebody changed, once the loss is accepted,', () => {
  const records = () => new FeedRecords(at('records'), 'news:requests');
  const copies = () => readdirSync(folder.dir).filter((name) => name.startsWith('a.jsonl.cut-'));
  const heard: { readonly fields: object; readonly message: string }[] = [];
  const log = {
    ...silentLogger,
    warn: (fields: object, message: string) => void heard.push({ fields, message }),
  };
  beforeEach(() => void heard.splice(0));
  /** An outbox of four items, three of which were written behind a line of somebody else. */
  const written = async () => {
    const outbox = new MemoryOutbox();
    writeFileSync(at('a.jsonl'), '{"old":1}\n');
    outbox.add({ n: 1 }, { n: 2 }, { n: 3 });
    const file = await open('a.jsonl', outbox, { records: records() });
    await file.drain();
    await file.close();
    outbox.add({ n: 4 });
    return outbox;
  };
  const goOn = async (outbox: MemoryOutbox, how: Partial<FeedOptions> = {}) => {
    const saved = outbox.saved!;
    outbox.open = async () => ({ ...saved, isGivenUp: true });
    const file = await open('a.jsonl', outbox, { log, records: records(), ...how });
    await file.drain();
    await file.close();
    outbox.open = async () => outbox.saved;
  };

  test.each([[false], [true]])(
    'goes on behind its last whole line where it was cut, with -O: %s, and says how many items are missing',
    async (overwrite) => {
      const outbox = await written();
      truncateSync(at('a.jsonl'), 10 + 8 + 3);
      const change = { change: { items: 2 } };
      await expect(open('a.jsonl', outbox, { records: records() })).rejects.toMatchObject(change);
      await goOn(outbox, { overwrite });
      expect(text('a.jsonl')).toBe('{"old":1}\n{"n":1}\n{"n":4}\n');
      expect(copies().map(text)).toEqual(['{"n']);
      const message = expect.stringMatching(/goes on behind what is left of it/);
      const copy = at(copies()[0]!);
      expect(heard).toEqual([{ message, fields: { file: at('a.jsonl'), bytes: 18, without: 2, copy } }]);
      // It is as any other file of the crawl now, of which the first line is another's.
      truncateSync(at('a.jsonl'), 10);
      await expect(open('a.jsonl', outbox, { records: records() })).rejects.toMatchObject({
        message: expect.stringContaining(copy),
      });
    },
  );

  test('keeps what it holds where that is not what the crawl wrote, and the log does not say that it is begun anew', async () => {
    const outbox = await written();
    writeFileSync(at('a.jsonl'), '{"old":1}\n{"n":1}\n{"n":8}\n{"n":9}\n');
    writeFileSync(at('a.jsonl.cut-2026-01-01'), '{"n":2}\n{"n":3}\n');
    await expect(open('a.jsonl', outbox, { records: records() })).rejects.toThrow(
      /does not hold what this job has written before byte 34: .* kept what it cut off in .*a\.jsonl\.cut-2026-01-01; or somebody/,
    );
    await goOn(outbox);
    expect(text('a.jsonl')).toBe('{"old":1}\n{"n":1}\n{"n":8}\n{"n":9}\n{"n":4}\n');
    expect(heard.map(({ message }) => message)).toEqual([
      expect.stringMatching(/keeps what it holds .* may be missing, and others may be in it twice/),
    ]);
  });

  test('is begun anew where nothing of it is left', async () => {
    const outbox = await written();
    rmSync(at('a.jsonl'));
    await goOn(outbox);
    expect(text('a.jsonl')).toBe('{"n":4}\n');
    expect(heard).toEqual([
      {
        message: expect.stringContaining('begun anew'),
        fields: { file: at('a.jsonl'), bytes: 0, without: 3 },
      },
    ]);
  });

  test('has no half line in its middle either where the store has forgotten it', async () => {
    await written();
    truncateSync(at('a.jsonl'), 10 + 8 + 3);
    const outbox = new MemoryOutbox();
    outbox.add({ n: 5 });
    const file = await open('a.jsonl', outbox, { log, records: records() });
    await file.drain();
    expect(text('a.jsonl')).toBe('{"old":1}\n{"n":1}\n{"n":5}\n');
    expect(copies().map(text)).toEqual(['{"n']);
  });
});

test('a file with items of a crawl that the store does not know any more is named, unless it is begun anew', async () => {
  const records = () => new FeedRecords(at('records'), 'news:requests');
  const warnings: unknown[] = [];
  const log = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
  writeFileSync(at('a.jsonl'), '{"old":1}\n');
  const write = async (how: Partial<FeedOptions> = {}) => {
    const outbox = new MemoryOutbox();
    outbox.add({ n: 1 });
    const file = await open('a.jsonl', outbox, { log, records: records(), ...how });
    await file.drain();
    await file.close();
  };
  await write();
  expect(warnings).toEqual([]);
  await write();
  expect(warnings).toEqual([expect.stringMatching(/items of an earlier crawl .* -O begins it anew/)]);
  expect(text('a.jsonl')).toBe('{"old":1}\n{"n":1}\n{"n":1}\n');
  await write({ overwrite: true });
  expect(warnings).toHaveLength(1);
});

test('a file that its own record shows to be longer than the store knows goes back with the store, and keeps a copy', async () => {
  const outbox = new MemoryOutbox();
  const records = () => new FeedRecords(at('records'), 'news:requests');
  const write = async (...of: Parameters<typeof open>) => {
    const file = await open(...of);
    await file.drain();
    await file.close();
  };
  outbox.add({ n: 1 });
  await write('a.jsonl', outbox, { records: records() });
  const older = outbox.saved;
  outbox.add({ n: 2 }, { n: 3 });
  await write('a.jsonl', outbox, { records: records() });
  const newer = outbox.saved;
  // The store is restored from an older copy, and gives one item anew.
  outbox.saved = older;
  outbox.items.splice(1, 2, '{"n":4}');
  const warnings: { copy?: string }[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  await expect(open('a.jsonl', outbox, { log })).rejects.toMatchObject({ code: 'feed_changed' });
  await write('a.jsonl', outbox, { log, records: records() });
  expect(text('a.jsonl')).toBe('{"n":1}\n{"n":4}\n');
  expect(readFileSync(warnings[0]!.copy!, 'utf8')).toBe('{"n":2}\n{"n":3}\n');
  expect(statSync(warnings[0]!.copy!).mode & 0o777).toBe(0o600);
  // Its later data are there again.
  outbox.saved = newer;
  await expect(open('a.jsonl', outbox)).rejects.toThrow(warnings[0]!.copy);
  // What was in the file before the crawl is not part of the record.
  writeFileSync(at('b.jsonl'), '{"old":1}\n{"old":2}\n');
  const other = new MemoryOutbox();
  await write('b.jsonl', other, { records: records() });
  other.saved = { ...other.saved!, lengthBytes: 10 };
  await expect(open('b.jsonl', other, { records: records() })).rejects.toMatchObject({
    code: 'feed_changed',
  });
  expect(text('b.jsonl')).toBe('{"old":1}\n{"old":2}\n');
});

test.each([
  ['renamed', () => renameSync(at('a.jsonl'), at('b.jsonl'))],
  ['removed', () => rmSync(at('a.jsonl'))],
  ['replaced', () => renameSync(at('other.jsonl'), at('a.jsonl'))],
  ['truncated', () => truncateSync(at('a.jsonl'), 3)],
])('a file that is %s under its writer gets no more items, and they wait', async (_, change) => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox);
  outbox.add({ n: 1 });
  await file.drain();
  writeFileSync(at('other.jsonl'), '{"n":1}\n');
  change();
  outbox.add({ n: 2 });
  await expect(file.drain()).rejects.toMatchObject({ code: 'feed_changed' });
  expect(outbox.saved).toMatchObject({ sequence: 1 });
  expect(file.failing).toContain('writes the items that wait');
});

test('a checkpoint that somebody deletes cuts nothing off', async () => {
  const outbox = new MemoryOutbox();
  const errors: string[] = [];
  const log = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) };
  const file = await open('a.jsonl', outbox, { log, overwrite: true });
  outbox.add({ n: 1 }, { n: 2 });
  await file.drain();
  outbox.saved = null;
  outbox.items.splice(0);
  outbox.isRolledBack = true;
  outbox.add({ n: 3 });
  await file.drain();
  expect(text('a.jsonl')).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
  expect(errors).toEqual([expect.stringContaining('lost its record of this file')]);
});

test('of two crawls that write one file at a time the second is refused, whatever path or link leads to it', async () => {
  const of = (crawl: string) => new FeedRecords(at('records'), crawl);
  const first = await open('a.jsonl', new MemoryOutbox(), { records: of('news:requests') });
  symlinkSync(at('a.jsonl'), at('symbolic.jsonl'));
  linkSync(at('a.jsonl'), at('hard.jsonl'));
  for (const name of ['a.jsonl', 'symbolic.jsonl', 'hard.jsonl']) {
    const refused = open(name, new MemoryOutbox(), { records: of('shop:requests'), overwrite: true });
    await expect(refused).rejects.toThrow(RefusedError);
    await expect(refused).rejects.toMatchObject({ code: 'feed_held' });
    await expect(refused).rejects.toThrow(`process ${process.pid} (news:requests)`);
  }
  await open('b.jsonl', new MemoryOutbox(), { records: of('shop:requests') });
  await first.close();
  await open('hard.jsonl', new MemoryOutbox(), { records: of('shop:requests') });
});

test('a record that others could have written, or that is none, counts for nothing', async () => {
  const outbox = new MemoryOutbox();
  const records = new FeedRecords(at('records'), 'news:requests');
  const feed = feedId(hostname(), at('a.jsonl'));
  const file = await open('a.jsonl', outbox, { records });
  await file.close();
  const name = readdirSync(at('records')).find((entry) => entry.endsWith('.json'));
  const [place, known] = [join(at('records'), name!), records.find(feed)];
  expect(known).toMatchObject({ path: at('a.jsonl'), format: 'jsonl', beginBytes: 0, endBytes: 0 });
  expect(new FeedRecords(at('records'), 'other:requests').find(feed)).toBeNull();
  expect(statSync(place).mode & 0o777).toBe(0o600);
  chmodSync(place, 0o622);
  expect(records.find(feed)).toBeNull();
  chmodSync(place, 0o600);
  writeFileSync(place, '{"path":');
  expect(records.find(feed)).toBeNull();
  rmSync(place);
  execFileSync('mkfifo', [place]);
  expect(records.find(feed)).toBeNull();
  rmSync(place);
  writeFileSync(at('elsewhere'), JSON.stringify(known), { mode: 0o600 });
  symlinkSync(at('elsewhere'), place);
  expect(records.find(feed)).toBeNull();
  chmodSync(at('records'), 0o777);
  expect(new FeedRecords(at('records'), 'news:requests').find(feed)).toBeNull();
});

const notItems = [
  'import fs from "fs"',
  '',
  '{"n":1',
  '[1]',
  '"x"',
  'null',
  '1e999',
  `{"a":${'['.repeat(9e5)}`,
];

test.each<FeedFormatName>(['jsonl', 'json', 'csv'])(
  'what is no item stands under "value" in a %s file, each on its line',
  async (format) => {
    const outbox = new MemoryOutbox();
    outbox.add({ value: 'first' });
    outbox.items.push(...notItems, '{"value":\n"a",\r"__proto__":{"b":1}}', `"${'x'.repeat(9e6)}"`);
    const warnings: object[] = [];
    const log = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    const file = await open(`a.${format}`, outbox, { log });
    expect(await file.drain()).toBe(outbox.items.length);
    expect(file.mended).toBe(notItems.length + 1);
    expect(warnings[0]).toEqual({ file: at(`a.${format}`), item: 2, problem: 'it is not JSON' });
    const lines = text(`a.${format}`).trimEnd().split(/\r?\n/);
    if (format === 'csv') return expect(lines).toHaveLength(outbox.items.length + 1);
    if (format === 'jsonl') expect(lines).toHaveLength(outbox.items.length);
    const values = format === 'json' ? JSON.parse(text('a.json')) : lines.map((line) => JSON.parse(line));
    expect(values.slice(1, 4)).toEqual(notItems.slice(0, 3).map((value) => ({ value })));
    expect(values.at(-2).value).toBe('a');
    expect(values.at(-1).value).toHaveLength(1_000);
  },
);

test('the columns of a csv file are its own, whatever the store says', async () => {
  const outbox = new MemoryOutbox();
  outbox.add({ a: 1, b: 2 });
  await (await open('a.csv', outbox)).drain();
  for (const header of ['', '["b"]', '{"a":1}', '[1]', 'oops', '["a","b","c"]']) {
    outbox.saved = { ...outbox.saved!, header };
    outbox.add({ b: 4, a: 3 });
    await (await open('a.csv', outbox)).drain();
  }
  expect(text('a.csv')).toBe(`a,b\r\n1,2\r\n${'3,4\r\n'.repeat(6)}`);
});

test('a csv file for spreadsheets holds no formula, after a restart either', async () => {
  const outbox = new MemoryOutbox();
  outbox.add({ '=a': '=1+1', n: -5, s: '+44 20', t: '\tx', u: '-5', v: '@x', w: '＝1', x: 'a=b', y: ['=1'] });
  await (await open('a.csv', outbox, { escapeFormulas: true })).drain();
  outbox.add({ '=a': '=2' });
  await (await open('a.csv', outbox, { escapeFormulas: true })).drain();
  expect(text('a.csv')).toBe(
    "'=a,n,s,t,u,v,w,x,y\r\n'=1+1,-5,'+44 20,'\tx,'-5,'@x,'＝1,a=b,\"[\"\"=1\"\"]\"\r\n'=2,,,,,,,,\r\n",
  );
  outbox.items.length = 0;
  outbox.saved = null;
  outbox.add({ a: '=1' });
  await (await open('b.csv', outbox)).drain();
  expect(text('b.csv')).toBe('a\r\n=1\r\n');
});

test('a file that is shorter than what was written to it is refused with an explanation', async () => {
  const outbox = new MemoryOutbox();
  outbox.add({ n: 1 }, { n: 2 });
  await (await open('a.jsonl', outbox)).drain();
  await truncate(at('a.jsonl'), 3);
  await expect(open('a.jsonl', outbox)).rejects.toMatchObject({
    code: 'feed_changed',
    message: expect.stringContaining('holds 3 bytes, but this job has written 16 to it'),
  });
  await rm(at('a.jsonl'));
  await expect(open('a.jsonl', outbox)).rejects.toMatchObject({ code: 'feed_changed' });
});

test.each(['a.jsonl', 'a.json', 'a.csv'])('-O begins a file anew that was removed: %s', async (name) => {
  const outbox = new MemoryOutbox();
  outbox.add({ n: 1 }, { n: 2 });
  await (await open(name, outbox, { overwrite: true })).drain();
  await rm(at(name));
  outbox.add({ n: 3 });
  await (await open(name, outbox, { overwrite: true })).drain();
  outbox.add({ n: 4 });
  await (await open(name, outbox, { overwrite: true })).drain();
  const whole = {
    'a.jsonl': '{"n":3}\n{"n":4}\n',
    'a.json': '[\n{"n":3},\n{"n":4}\n]\n',
    'a.csv': 'n\r\n3\r\n4\r\n',
  };
  expect(text(name)).toBe(whole[name as keyof typeof whole]);
});

test('-o goes on after what is in the file, -O begins it anew', async () => {
  writeFileSync(at('a.jsonl'), '{"old":1}');
  const added = new MemoryOutbox();
  added.add({ n: 1 });
  await (await open('a.jsonl', added)).drain();
  expect(text('a.jsonl')).toBe('{"old":1}\n{"n":1}\n');
  const anew = new MemoryOutbox();
  anew.add({ n: 2 });
  await (await open('a.jsonl', anew, { overwrite: true })).drain();
  expect(text('a.jsonl')).toBe('{"n":2}\n');
});

test('-o on a csv file fills the columns that are there', async () => {
  writeFileSync(at('a.csv'), 'b,a\n1,2\n');
  const outbox = new MemoryOutbox();
  outbox.add({ a: 4, b: 3 });
  await (await open('a.csv', outbox)).drain();
  expect(text('a.csv')).toBe('b,a\n1,2\n3,4\r\n');
});

test('-o on a csv file without a column for any field of the items is refused, and the items wait', async () => {
  writeFileSync(at('a.csv'), 'b,a\n1,2\n');
  const outbox = new MemoryOutbox();
  outbox.add({ url: 'x', title: 'y' });
  const file = await open('a.csv', outbox);
  await expect(file.drain()).rejects.toMatchObject({
    ...{ name: 'RefusedError', code: 'feed_format' },
    message: expect.stringContaining('a.csv has the columns b, a, and the items have none of them'),
  });
  expect(text('a.csv')).toBe('b,a\n1,2\n');
  await file.close();
  renameSync(at('a.csv'), at('old.csv'));
  await (await open('a.csv', outbox)).drain();
  expect(text('a.csv')).toBe('url,title\r\nx,y\r\n');
});

test('-o on a json file with content is refused and changes nothing; an empty one is fine', async () => {
  writeFileSync(at('a.json'), '[]');
  await expect(open('a.json', new MemoryOutbox())).rejects.toThrow(UsageError);
  expect(text('a.json')).toBe('[]');
  writeFileSync(at('b.json'), '');
  await open('b.json', new MemoryOutbox());
  expect(JSON.parse(text('b.json'))).toEqual([]);
});

test('-O of a job that has written to the file goes on and says so', async () => {
  const outbox = new MemoryOutbox();
  outbox.add({ n: 1 });
  await (await open('a.jsonl', outbox, { overwrite: true })).drain();
  const notices: string[] = [];
  const log = { ...silentLogger, info: (_fields: object, message: string) => void notices.push(message) };
  const again = await open('a.jsonl', outbox, { overwrite: true, log });
  outbox.add({ n: 2 });
  await again.drain();
  expect(text('a.jsonl')).toBe('{"n":1}\n{"n":2}\n');
  expect(notices).toEqual([expect.stringContaining('-O keeps what this job has written')]);
});

test('a path that cannot be written is refused at the start, with path and reason', async () => {
  await mkdir(at('folder.jsonl'));
  writeFileSync(at('file'), '');
  const cases = { 'folder.jsonl': 'it is a folder', 'file/a.jsonl': 'not a folder' };
  for (const [name, says] of Object.entries(cases)) {
    const error = await open(name, new MemoryOutbox()).catch((e) => e);
    expect(error).toMatchObject({ code: 'feed_unwritable' });
    expect(error.message).toContain(at(name));
    expect(error.message).toContain(says);
  }
  await expect(FeedDisk.open('/dev/null')).rejects.toThrow(
    'not a regular file (for standard output use -o -)',
  );
});

test('a checkpoint whose answer is lost is sent again before anything is read', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox);
  outbox.add({ n: 1 }, { n: 2 });
  outbox.onCheckpoint = () => {
    outbox.onCheckpoint = () => {};
    throw new FrontierUnavailableError('the answer was cut off');
  };
  await expect(file.drain()).rejects.toThrow(FrontierUnavailableError);
  outbox.add({ n: 3 });
  expect(await file.drain()).toBe(1);
  expect(text('a.jsonl')).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
});

test('run writes what comes until it is aborted, then what is left, over outages of the store', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox);
  const stop = new AbortController();
  const running = file.run(stop.signal);
  outbox.add({ n: 1 });
  await waitFor(() => text('a.jsonl') === '{"n":1}\n');
  outbox.onCheckpoint = () => {
    outbox.onCheckpoint = () => {};
    throw new FrontierUnavailableError('away');
  };
  outbox.add({ n: 2 });
  await waitFor(() => file.items === 2);
  outbox.add({ n: 3 });
  stop.abort();
  await running;
  expect(text('a.jsonl')).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
});

test('an outage at the very end is told, and over once the rest is written', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox);
  outbox.add({ n: 1 });
  outbox.onCheckpoint = () => {
    outbox.onCheckpoint = () => {};
    throw new FrontierUnavailableError('the store is away');
  };
  await file.run(AbortSignal.abort());
  expect(file.failing).toContain('may lack items: the store is away');
  await file.drain();
  expect(file.failing).toBeNull();
  expect(text('a.jsonl')).toBe('{"n":1}\n');
});

test('a writer that ends in an outage leaves what the store may know of', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox);
  outbox.add({ n: 1 });
  outbox.onCheckpoint = () => {
    throw new FrontierUnavailableError('the store is away');
  };
  await file.run(AbortSignal.abort());
  await file.close();
  outbox.onCheckpoint = () => {};
  outbox.add({ n: 2 });
  await (await open('a.jsonl', outbox)).drain();
  expect(text('a.jsonl')).toBe('{"n":1}\n{"n":2}\n');
});

test('run ends with the error when another writer has taken the feed over', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox);
  outbox.onCheckpoint = () => {
    throw new RefusedError('written by somebody else now');
  };
  outbox.add({ n: 1 });
  await expect(file.run(new AbortController().signal)).rejects.toThrow(RefusedError);
});

test('a quiet feed still shows that its writer lives', async () => {
  const outbox = new MemoryOutbox();
  const file = await open('a.jsonl', outbox, { staleMs: 40 });
  const stop = new AbortController();
  const running = file.run(stop.signal);
  await waitFor(() => outbox.checkpoints >= 4);
  stop.abort();
  await running;
  expect(outbox.saved).toMatchObject({ sequence: 0, lengthBytes: 0, header: '' });
});

/** The largest file this process may write: a real write error that comes and goes. */
function limitFileSize(bytes: number | 'unlimited') {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]);
}

describe.skipIf(spawnSync('prlimit', ['--version']).error !== undefined)(
  'a file that can no longer grow (needs prlimit, of util-linux)',
  () => {
    afterEach(() => limitFileSize('unlimited'));

    test.each<FeedFormatName>(['jsonl', 'json'])(
      'keeps %s items in the outbox, says so once, and goes on when it can',
      async (format) => {
        const outbox = new MemoryOutbox();
        const said: string[] = [];
        const say = (_fields: object, message: string) => void said.push(message);
        const name = `a.${format}`;
        const file = await open(name, outbox, { log: { ...silentLogger, error: say, info: say } });
        const stop = new AbortController();
        const running = file.run(stop.signal);
        const items = Array.from({ length: 500 }, (_, n) => ({ n }));
        limitFileSize(2048);
        outbox.add(...items.slice(0, 50));
        await waitFor(() => file.items === 50);
        outbox.add(...items.slice(50));
        await waitFor(() => file.failing);
        expect(file.failing).toContain(at(name));
        const tries = () => said.length;
        expect(file.items).toBe(50);
        expect(outbox.items.length).toBe(500);
        limitFileSize('unlimited');
        await waitFor(() => file.items === 500);
        expect(file.failing).toBeNull();
        expect(tries()).toBe(2);
        stop.abort();
        await running;
        const lines =
          format === 'json'
            ? JSON.parse(text(name))
            : text(name)
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line));
        expect(lines).toEqual(items);
      },
    );

    test('is left valid when the writer stops meanwhile, and the rest is written by the next', async () => {
      const outbox = new MemoryOutbox();
      const file = await open('a.json', outbox);
      outbox.add({ n: 1 });
      await file.drain();
      limitFileSize(1024);
      outbox.add(...Array.from({ length: 200 }, (_, n) => ({ n })));
      const stop = new AbortController();
      stop.abort();
      await file.run(stop.signal);
      expect(file.failing).toContain('cannot be written');
      await file.close();
      expect(JSON.parse(text('a.json'))).toEqual([{ n: 1 }]);
      limitFileSize('unlimited');
      expect(await (await open('a.json', outbox)).drain()).toBe(200);
      expect(JSON.parse(text('a.json'))).toHaveLength(201);
    });
  },
);

const { server } = await redisOfFile();

/** What `feed-child.mjs` is told. */
interface FeedChildTask {
  readonly open: OpenOptions;
  readonly writer: Omit<FeedWriter, 'pid'>;
  readonly format: FeedFormatName;
}
const feedChild = fileURLToPath(new URL('../../helpers/children/feed-child.mjs', import.meta.url));

describe.each(engines)('on the %s engine', (engine) => {
  let spiders = 0;
  const frontiers: Frontier[] = [];
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const frontier of frontiers.splice(0)) await frontier.close();
  });

  function options(): OpenOptions {
    spiders += 1;
    return openOptions(engine === 'redis' ? server.url : at('store'), `feeds${spiders}`);
  }

  /** A node that settles pages, each with ten items numbered on. */
  async function node(how: OpenOptions, path: string) {
    const frontier = await openFrontier(how);
    frontiers.push(frontier);
    await joinAs(frontier, { id: 'n', feeds: [feedId(hostname(), path)] });
    let pages = 0;
    let items = 0;
    const crawl = async (count: number) => {
      await frontier.push(
        Array.from({ length: count }, () => request(`page-${pages++}`)),
        'links',
      );
      for (const lease of await take(frontier, count)) {
        const feedItems = Array.from({ length: 10 }, () =>
          JSON.stringify({ n: items++, pad: 'x'.repeat(items % 40) }),
        );
        await frontier.settle(
          lease,
          { kind: 'done', reason: 'crawled', attempts: 1 },
          { ...noEffects, feedItems },
        );
      }
      return items;
    };
    return { frontier, crawl };
  }

  test('the items of settled pages reach the file, and a second writer is refused', async () => {
    const how = options();
    const { frontier, crawl } = await node(how, at('a.jsonl'));
    const file = await open('a.jsonl', frontier.feeds);
    await crawl(5);
    expect(await file.drain()).toBe(50);
    await expect(open('a.jsonl', frontier.feeds)).rejects.toThrow(RefusedError);
    await crawl(1);
    expect(await file.drain()).toBe(10);
    expect((await frontier.snapshot()).outbox[0]?.waiting).toBe(0);
    const lines = text('a.jsonl').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).n)).toEqual([...Array(60).keys()]);
  });

  // What a format needs is a matter of the file, and does not depend on the store.
  const formats: FeedFormatName[] =
    engine === 'redis' ? ['jsonl', 'json.gz'] : ['jsonl', 'json', 'csv', 'xml'];
  test.each(formats)(
    'a writer of %s that is killed again and again leaves neither a missing nor a double line',
    async (format) => {
      const how = options();
      const path = at(`a.${format}`);
      const host = hostname();
      const { crawl } = await node(how, path);
      const start = (owner: number) => {
        const writer = { feed: feedId(host, path), host, path, owner: `child-${owner}` };
        const task: FeedChildTask = { open: how, writer, format };
        const child = spawn(process.execPath, [feedChild, JSON.stringify(task)], { stdio: 'inherit' });
        children.push(child);
        return child;
      };
      const size = () => (existsSync(path) ? statSync(path).size : 0);

      for (let kill = 0; kill < 4; kill += 1) {
        const child = start(kill);
        const target = size() + 1 + Math.floor(Math.random() * 20_000);
        await waitFor(
          async () => {
            await crawl(5);
            return size() >= target || child.exitCode !== null;
          },
          // Pages go on while the child starts: enough for its kill, and no more than the last writer must write.
          { intervalMs: 10 },
        );
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      const total = await crawl(20);
      const last = start(99);
      // Ready once it has the file: before that, SIGTERM would end it as it ends any process.
      await waitFor(() => numbers(format, path).length === total, { intervalMs: 50 });
      const exited = once(last, 'exit');
      last.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
      expect(numbers(format, path)).toEqual([...Array(total).keys()]);
    },
  );
});

function numbers(format: FeedFormatName, path: string): number[] {
  const bytes = readFileSync(path);
  if (format.endsWith('.gz')) return numbersIn(format.slice(0, -3), gunzipSync(bytes).toString());
  return numbersIn(format, bytes.toString());
}

function numbersIn(format: string, content: string): number[] {
  if (format === 'xml') return [...content.matchAll(/<n>(\d+)<\/n>/g)].map(([, n]) => Number(n));
  if (format === 'json') return JSON.parse(content).map(({ n }: { n: number }) => n);
  const lines = content.trim().split(/\r?\n/);
  return format === 'csv'
    ? lines.slice(1).map((line) => Number(line.split(',')[0]))
    : lines.map((line) => JSON.parse(line).n);
}

test('a file without items is removed where store_empty is false, and begun again by the next writer', async () => {
  const outbox = new MemoryOutbox();
  for (const name of ['a.jsonl', 'a.xml', 'a.json.gz']) {
    outbox.saved = null;
    outbox.items.length = 0;
    await (await open(name, outbox, { storeEmpty: false })).close();
    expect(existsSync(at(name)), name).toBe(false);
    outbox.add({ n: 1 });
    const file = await open(name, outbox, { storeEmpty: false });
    await file.drain();
    await file.close();
    expect(numbers(name.slice(2) as FeedFormatName, at(name))).toEqual([1]);
  }
});
