/** The command line from its bundle, in this process once. `api.js`, which the build writes, hands its API to spiders. */
import Module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as contents from './contents.js';
import { loadBundle } from './load-bundle.js';

/** A crawl has compiled by then whatever it goes on with; other commands have ended. */
const KEEP_AFTER_MS = 5_000;

export const { start, api } = loadBundle<typeof contents>('crawlnode', KEEP_AFTER_MS, {
  entry: new URL('./api.js', import.meta.url),
  heartbeatThread: new URL('./heartbeat.js', import.meta.url),
});

// CommonJS asks past the hooks that give other modules the API (spider/module-hooks.ts), for the index.js of its package.
// Where that is this one it gets the same: `instanceof` allows no second copy.
const index = fileURLToPath(new URL('../index.js', import.meta.url));
createRequire(index).cache[index] = Object.assign(new Module(index), { exports: api, loaded: true });
