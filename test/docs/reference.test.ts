/** The pages that `npm run docs` writes are those in the repository. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { referencePages } from '../../scripts/docs/reference-pages.js';
import { root } from './pages.js';

const made = await referencePages();

it.each(Object.keys(made))('%s is what the source says ("npm run docs" writes it anew)', (file) => {
  expect(readFileSync(path.join(root, file), 'utf8')).toBe(made[file]);
});
