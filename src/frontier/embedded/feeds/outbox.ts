/** Feeds: the outbox of committed items, and the checkpoint of the file each is written to. */
import { hostname } from 'node:os';
import { CrawlnodeError } from '../../../errors.js';
import {
  type FeedChange,
  type FeedCheckpoint,
  type FeedOpening,
  type FeedWriter,
  isPipelineOutbox,
  type OpenedCheckpoint,
} from '../../../feed-outbox.js';
import {
  feedHeld,
  feedRecordDamaged,
  feedRolledBack,
  feedTaken,
  isRunning,
  otherFeedFormat,
} from '../../feed-claim.js';
import type { Effects, OutboxSnapshot } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { ContradictingRows } from '../file/sqlite-errors.js';
import { storedJson, unreadableValue } from '../file/stored-json.js';
import { type FeedRow, newFeed, readFeedRow, readFeedRows, writeFeedRow } from './feed-row.js';
import { takeFirstItems } from './items.js';

/** Append the committed items of a settle to outboxes; those of pipelines get them with ids. @param id of the request */
export function appendCommitted(
  tx: Transaction,
  outboxes: readonly string[],
  id: string,
  { feedItems: texts, itemIds }: Pick<Effects, 'feedItems' | 'itemIds'>,
): void {
  if (texts.length === 0 || outboxes.length === 0) return;
  const withIds = outboxes.some(isPipelineOutbox)
    ? texts.map((text, n) => `{"id":"${itemIds?.[n] ?? `${id}-${n + 1}`}","item":${text}}`)
    : [];
  for (const outbox of outboxes) appendToOutbox(tx, outbox, isPipelineOutbox(outbox) ? withIds : texts);
}

/** Whether no item waits in any of these outboxes. */
export function areAllWritten(tx: Transaction, outboxes: readonly string[]): boolean {
  return outboxes.every((outbox) => countWaiting(tx, outbox) === 0);
}

/** Items of one feed that are committed and not known to be written. */
export function countWaiting(tx: Transaction, feed: string): number {
  const row = readFeedRow(tx, feed);
  return row === null ? 0 : waiting(row);
}

/** Append committed items to a feed's outbox. */
export function appendToOutbox(tx: Transaction, feed: string, texts: readonly string[]): void {
  const { sql, spaces } = tx;
  const space = spaces.feeds.need();
  // Behind the items of a record that somebody has deleted.
  const { last } = sql.get<{ last: number }>`
    INSERT INTO feed (space, feed, last) SELECT ${space}, ${feed}, coalesce(max(sequence), 0) + ${texts.length}
      FROM outbox WHERE space = ${space} AND feed = ${feed}
    ON CONFLICT (space, feed) DO UPDATE SET last = last + ${texts.length} RETURNING last`!;
  if (last < texts.length) throw unreadableValue('feed', 'last');
  for (const [n, text] of texts.entries()) {
    const sequence = last - texts.length + 1 + n;
    sql.run`INSERT INTO outbox (space, feed, sequence, text) VALUES (${space}, ${feed}, ${sequence}, ${text})`;
  }
}

/** Register as the one writer of a feed. @throws RefusedError while another one lives. */
export function openFeed(
  tx: Transaction,
  writer: FeedWriter,
  { staleMs, anew, overwrites }: FeedOpening,
): OpenedCheckpoint | null {
  const { feed, host, path, pid, owner, format } = writer;
  const existing = readFeedRow(tx, feed);
  // A settle begins a new row where somebody has deleted the one that had a checkpoint.
  const isGone = hadCheckpoint(tx, feed) && existing?.written_bytes == null;
  if (isGone || (existing !== null && existing.written > existing.last)) throw feedRecordDamaged(path);
  if (existing !== null) requireWritten(tx, existing);
  if (existing !== null && existing.owner !== owner && hasWriter(tx, { ...existing, stale_ms: staleMs })) {
    throw feedHeld(path, existing);
  }
  const goesOn = existing !== null && !mayBeginAnew(existing, owner, anew === true);
  const checkpoint = goesOn ? checkpointOf(existing) : null;
  if (!goesOn) forgetCheckpoint(tx, feed);
  if (goesOn && checkpoint !== null && existing.format !== null && format && existing.format !== format) {
    throw otherFeedFormat(writer, existing.format);
  }
  writeFeedRow(tx, {
    ...(goesOn ? existing : newFeed(tx, feed)),
    ...{ host, path, pid, owner, format: format ?? null, seen_at: tx.nowMs, stale_ms: staleMs },
    overwrites_at: overwrites === true && checkpoint !== null ? checkpoint.sequence : null,
  });
  return checkpoint;
}

