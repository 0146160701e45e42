/** A feed file that somebody has changed, and whose losses somebody has accepted. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Outbox } from '../../../src/feed-outbox.js';
import { silentLogger } from '../../../src/log.js';
import { openFeedWriter } from '../../../src/pipelines/feeds/feed-writer.js';
import { tempDir } from '../../helpers/temp-dir.js';

const items = [1, 2, 3].map((n) => `{"url":"${n}"}`);
const [first, second, third] = items;

it.each([
  ['whole lines', `${second}\n{"mine":1}\n`, `${second}\n{"mine":1}\n${third}\n`],
  ['a part of a line', '{"url{"mine":1}\n', `{"url{"mine":1}\n${second}\n${third}\n`],
])('goes on behind %s that a killed writer left: no item is there twice', async (_, left, ends) => {
  const file = path.join(tempDir('given-up').dir, 'feed.jsonl');
  writeFileSync(file, `${first}\n${left}`);
  const feeds = {
    open: async () => ({ sequence: 1, lengthBytes: first!.length + 1, header: '', isGivenUp: true }),
    read: async (_feed: string, sequence: number) => items.slice(sequence),
    checkpoint: async () => {},
    noteChange: async () => {},
    release: async () => {},
  } as unknown as Outbox;
  const writer = await openFeedWriter({
    ...{ feeds, path: file, format: 'jsonl', overwrite: false, staleMs: 1_000, log: silentLogger },
    writer: { feed: 'feed', owner: 'owner', path: file, host: 'host', pid: process.pid, format: 'jsonl' },
  });
  await writer.drain();
  await writer.close();
  expect(readFileSync(file, 'utf8')).toBe(`${first}\n${ends}`);
});
