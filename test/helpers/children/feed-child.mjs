/**
 * A process that writes a feed until SIGTERM: `feed-child.mjs <JSON of a FeedChildTask>` (`feed-writer.test.ts`). It runs from
 * dist/, which starts in a fraction of the time that TypeScript takes.
 */
import { openFeedWriter, openFrontier, silentLogger } from '../../../dist/internal.js';

const { open, writer, format } = JSON.parse(process.argv[2]);
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
