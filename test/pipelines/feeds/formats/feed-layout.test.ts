/** XML, gzip and the options of a feed; Python reads what is written, where it is there. */
import { execFileSync, spawnSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import {
  type FeedFormatName,
  type FeedLayout,
  formatFor,
} from '../../../../src/pipelines/feeds/formats/feed-format.js';
import { gunzipPart, gzipMember } from '../../../../src/pipelines/feeds/formats/gzip.js';

/** The file after these batches. */
function file(
  name: FeedFormatName,
  batches: readonly (readonly object[])[],
  layout: FeedLayout = {},
): Buffer {
  const format = formatFor(name, layout);
  let state = { sequence: 0, header: '' };
  const parts = [format.encode(format.opening)];
  for (const batch of batches) {
    const texts = batch.map((item) => JSON.stringify(item));
    const { text, header } = format.render(texts, state);
    parts.push(format.encode(text));
    state = { sequence: state.sequence + batch.length, header };
  }
  return Buffer.concat([...parts, format.encode(format.closing)]);
}

const hasPython = spawnSync('python3', ['-V']).status === 0;

/** What a Python script prints as JSON, with `data` the bytes of the file. */
function python(script: string, input: Buffer): unknown {
  const head =
    'import sys, json, csv, io, gzip, xml.etree.ElementTree as ET\ndata = sys.stdin.buffer.read()\n';
  return JSON.parse(execFileSync('python3', ['-c', head + script], { input, encoding: 'utf8' }));
}

const items = [
  { name: 'a <b> & "c"', price: 1.5, tags: ['x', 'ü'], maker: { city: 'Köln' }, none: null },
  { name: 'two\nlines\r', price: 2, tags: [], maker: { city: '' }, none: null },
];

describe.runIf(hasPython)('Python reads', () => {
  const asText = (item: (typeof items)[number]) => ({
    name: item.name,
    price: String(item.price),
    tags: item.tags,
    city: item.maker.city,
  });
  const readXml = `
print(json.dumps([{ 'name': i.find('name').text, 'price': i.find('price').text,
  'tags': [v.text for v in i.find('tags')], 'city': i.find('maker/city').text or '' } for i in ET.fromstring(data)]))`;

  it.each([0, 2])('XML with an indent of %i', (indent) => {
    expect(python(readXml, file('xml', [[items[0]!], [items[1]!]], { indent }))).toEqual(items.map(asText));
  });

  it('XML in gzip', () => {
    const zipped = file('xml.gz', [[items[0]!], [items[1]!]]);
    expect(python(`data = gzip.decompress(data)\n${readXml}`, zipped)).toEqual(items.map(asText));
  });

  it.each([0, 4])('JSON in gzip, with an indent of %i', (indent) => {
    const zipped = file('json.gz', [[items[0]!], [items[1]!]], { indent });
    expect(python('print(json.dumps(json.loads(gzip.decompress(data))))', zipped)).toEqual(items);
  });

  it('JSON lines in gzip, of many appends', () => {
    const zipped = file('jsonl.gz', [[items[0]!], [items[1]!], [items[0]!]]);
    const lines = 'print(json.dumps([json.loads(l) for l in gzip.open(io.BytesIO(data))]))';
    expect(python(lines, zipped)).toEqual([items[0], items[1], items[0]]);
  });

  it('CSV in gzip, with fields that are renamed', () => {
    const fields = { price: 'Price', name: 'Name' };
    const zipped = file('csv.gz', [[{ name: 'a,b' }], [{ price: 2, name: 'c', more: 1 }]], { fields });
    const rows =
      'print(json.dumps(list(csv.reader(io.StringIO(gzip.decompress(data).decode(), newline="")))))';
    expect(python(rows, zipped)).toEqual([
      ['Price', 'Name'],
      ['', 'a,b'],
      ['2', 'c'],
    ]);
  });
});

test('fields choose, order and rename in every format', () => {
  const fields = { b: 'b', a: 'first' };
  const batches = [[{ a: 1, b: 2, c: 3 }, { a: 4 }]];
  expect(file('jsonl', batches, { fields }).toString()).toBe('{"b":2,"first":1}\n{"first":4}\n');
  expect(JSON.parse(file('json', batches, { fields }).toString())).toEqual([
    { b: 2, first: 1 },
    { first: 4 },
  ]);
  expect(file('csv', batches, { fields }).toString()).toBe('b,first\r\n2,1\r\n,4\r\n');
  expect(file('xml', batches, { fields }).toString()).toContain('<item><b>2</b><first>1</first></item>');
});

test('XML holds what has no place in XML, replaced', () => {
  const xml = file('xml', [[{ '1 two': 'a\u0000\ud800b', 'é.x': true }]]).toString();
  expect(xml).toContain('<item><_1_two>a\ufffd\ufffdb</_1_two><é.x>true</é.x></item>');
});

test('a cut gzip file gives the text that is whole in it', () => {
  const text = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => `${n * 7919}`));
  const bytes = Buffer.concat([gzipMember('{"n":1}\n'), gzipMember(text)]);
  expect(gunzipSync(bytes).toString()).toBe(`{"n":1}\n${text}`);
  const part = gunzipPart(bytes.subarray(0, bytes.length - 2_000))!.toString();
  expect(part.startsWith('{"n":1}\n["0"')).toBe(true);
  expect(`{"n":1}\n${text}`.startsWith(part)).toBe(true);
  expect(gunzipPart(bytes.subarray(0, 5))).toHaveLength(0);
  expect(gunzipPart(Buffer.from('no gzip'))).toBeNull();
});
