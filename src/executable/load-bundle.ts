/**
 * Run a bundle: all modules and dependencies in one script (`scripts/bundle.mjs`), so that V8 can be given back what it
 * compiled of them in an earlier run. A crawl of one page then takes half the CPU it takes from several hundred modules
 * that are found, read and compiled one by one.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import * as outside from '../outside.js';
import { cacheFolder } from './cache-folder.js';
import { CodeCache } from './code-cache.js';

type Bundle = (exports: object, module: { exports: object }, require: (id: string) => unknown) => void;

/**
 * @param name - of `NAME.cjs` in this folder
 * @param keepAfterMs - when what was compiled until then is kept, if the process does not end before
 * @param given - what the bundle gets in place of things in `outside.ts`
 */
export function loadBundle<T>(name: string, keepAfterMs: number, given: Partial<typeof outside>): T {
  const url = new URL(`./${name}.cjs`, import.meta.url);
  const filename = fileURLToPath(url);
  const bytes = readFileSync(url);
  const folder = cacheFolder();
  const cache = new CodeCache(folder, filename, bytes);
  const kept = cache.read();
  // The bundle is ASCII, and so a byte a character in memory too.
  const script = new Script(bytes.toString('latin1'), { filename, ...(kept && { cachedData: kept }) });
  cache.keep(script, keepAfterMs);
  const require = createRequire(url);
  const module = { exports: {} };
  const run: Bundle = script.runInThisContext();
  const host = { ...outside, cacheFolder: folder, ...given };
  run(module.exports, module, (id) => (id === 'outside' ? host : require(id)));
  return module.exports as T;
}
