/** Which files a crawl writes, and how. */
import { expect, it } from 'vitest';
import { feedTargets } from '../../../src/crawler/feeds/feed-targets.js';

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

const names = { name: 'shop', job: null, time: new Date('2026-03-01T10:20:30.400Z') };

it('the parts of a name stand for the spider, the job and the start', () => {
  const [target] = feedTargets('/data', ['%(name)s-%(job)s-%(time)s.jsonl.gz'], [], { FEEDS: {} }, names);
  expect(target).toMatchObject({
    path: '/data/shop-default-2026-03-01T10-20-30+00-00.jsonl.gz',
    format: 'jsonl.gz',
  });
  const batches = (name: string, count: number) => () =>
    feedTargets('/data', [], [], { FEEDS: { [`/data/${name}.csv`]: { batch_item_count: count } } }, names);
  expect(batches('%(name)s-%(batch_id)03d', 5)()[0]).toMatchObject({
    ...{ path: '/data/shop-%(batch_id)03d.csv', batchItems: 5 },
  });
  expect(batches('%(batch_id)d', 0)).toThrow('needs batch_item_count');
  expect(batches('all', 5)).toThrow('needs %(batch_id)d');
  expect(batches('%(batch_time)s', 0)).toThrow('unknown placeholder %(batch_time)s');
});

it("Scrapy's options of a feed", () => {
  const fields = ['b', 'a'];
  const feeds = {
    '/data/a.xml': { fields, indent: 2, store_empty: false },
    '/data/b.json': { fields: { a: 'A' }, postprocessing: ['GzipPlugin' as const] },
  };
  expect(feedTargets('/data', [], [], { FEEDS: feeds }, names)).toMatchObject([
    { format: 'xml', fields: { b: 'b', a: 'a' }, indent: 2, storeEmpty: false },
    { format: 'json.gz', fields: { a: 'A' }, indent: 0, storeEmpty: true },
  ]);
});

it.each(['s3://bucket/out.jsonl', 'gs://b/out.csv', 'ftp://user@host/out.json'])(
  'a place that is no local file is refused by name: %s',
  (file) => {
    for (const call of [
      () => feedTargets('/data', [file], [], { FEEDS: {} }, names),
      () => feedTargets('/data', [], [], { FEEDS: { [file]: {} } }, names),
    ]) {
      expect(call).toThrow(/s3:|gs:|ftp:/);
      expect(call).toThrow('copy it there after the crawl');
    }
    expect(feedTargets('/data', ['file:///data/x.csv'], [], { FEEDS: {} })[0]!.path).toBe('/data/x.csv');
  },
);
