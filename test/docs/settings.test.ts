/** Settings that the docs name exist, and settings files in the docs load. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ownSettings } from '../../src/settings/own/own-settings.js';
import { settingNames } from '../../src/settings/schema.js';
import { loadSettings } from '../../src/settings/sources/load-settings.js';
import { removedSettings } from '../../src/settings/unknown-settings.js';
import { tempDir } from '../helpers/temp-dir.js';
import { writtenPages } from './pages.js';

/** Names in capitals that are none of ours: of other programs, of Scrapy, of SQL and Redis. */
const foreign = new Set([
  ...['NO_COLOR', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'MALLOC_ARENA_MAX'],
  ...['XDG_CACHE_HOME', 'BOT_NAME', 'NEWSPIDER_MODULE', 'DUPEFILTER_KEY', 'NODE_ENV'],
  ...['AWS_REGION', 'AWS_DEFAULT_REGION', 'IMAGES_THUMBS'],
  // Declared by the example of docs/guide/own-settings.md.
  ...['SHOP_SITE', 'SHOP_CATEGORIES', 'SHOP_MIN_PRICE', 'SHOP_TOKEN'],
  ...['REQUEST_FINGERPRINTER_IMPLEMENTATION', 'REQUEST_FINGERPRINTER_CLASS'],
  ...removedSettings,
]);

it('every name that is written like a setting is one', () => {
  const known = new Set<string>(settingNames);
  const unknown = writtenPages.flatMap(({ file, inlineCode, blocks }) => {
    const code = [
      ...inlineCode,
      ...blocks.filter(({ language }) => language !== 'text').map(({ text }) => text),
    ];
    const names = code.flatMap(
      (text) => text.match(/(?<![\w./:-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w/-])/g) ?? [],
    );
    return names.filter((name) => !known.has(name) && !foreign.has(name)).map((name) => `${file}: ${name}`);
  });
  expect([...new Set(unknown)]).toEqual([]);
});

/** The settings that examples declare as a project's own. */
const own = ownSettings(
  z.object({ SHOP_CATEGORIES: z.array(z.string()), SHOP_MIN_PRICE: z.number().default(0) }),
  './settings.ts',
);

it('every block that is a settings file loads', () => {
  const { dir } = tempDir('docs');
  let loaded = 0;
  for (const { file, blocks } of writtenPages) {
    for (const { language, text } of blocks) {
      if (language !== 'yaml' || !isSettings(parse(text))) continue;
      writeFileSync(path.join(dir, 'crawlnode.yaml'), text);
      expect(() => loadSettings({ cwd: dir, env: {}, cli: {} }, { own }), `${file}\n${text}`).not.toThrow();
      loaded += 1;
    }
  }
  expect(loaded).toBeGreaterThan(3);
});

function isSettings(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).some((key) => /^[A-Z]+_[A-Z_]+$/.test(key))
  );
}
