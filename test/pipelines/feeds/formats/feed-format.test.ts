/** The formats of feed files: jsonl, json and csv. */
import { expect, test } from 'vitest';
import { UsageError } from '../../../../src/errors.js';
import { feedFormat, feedFormats, namedFeed } from '../../../../src/pipelines/feeds/formats/feed-format.js';

/** The file after these batches, as the writer puts it together. */
function file(name: keyof typeof feedFormats, batches: object[][], header = '') {
  const format = feedFormats[name];
  let state = { sequence: 0, header };
  let text = format.opening;
  const dropped: string[] = [];
  for (const batch of batches) {
    const out = format.render(
      batch.map((item) => JSON.stringify(item)),
      state,
    );
    text += out.text;
    dropped.push(...(out.leftOut?.fields ?? []));
    state = { sequence: state.sequence + batch.length, header: out.header };
  }
  return { text: text + format.closing, dropped, header: state.header };
}

test('the format follows from the extension or is named', () => {
  expect(feedFormat('/data/a.jsonl')).toBe('jsonl');
  expect(feedFormat('/data/a.JL')).toBe('jsonl');
  expect(feedFormat('/data/a.json')).toBe('json');
  expect(feedFormat('/data/a.csv')).toBe('csv');
  expect(feedFormat('/data/a.txt', 'jsonlines')).toBe('jsonl');
  expect(feedFormat('/data/a.json', 'csv')).toBe('csv');
  expect(feedFormat('/data/a.csv.gz')).toBe('csv.gz');
  expect(feedFormat('/data/a.gz', 'xml')).toBe('xml.gz');
});

test('a file is named with its format as in Scrapy, and a colon elsewhere is its own', () => {
  expect(namedFeed('out:csv')).toEqual({ file: 'out', format: 'csv' });
  expect(namedFeed('a:b.json:JL')).toEqual({ file: 'a:b.json', format: 'JL' });
  for (const file of ['out.csv', '10:30.csv', 'out:yaml', ':csv']) expect(namedFeed(file)).toEqual({ file });
});

test('an extension or name that stands for no format is refused with those that do', () => {
  for (const wrong of ['items.yaml', 'items', 'items.constructor']) {
    expect(() => feedFormat(wrong)).toThrow(UsageError);
    expect(() => feedFormat(wrong)).toThrow('end it in .jsonl, .json, .csv or .xml');
  }
  expect(() => feedFormat('a.jsonl', 'yaml')).toThrow(
    '"yaml" is not a feed format: use jsonl, json, csv or xml',
  );
});

test('jsonl is one item a line', () => {
  expect(file('jsonl', [[{ a: 1 }, { b: 'x\ny' }], [{ c: 3 }]]).text).toBe(
    '{"a":1}\n{"b":"x\\ny"}\n{"c":3}\n',
  );
});

test('json is a valid list after every batch', () => {
  const items = [{ a: 1 }, { a: 'ü' }, { a: null }];
  expect(JSON.parse(file('json', []).text)).toEqual([]);
  expect(JSON.parse(file('json', [items.slice(0, 1)]).text)).toEqual(items.slice(0, 1));
  expect(JSON.parse(file('json', [items.slice(0, 2), items.slice(2)]).text)).toEqual(items);
});

test('csv has the columns of the first item, once', () => {
  const { text, header } = file('csv', [[{ name: 'a', n: 1 }], [{ n: 2, name: 'b' }, { name: 'c' }]]);
  expect(text).toBe('name,n\r\na,1\r\nb,2\r\nc,\r\n');
  expect(file('csv', [[{ n: 3 }]], header).text).toBe(',3\r\n');
});

test('csv quotes what must be quoted, and writes nested values as JSON', () => {
  const item = {
    a: 'x,"y"',
    b: 'one\ntwo',
    c: 'cr\rlf',
    d: { e: [1, 'z'] },
    f: true,
    g: null,
    h: ' spaced ',
    i: 0,
  };
  const [, ...lines] = file('csv', [[item]]).text.split('\r\n');
  expect(lines.join('\r\n')).toBe('"x,""y""","one\ntwo","cr\rlf","{""e"":[1,""z""]}",true,, spaced ,0\r\n');
});

test('csv drops fields without a column and names them', () => {
  const { text, dropped } = file('csv', [[{ a: 1 }, { a: 2, b: 3 }, { c: 4 }]]);
  expect(text).toBe('a\r\n1\r\n2\r\n""\r\n');
  expect(dropped).toEqual(['b', 'c']);
});

test('csv takes its columns from the first item that has fields, and an item named like a method has none', () => {
  expect(file('csv', [[{}]]).text).toBe('');
  expect(file('csv', [[{}], [{ a: 1 }]]).text).toBe('a\r\n1\r\n');
  expect(file('csv', [[{ toString: 1, b: 2 }, { b: 3 }]]).text).toBe('toString,b\r\n1,2\r\n,3\r\n');
});

test('csv goes on with the columns of a file that is there', () => {
  const { adopt } = feedFormats.csv;
  expect(adopt('name,n\r\nx,1\r\n')).toBe('["name","n"]');
  expect(adopt('\ufeff"first, ""x""",second\nrow')).toBe('["first, \\"x\\"","second"]');
  expect(adopt('only')).toBe('["only"]');
  expect(adopt('a,')).toBe('["a",""]');
});
