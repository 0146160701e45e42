/** Committed items as a pipeline gets them. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../../src/log.js';
import { committedItem, uniqueBatch } from '../../../src/pipelines/committed/committed-item.js';

const read = (text: string) => committedItem(text, 7, './pipelines/store.ts', silentLogger);

test('an item comes with its id', () => {
  expect(read('{"id":"ab-1","item":{"n":1}}')).toEqual({ id: 'ab-1', item: { n: 1 } });
});

test.each(['not JSON', '[]', 'null', '{"id":1,"item":{}}', '{"id":"a"}', '{"id":"a","item":[1]}'])(
  'what somebody else wrote into the store comes under "value": %s',
  (text) => {
    expect(read(text)).toEqual({ id: 'damaged-7', item: { value: text } });
  },
);

test('a batch has each id once, and none of its items is left out', () => {
  const item = (id: string) => ({ id, item: {} });
  const items = ['a-1', 'a-2', 'b-1', 'a-1', 'c-1'].map(item);
  const first = uniqueBatch(items);
  expect(first.map(({ id }) => id)).toEqual(['a-1', 'a-2', 'b-1']);
  expect(uniqueBatch(items.slice(first.length)).map(({ id }) => id)).toEqual(['a-1', 'c-1']);
  expect(uniqueBatch([])).toEqual([]);
});
