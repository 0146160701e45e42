/** The row of a feed. Columns are explained in `schema.sql`. */
import type { Flag } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import { writeRow } from '../file/rows.js';
import { unreadableValue } from '../file/stored-json.js';

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
  readonly last: number;
  readonly written: number;
  readonly written_bytes: number | null;
  readonly written_header: string | null;
  readonly written_end: string | null;
  readonly change: string | null;
  readonly is_exporting: Flag;
  readonly forgotten_at: number | null;
  readonly overwrites_at: number | null;
}

/** A feed of which nothing is known yet: the other columns have defaults. */
export type NewFeed = Pick<FeedRow, 'space' | 'feed'> & Partial<FeedRow>;

export function newFeed({ spaces }: Transaction, feed: string): NewFeed {
  return { space: spaces.feeds.need(), feed };
}

/** Null where it is not known. */
export function readFeedRow({ sql, spaces }: Transaction, feed: string): FeedRow | null {
  const row = sql.get<FeedRow>`SELECT * FROM feed WHERE space = ${spaces.feeds.id} AND feed = ${feed}`;
  if (row === undefined) return null;
  const negative = (['last', 'written', 'written_bytes'] as const).find((column) => (row[column] ?? 0) < 0);
  if (negative !== undefined) throw unreadableValue('feed', negative);
  return row;
}

export function readFeedRows({ sql, spaces }: Transaction): FeedRow[] {
  return sql.all<FeedRow>`SELECT * FROM feed WHERE space = ${spaces.feeds.id}`;
}

export function writeFeedRow({ sql }: Transaction, row: NewFeed): void {
  writeRow(sql, 'feed', row);
}