function mayBeginAnew(row: FeedRow, owner: string, anew: boolean): boolean {
  const isOver = anew || (isForgotten(row) && row.owner !== owner);
  return isOver && row.is_exporting === 0 && waiting(row) === 0;
}

/** Move items from the head of the items list into the outbox. @throws RefusedError for another owner. */
export function takeItems(tx: Transaction, { feed, owner, path }: FeedWriter, max: number): number {
  const row = readFeedRow(tx, feed);
  if (row?.owner !== owner) throw feedTaken(path);
  const texts = takeFirstItems(tx, max);
  writeFeedRow(tx, { ...row, is_exporting: 1, seen_at: tx.nowMs });
  appendToOutbox(tx, feed, texts);
  return texts.length;
}

/** Up to `max` items after `sequence`, for the writer that has written so many. @throws CrawlnodeError `feed_rolled_back` */
export function readFeed(tx: Transaction, feed: string, sequence: number, max: number): string[] {
  const row = readFeedRow(tx, feed);
  if (row !== null && row.written !== sequence) {
    requireWritten(tx, row);
    throw feedRolledBack();
  }
  return readOutbox(tx, feed, sequence, max);
}

/** Up to `max` items after `sequence`. */
export function readOutbox(
  { sql, spaces }: Transaction,
  feed: string,
  sequence: number,
  max: number,
): string[] {
  const rows = sql.all<{ sequence: number; text: string }>`
    SELECT sequence, text FROM outbox WHERE space = ${spaces.feeds.id} AND feed = ${feed} AND sequence > ${sequence}
    ORDER BY sequence LIMIT ${max}`;
  return rows.map((row, n) => {
    if (row.sequence === sequence + 1 + n) return row.text;
    throw new CrawlnodeError(
      'outbox_damaged',
      `item ${sequence + 1 + n} of feed ${feed} is gone from the outbox: stop the nodes and run "crawlnode doctor SPIDER --repair"`,
    );
  });
}

/**
 * Remember how far the file is safely written, and delete those items from the outbox. @throws RefusedError for another owner;
 * CrawlnodeError `feed_rolled_back` when another checkpoint than `after` was the last.
 */
export function checkpointFeed(
  tx: Transaction,
  { feed, owner, path }: FeedWriter,
  checkpoint: FeedCheckpoint,
  after?: number,
  _written?: readonly string[],
  unreadable = 0,
): void {
  const row = readFeedRow(tx, feed);
  if (row === null && hadCheckpoint(tx, feed)) throw feedRecordDamaged(path);
  // A reset has deleted the feed.
  if (row === null) return;
  if (row.owner !== owner) throw feedTaken(path);
  const { sequence, lengthBytes, header, end } = checkpoint;
  if (after !== undefined && row.written !== after && row.written !== sequence) {
    requireWritten(tx, row);
    throw feedRolledBack();
  }
  tx.sql.run`DELETE FROM outbox WHERE space = ${row.space} AND feed = ${feed} AND sequence <= ${sequence}`;
  if (tx.hasCrawl && !hadCheckpoint(tx, feed)) tx.crawl.feeds = [...tx.crawl.feeds, feed];
  // As requests are, until somebody accepts that. A checkpoint that comes again has dropped nothing.
  if (unreadable > 0 && tx.hasCrawl && row.is_exporting === 0 && row.written !== sequence) {
    tx.tally.lost += unreadable;
    tx.tally.accepted += unreadable;
  }
  const reached = { written: sequence, written_bytes: lengthBytes, written_header: header };
  // Its writer has found the file sound.
  const sound = { written_end: end ?? null, change: null };
  writeFeedRow(tx, { ...row, ...reached, ...sound, seen_at: tx.nowMs });
}

/** Record that a file is not as the crawl has left it. Of two different losses, the greater one stays. */
export function noteFeedChange(tx: Transaction, feed: string, { what, items }: FeedChange): void {
  const row = readFeedRow(tx, feed);
  if (row === null || (changeOf(row)?.items ?? -1) >= items) return;
  writeFeedRow(tx, { ...row, change: JSON.stringify({ what, items }) });
}

/** The writer gives the feed back. Items that wait stay in the outbox. @param isOver whether its crawl is finished */
export function releaseFeed(
  tx: Transaction,
  { feed, owner }: FeedWriter,
  { exported }: { readonly exported?: boolean } = {},
  isOver = false,
): void {
  const row = readFeedRow(tx, feed);
  if (row?.owner !== owner) return;
  if (isForgotten(row)) dropFeed(tx, row);
  else {
    const left = { owner: null, ...(isOver && { seen_at: 0 }) };
    writeFeedRow(tx, { ...row, ...left, is_exporting: exported === true ? 0 : row.is_exporting });
  }
}

