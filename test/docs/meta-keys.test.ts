/** The keys of meta that crawlnode reads stand in one table of the guide. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { root } from './pages.js';

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).sort();

it('every key of Meta is in the table of writing-spiders.md, and no other', () => {
  const [, declared = ''] = /interface OwnMeta \{\n([\s\S]*?)\n\}/.exec(
    read('src/http/message/request-meta.ts'),
  )!;
  const [, table = ''] = /### Options of one request\n([\s\S]*?)\n###? /.exec(
    read('docs/guide/writing-spiders.md'),
  )!;
  const keys = names(declared, /^ {2}(\w+)\?:/gm);
  expect(keys.length).toBeGreaterThan(14);
  expect(names(table, /^\| `(\w+): /gm)).toEqual(keys);
});
