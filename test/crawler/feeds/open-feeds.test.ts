/** Which files a crawl writes, and how. */
import { expect, it } from 'vitest';
import { feedTargets } from '../../../src/crawler/feeds/open-feeds.js';

const FEEDS = { '/data/a.csv': { escape_formulas: true }, '/data/b.csv': { overwrite: true } };

it('-o takes the place of FEEDS, and a file that is in both keeps its option', () => {
  const shown = (append: string[], overwrite: string[] = []) =>
    feedTargets('/data', append, overwrite, { FEEDS }).map(
      ({ path, format, overwrite: fresh, escapeFormulas }) => [path, format, fresh, escapeFormulas],
    );
  expect(shown([])).toEqual([
    ['/data/a.csv', 'csv', false, true],
    ['/data/b.csv', 'csv', true, false],
  ]);
  expect(shown(['a.csv', 'c.csv'], ['b.csv'])).toEqual([
    ['/data/a.csv', 'csv', false, true],
    ['/data/c.csv', 'csv', false, false],
    ['/data/b.csv', 'csv', true, false],
  ]);
});