/** All feeds, with the number of items that wait. */
export function listFeeds(tx: Transaction): OutboxSnapshot[] {
  return readFeedRows(tx).map((row) => ({
    feed: row.feed,
    host: row.host,
    path: row.path,
    waiting: waiting(row),
    writerPid: row.owner === null ? null : row.pid,
    format: row.format,
    seenAtMs: row.seen_at,
    checkpoint: checkpointOf(row),
    change: pendingChange(row),
  }));
}

export const hasFeeds = (tx: Transaction): boolean => readFeedRows(tx).length > 0;

/**
 * A new job starts new feed files. A reset deletes a feed that has no writer and no waiting items. Otherwise it only marks
 * the feed (`forgotten_at`). The feed is deleted when its writer releases it, if all items were written and none were added.
 * Items added later belong to the next crawl, so such a feed stays. At a flush the writer belongs to the flushing node: if
 * it opened the file to overwrite it and has written nothing since, the feed starts again from its first item. Losses that nobody
 * has accepted stay.
 */
export function forgetFeeds(tx: Transaction, isFlush = false): void {
  if (isFlush) acceptFeedChanges(tx);
  for (const row of readFeedRows(tx)) {
    const lives = hasWriter(tx, row);
    const isWritten = waiting(row) === 0;
    if (isWritten && !lives && row.change === null) dropFeed(tx, row);
    else if (isFlush && lives && isWritten && row.overwrites_at === row.last && row.is_exporting === 0) {
      writeFeedRow(tx, {
        ...row,
        written: 0,
        written_bytes: null,
        written_header: null,
        written_end: null,
        last: 0,
      });
    } else writeFeedRow(tx, { ...row, forgotten_at: row.last });
  }
}

/** Somebody goes on without what files have lost: where items wait for one, its writer goes on with what is left of it, else its row goes. */
export function acceptFeedChanges(tx: Transaction): void {
  for (const row of readFeedRows(tx)) {
    const change = changeOf(row);
    if (change === null) continue;
    if (waiting(row) === 0 && !hasWriter(tx, row)) dropFeed(tx, row);
    else writeFeedRow(tx, { ...row, change: JSON.stringify({ ...change, accepted: true }) });
  }
}

/** Items committed and not known to be written. */
export const waiting = ({ last, written }: FeedRow): number => Math.max(0, last - written);

/** How far the file is known to be safely written; null where nothing is. */
export function checkpointOf(row: FeedRow): OpenedCheckpoint | null {
  const { written: sequence, written_bytes: lengthBytes, written_header: header, written_end: end } = row;
  if (lengthBytes === null) return null;
  const isGivenUp = changeOf(row)?.accepted === true;
  return {
    sequence,
    lengthBytes,
    header: header ?? '',
    ...(end && { end }),
    ...(isGivenUp && { isGivenUp }),
  };
}

function changeOf({ change }: FeedRow): (FeedChange & { readonly accepted?: boolean }) | null {
  return change === null ? null : storedJson(change, 'feed', 'change');
}

/** What nobody has accepted yet. */
function pendingChange(row: FeedRow): FeedChange | null {
  const change = changeOf(row);
  return change?.accepted ? null : change;
}

/** Whether a reset marked the feed, all items were written and none were added since. A loss is not forgotten. */
const isForgotten = (row: FeedRow): boolean =>
  row.change === null && waiting(row) === 0 && row.forgotten_at === row.last;

/** An item that waits is not written: a record that says so would have its writer leave it out. @throws ContradictingRows */
function requireWritten({ sql }: Transaction, { space, feed, written }: FeedRow): void {
  const item = sql.get`SELECT 1 FROM outbox WHERE space = ${space} AND feed = ${feed} AND sequence <= ${written}`;
  if (item !== undefined) throw new ContradictingRows(`items wait that the feed ${feed} is said to have`);
}

/** Whether the crawl knows of a checkpoint of the feed. */
const hadCheckpoint = (tx: Transaction, feed: string): boolean =>
  tx.hasCrawl && tx.crawl.feeds.includes(feed);

function forgetCheckpoint(tx: Transaction, feed: string): void {
  if (hadCheckpoint(tx, feed)) tx.crawl.feeds = tx.crawl.feeds.filter((name) => name !== feed);
}

function hasWriter({ nowMs }: Transaction, { owner, seen_at, stale_ms, host, pid }: FeedRow): boolean {
  // An instant that is to come was written by somebody else.
  return owner !== null && Math.abs(nowMs - seen_at) < stale_ms && (host !== hostname() || isRunning(pid));
}

function dropFeed(tx: Transaction, { space, feed }: FeedRow): void {
  forgetCheckpoint(tx, feed);
  tx.sql.run`DELETE FROM feed WHERE space = ${space} AND feed = ${feed}`;
}
