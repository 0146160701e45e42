/** The lists of dupefilter classes in settings, docs and bench name every class. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { meaningOf } from '../../scripts/docs/setting-docstrings.js';
import { expires } from '../../src/frontier/dupefilter-classes.js';
import { everyDupefilter } from '../helpers/frontier/every-dupefilter.js';

it.each(everyDupefilter)('$class is in every list of the classes', (dupefilter) => {
  const { class: name } = dupefilter;
  const row = `\n| \`${name}\``;
  const lists = {
    'docs/internals/dupefilters.md': row,
    'docs/guide/seeds-and-jobs.md': row,
    'bench/dupefilters.mjs': `class: '${name}'`,
    ...(expires(dupefilter) && {
      'docs/guide/recipes.md': `DUPEFILTER_CLASS: ${name}`,
      'docs/guide/from-scrapy-redis.md': `DUPEFILTER_CLASS: ${name}`,
    }),
  };
  const missing = Object.entries(lists).filter(
    ([file, entry]) => !readFileSync(file, 'utf8').includes(entry),
  );
  expect(missing).toEqual([]);
  expect(meaningOf('DUPEFILTER_CLASS')).toContain(`${name}:`);
});
