/** Backups of a crawl in Redis: what each part holds, read in bounded steps, and how it is brought back. */
import type { Backups } from '../../backup/entry.js';
import { readParts } from '../../backup/parts.js';
import type { FailedList } from '../../frontier.js';
import type { OpenOptions } from '../../store.js';
import { refuseOtherFormat } from '../care/preflight.js';
import type { Call } from '../connection/calls.js';
import type { RedisConnection } from '../connection/connection.js';
import type { Ask } from '../connection/walk.js';
import { readDupefilter } from './dupefilter.js';
import { readCrawl } from './queue.js';
import { redisRestore } from './restore.js';
import { readFeedEntries, readList, readSeeds, readStats } from './values.js';

/** What a frontier lends its backups. */
export interface BackupDeps {
  readonly connection: RedisConnection;
  readonly options: OpenOptions;
  readonly failed: FailedList;
  readonly call: Call;
  /** For a meta that is not there yet. */
  forNewMeta(): { readonly queueClass: string; readonly epoch: string | undefined };
}

/** @throws RefusedError by `read` for a crawl of another data format, whatever is asked for. */
export function redisBackups({ connection, options, failed, call, forNewMeta }: BackupDeps): Backups {
  const { keys, shape } = options;
  const ask: Ask = (question) => connection.patiently(question);
  return {
    async *read(parts) {
      await ask((client) => refuseOtherFormat(client, keys));
      yield* readParts(parts, {
        queue: () => readCrawl(ask, keys),
        failed: (cursor, max) => failed.list(cursor, max),
        dupefilter: () => readDupefilter(ask, keys, shape.dupefilter),
        seeds: () => readSeeds(ask, keys),
        feeds: (withItems) => readFeedEntries(ask, keys, withItems),
        items: () => readList(ask, keys.items),
        stats: () => readStats(ask, keys),
      });
    },
    ...redisRestore(options, call, forNewMeta),
  };
}
