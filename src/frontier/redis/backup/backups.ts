/** Backups of a crawl in Redis. Not converted to Redis Functions yet. */
import type { Backups } from '../../backup-entry.js';
import type { FailedList } from '../../frontier.js';
import type { OpenOptions } from '../../open.js';
import type { Call } from '../calls.js';
import type { RedisConnection } from '../connection.js';

/** What a frontier lends its backups. */
export interface BackupDeps {
  readonly connection: RedisConnection;
  readonly options: OpenOptions;
  readonly failed: FailedList;
  readonly call: Call;
  /** For a meta that is not there yet. */
  forNewMeta(): { readonly queueClass: string; readonly epoch: string | undefined };
}

export function redisBackups(_deps: BackupDeps): Backups {
  const missing = (): never => {
    throw new Error('backups in Redis are not converted yet');
  };
  return { read: missing, begin: missing, apply: missing, end: missing };
}
