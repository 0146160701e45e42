/** Items go to files of this machine; other places are refused by name. */
import { expect, it } from 'vitest';
import { feedTargets } from '../../src/crawler/feeds/open-feeds.js';
import { feedPlaceProblem } from '../../src/settings/feed-place.js';
import { loadSettings } from '../../src/settings/load.js';
import { tempDir } from '../helpers/temp-dir.js';

it.each([
  ['s3://bucket/items.jsonl', 'not to s3'],
  ['ftp://host/items.jsonl', 'not to ftp'],
  ['gs://bucket/x.csv', 'not to gs'],
  ['file:///tmp/items.jsonl', 'give the path alone'],
  ['items-%(time)s.jsonl', '%(time)s is not replaced'],
  ['%(name)s/items.csv', '%(name)s is not replaced'],
])('refuses %s as a place for items, wherever it is named', (place, why) => {
  expect(feedPlaceProblem(place)).toContain(why);
  expect(() => feedTargets('/tmp', [place], [], { FEEDS: {} })).toThrow(why);
  expect(() => feedTargets('/tmp', [], [place], { FEEDS: {} })).toThrow(why);
  const { dir } = tempDir('feeds');
  const cli = { FEEDS: JSON.stringify({ [place]: { format: 'jsonl' } }) };
  expect(() => loadSettings({ cwd: dir, env: {}, cli })).toThrow(why);
});

it.each(['items.jsonl', '/data/10:30.csv', 'a%20b.json', '100%.csv', 'c:items.csv'])(
  'takes the file %s',
  (file) => {
    expect(feedPlaceProblem(file)).toBeNull();
  },
);
