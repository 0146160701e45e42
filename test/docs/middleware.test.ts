/** The tables of docs/guide/middleware.md are those of the source. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type BuiltIn, builtInMiddleware } from '../../src/settings/built-in-middleware.js';
import { settingNames } from '../../src/settings/schema.js';
import { root } from './pages.js';

const text = readFileSync(path.join(root, 'docs/guide/middleware.md'), 'utf8');

it('the tables of built-in middleware are complete', () => {
  const expected = Object.values(builtInMiddleware)
    .flat()
    .map((each) => [String(each.number), each.name, expect.stringMatching(/\w/), whatNullGives(each)]);
  const rows = text.split('\n').filter((line) => /^\| \d+ \| \w+ \|/.test(line));
  expect(rows.map((row) => row.slice(2, -2).split(' | '))).toEqual(expected);
});

it('every setting that null gives is one', () => {
  const given = Object.values(builtInMiddleware)
    .flat()
    .flatMap(({ off }) => (typeof off === 'string' ? [] : Object.keys(off)));
  expect(given.filter((name) => !(settingNames as string[]).includes(name))).toEqual([]);
});

function whatNullGives({ off }: BuiltIn): string {
  if (typeof off === 'string') return `cannot be switched off: ${off}`;
  if (Object.keys(off).length === 0) return 'no effect';
  return Object.entries(off)
    .map(([name, value]) => `\`${name}: ${value === '' ? "''" : JSON.stringify(value)}\``)
    .join(', ');
}
