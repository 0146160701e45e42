/** A feed as it is kept. Columns are explained in `schema.sql`. */
import type { Flag } from '../crawl/crawl-row.js';
import type { Transaction } from '../crawl/transaction.js';
import { writeRow } from '../file/rows.js';

export interface FeedRow {
  readonly space: number;
  readonly feed: string;
  readonly host: string;
  readonly path: string;
  readonly pid: number;
  readonly format: string | null;
  readonly owner: string | null;
  readonly seen_at: number;
  readonly stale_ms: number;
  last: number;
  readonly written: number | null;
  readonly written_bytes: number | null;
  readonly written_header: string | null;
  readonly is_exporting: Flag;
  readonly forgotten_at: number | null;
  readonly overwrites_at: number | null;
}

export function newFeed({ spaces }: Transaction, feed: string): FeedRow {
  return {
    ...{ space: spaces.feeds.need(), feed, host: '', path: '', pid: 0, format: null, owner: null },
    ...{ seen_at: 0, stale_ms: 0, last: 0, written: null, written_bytes: null, written_header: null },
    ...{ is_exporting: 0, forgotten_at: null, overwrites_at: null },
  };
}

/** Null where it is not known. */
export function readFeedRow({ sql, spaces }: Transaction, feed: string): FeedRow | null {
  return sql.get<FeedRow>`SELECT * FROM feed WHERE space = ${spaces.feeds.id} AND feed = ${feed}` ?? null;
}

export function readFeedRows({ sql, spaces }: Transaction): FeedRow[] {
  return sql.all<FeedRow>`SELECT * FROM feed WHERE space = ${spaces.feeds.id}`;
}

export function writeFeedRow({ sql }: Transaction, row: FeedRow): void {
  writeRow(sql, 'feed', row);
}
