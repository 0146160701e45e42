/** Backups of a crawl in SQLite: each entry is read or restored in a transaction of its own. */
import type { Backups } from '../../backup/entry.js';
import type { Shape } from '../../frontier.js';
import type { CommitBatch } from '../base/commit-batch.js';
import { readCrawl } from './read-crawl.js';
import { applyEntry, beginRestore, endRestore } from './restore.js';

/** @param shape that a restored crawl gets */
export function embeddedBackups(batch: CommitBatch, shape: Shape): Backups {
  return {
    read: (parts) => readCrawl(batch, parts),
    begin: (ticket) => batch.write((tx) => beginRestore(tx, ticket, shape), { creates: true }),
    apply: (id, number, entry) => batch.write((tx) => applyEntry(tx, id, number, entry)),
    end: (id) => batch.write((tx) => endRestore(tx, id)),
  };
}
