/** A process that writes a feed until SIGTERM: `feed-child.ts <JSON of what openFeedWriter needs, and the store>`. */
import type { FeedWriter } from '../../src/feed-outbox.js';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import type { OpenOptions } from '../../src/frontier/open-options.js';
import { silentLogger } from '../../src/log.js';
import { openFeedWriter } from '../../src/pipelines/feeds/feed-writer.js';
import type { FeedFormatName } from '../../src/pipelines/feeds/formats/feed-format.js';

/** What the parent says. */
export interface FeedChildTask {
  readonly open: OpenOptions;
  readonly writer: Omit<FeedWriter, 'pid'>;
  readonly format: FeedFormatName;
}

const { open, writer, format } = JSON.parse(process.argv[2]!) as FeedChildTask;
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const frontier = await openFrontier(open);
const file = await openFeedWriter({
  feeds: frontier.feeds,
  writer: { ...writer, pid: process.pid },
  path: writer.path,
  format,
  overwrite: false,
  staleMs: 30_000,
  log: silentLogger,
});
await file.run(stop.signal);
await file.close();
await frontier.close();
