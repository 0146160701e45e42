/**
 * Feed files whose writer died on this machine: any node that ends here writes what was committed for them, so a
 * killed node leaves no line missing even where nobody starts it again. A writer that lives keeps its file.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { RefusedError } from '../errors.js';
import type { Frontier } from '../frontier/frontier.js';
import type { Logger } from '../log.js';
import { feedFormat } from '../pipelines/feed-format.js';
import { openFeedWriter } from '../pipelines/feed-writer.js';

export interface OrphansOptions {
  readonly frontier: Frontier;
  readonly staleMs: number;
  readonly log: Logger;
}

/** Write what waits for files of dead writers on this machine. @throws FrontierUnavailableError when the store cannot be asked. */
export async function writeOrphanedFeeds({ frontier, staleMs, log }: OrphansOptions): Promise<void> {
  const { outbox } = await frontier.snapshot();
  for (const { feed, host, path, waiting } of outbox) {
    // A file that is not there is another container's of the same host name: creating it would be wrong.
    if (waiting === 0 || host !== os.hostname() || !existsSync(path)) continue;
    const writer = { feed, host, path, pid: process.pid, owner: randomUUID() };
    try {
      const format = feedFormat(path, undefined);
      const file = await openFeedWriter({
        ...{ feeds: frontier.feeds, writer, path, format, staleMs, log },
        overwrite: false,
      });
      try {
        const items = await file.drain();
        log.info({ file: path, items }, 'wrote the items a node that died here had committed');
      } finally {
        await file.close();
      }
    } catch (error) {
      if (error instanceof RefusedError) continue;
      log.warn({ file: path, waiting, error: String(error) }, 'items of a node that died here still wait');
    }
  }
}
