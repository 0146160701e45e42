/** One file is one feed, by whichever of its names. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { feedId } from '../src/feed-outbox.js';
import { type TempDir, tempDir } from './helpers/temp-dir.js';

let folder: TempDir;
beforeEach(() => {
  folder = tempDir();
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.dir, name);
const id = (name: string) => feedId('here', at(name));

test('a feed is its file, by whichever name it is reached and before it is there', () => {
  mkdirSync(at('real'));
  symlinkSync('real', at('other'));
  symlinkSync('real/a.jsonl', at('link.jsonl'));
  const before = ['real/a.jsonl', 'other/a.jsonl', 'link.jsonl', 'other/../real/a.jsonl'].map(id);
  expect(new Set(before).size).toBe(1);
  expect(id('real/deeper/a.jsonl')).toBe(id('other/deeper/a.jsonl'));
  writeFileSync(at('real/a.jsonl'), '');
  expect(['real/a.jsonl', 'other/a.jsonl', 'link.jsonl'].map(id)).toEqual(before.slice(1));
});

test('other files and other hosts are other feeds, and links that lead nowhere do no harm', () => {
  symlinkSync('b.jsonl', at('a.jsonl'));
  symlinkSync('a.jsonl', at('b.jsonl'));
  writeFileSync(at('file'), '');
  const ids = ['a.jsonl', 'b.jsonl', 'c.jsonl', 'file/c.jsonl'].map(id);
  expect(new Set([...ids, feedId('there', at('c.jsonl'))]).size).toBe(5);
});
