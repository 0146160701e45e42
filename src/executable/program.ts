/** The command line from its bundle, in this process once. `api.js`, which the build writes, hands its API to spiders. */
import { tuneV8 } from '../cli/tune-v8.js';
import { cacheFolder } from './cache-folder.js';
import type * as contents from './contents.js';
import { loadBundle } from './load-bundle.js';

/** A crawl has compiled by then whatever it goes on with; other commands have ended. */
const KEEP_AFTER_MS = 5_000;

// Code is kept with the flags it was compiled under, so they come first.
if (process.argv.includes('crawl')) tuneV8();

export const { start, api } = loadBundle<typeof contents>('crawlnode', KEEP_AFTER_MS, {
  cacheFolder: cacheFolder(),
  entry: new URL('./api.js', import.meta.url),
  heartbeatThread: new URL('./heartbeat.js', import.meta.url),
});
