/** Feeds in files of so many items, and feeds of some items only: exact wherever their writer dies. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { feedId, type Outbox } from '../../../src/feed-outbox.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { type Frontier, noEffects } from '../../../src/frontier/frontier.js';
import { silentLogger } from '../../../src/log.js';
import { type FeedFile, openFeedWriter } from '../../../src/pipelines/feeds/feed-writer.js';
import type { FeedFormatName } from '../../../src/pipelines/feeds/formats/feed-format.js';
import { request, takeOne } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
import { openOptions } from '../../helpers/open-options.js';
import { tempDir } from '../../helpers/temp-dir.js';

const ITEMS = 11;
const BATCH = 3;
/** Every fifth item stays out. */
const accepts = (item: unknown) => (item as { n: number }).n % 5 !== 4;
const expected = Array.from({ length: ITEMS }, (_, n) => n).filter((n) => accepts({ n }));
const inBatches = (numbers: readonly number[]) =>
  Array.from({ length: Math.ceil(numbers.length / BATCH) }, (_, batch) =>
    numbers.slice(batch * BATCH, (batch + 1) * BATCH),
  );

let dir: string;
let frontier: Frontier;
beforeEach(async () => {
  dir = tempDir('batches').dir;
  frontier = await openFrontier(openOptions(join(dir, 'store'), 'shop'));
});
afterEach(() => frontier.close());

const template = (format: string) => join(dir, `out-%(batch_id)02d.${format}`);
const fileOf = (format: string, batch: number) => join(dir, `out-0${batch}.${format}`);

/** A crawl that has committed the items, for a feed of this format. */
async function crawled(format: string): Promise<void> {
  await joinAs(frontier, { feeds: [feedId(hostname(), template(format))] });
  await frontier.push([request('page')], 'links');
  const feedItems = Array.from({ length: ITEMS }, (_, n) => JSON.stringify({ n }));
  const outcome = { kind: 'done', reason: 'crawled', attempts: 1 } as const;
  await frontier.settle(await takeOne(frontier), outcome, { ...noEffects, feedItems });
}

const open = (format: FeedFormatName, feeds: Outbox, owner: string, overwrite = false): Promise<FeedFile> => {
  const path = template(format);
  return openFeedWriter({
    ...{ feeds, path, format, overwrite, accepts, batchItems: BATCH, staleMs: 30_000, log: silentLogger },
    writer: { feed: feedId(hostname(), path), host: hostname(), path, pid: process.pid, owner, format },
  });
};

class Killed extends Error {}

/** The store as a writer sees it that dies at its nth checkpoint: before it is stored, or before the answer comes. */
function dyingAt(nth: number, isStored: boolean): Outbox {
  const { feeds } = frontier;
  let left = nth;
  return {
    open: (...args) => feeds.open(...args),
    read: (...args) => feeds.read(...args),
    release: (...args) => feeds.release(...args),
    noteChange: (...args) => feeds.noteChange(...args),
    async checkpoint(...args) {
      left -= 1;
      if (left > 0 || isStored) await feeds.checkpoint(...args);
      if (left <= 0) throw new Killed();
    },
  };
}

function numbersIn(format: FeedFormatName, batch: number): number[] {
  const bytes = readFileSync(fileOf(format, batch));
  const text = (format.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  if (format.startsWith('jsonl'))
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).n);
  if (format.startsWith('json')) return JSON.parse(text).map(({ n }: { n: number }) => n);
  if (format.startsWith('csv'))
    return parse(text, { columns: true }).map((row) => Number((row as { n: string }).n));
  return [...text.matchAll(/<n>(\d+)<\/n>/g)].map(([, n]) => Number(n));
}

const allBatches = (format: FeedFormatName) =>
  readdirSync(dir)
    .filter((name) => name.endsWith(`.${format}`) && name.startsWith('out-'))
    .sort()
    .map((_, at) => numbersIn(format, at + 1));

describe.each(['jsonl', 'json', 'csv', 'xml', 'jsonl.gz', 'json.gz'] as const)('%s', (format) => {
  it('has so many accepted items in each file, the last one excepted', async () => {
    await crawled(format);
    const file = await open(format, frontier.feeds, 'one');
    expect(await file.drain()).toBe(ITEMS);
    await file.close();
    expect(allBatches(format)).toEqual(inBatches(expected));
  });

  it('is exact wherever its writer dies, again and again', async () => {
    await crawled(format);
    let deaths = 0;
    for (let nth = 1, isDone = false; !isDone; nth = (nth % 3) + 1) {
      const owner = randomUUID();
      const feeds = dyingAt(nth, deaths % 2 === 0);
      const path = template(format);
      try {
        const file = await open(format, feeds, owner);
        await file.drain();
        await file.close();
        isDone = true;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        deaths += 1;
        // As its claim goes stale.
        await frontier.feeds.release({
          feed: feedId(hostname(), path),
          host: hostname(),
          path,
          pid: 1,
          owner,
        });
      }
      expect(deaths).toBeLessThan(100);
    }
    expect(deaths).toBeGreaterThan(3);
    expect(allBatches(format)).toEqual(inBatches(expected));
  });
});

it('a full file may be moved away while the crawl goes on, and a new job begins with file 1 again', async () => {
  await crawled('jsonl');
  const file = await open('jsonl', frontier.feeds, 'one');
  await file.drain();
  await file.close();
  renameSync(fileOf('jsonl', 1), join(dir, 'taken'));
  const again = await open('jsonl', frontier.feeds, 'two', true);
  expect(await again.drain()).toBe(0);
  await again.close();
  expect(existsSync(fileOf('jsonl', 1))).toBe(false);
  expect(numbersIn('jsonl', 3)).toEqual(inBatches(expected)[2]);
});

it('refuses to go on with a feed that was begun without batches', async () => {
  await crawled('jsonl');
  const path = template('jsonl');
  const writer = { feed: feedId(hostname(), path), host: hostname(), path, pid: process.pid, owner: 'plain' };
  const plain = await openFeedWriter({
    ...{
      feeds: frontier.feeds,
      writer,
      path,
      format: 'jsonl',
      overwrite: false,
      staleMs: 30_000,
      log: silentLogger,
    },
  });
  await plain.drain();
  await plain.close();
  await expect(open('jsonl', frontier.feeds, 'two')).rejects.toMatchObject({ code: 'feed_changed' });
});
