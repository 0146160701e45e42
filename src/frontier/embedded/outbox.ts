/** Feeds: the outbox of committed items, and the checkpoint of the file each is written to. */

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { CrawlnodeError } from '../../errors.js';
import type { FeedCheckpoint, FeedOpening, FeedWriter } from '../../feed.js';
import type { BackupEntry } from '../backup-entry.js';
import { heldBy, isRunning, rolledBack, taken, writtenOtherwise } from '../feed-claim.js';
import type { OutboxSnapshot } from '../frontier.js';
import { HEAD_BYTES, keyOf, readUint53, Table, writeUint53 } from './keys.js';
import { takeFirst } from './lists.js';
import type { Transaction } from './transaction.js';

type BackedUpFeed = Extract<BackupEntry, { kind: 'feed' }>;

/** A feed as the store keeps it. */
interface FeedEntry {
  host: string;
  path: string;
  pid: number;
  /** What its last writer wrote it in. */
  format?: string;
  /** Its writer; null when nobody writes. */
  owner: string | null;
  seenAtMs: number;
  /** Without a sign of life for so long its writer counts as dead. */
  staleMs?: number;
  /** Its crawl was forgotten with so many items: when these are written, and no more, whoever opens it next begins anew. */
  forgottenAt?: number;
  /** Its writer overwrites the file, and has come when so many items were written: if no more are, a flush begins it anew. */
  overwritesAt?: number;
  checkpoint: FeedCheckpoint | null;
  /** The sequence of the last committed item. */
  last: number;
  /** An export to it has begun and not ended: its file must not be begun anew. */
  isExporting: boolean;
}

/** Append committed items to a feed's outbox. */
export function appendToOutbox(tx: Transaction, feed: string, texts: readonly string[]): void {
  const entry = knownFeed(tx, feed) ?? noFeed();
  for (const text of texts) {
    entry.last += 1;
    tx.put(itemKey(tx, feed, entry.last), Buffer.from(text), 0);
  }
  keepFeed(tx, feed, entry);
}

/** Register as the one writer of a feed. @throws RefusedError while another one lives. */
export function openFeed(
  tx: Transaction,
  writer: FeedWriter,
  { staleMs, anew, overwrites }: FeedOpening,
): FeedCheckpoint | null {
  const { feed, host, path, pid, owner, format } = writer;
  const known = knownFeed(tx, feed) ?? noFeed();
  const isHeld = known.owner !== null && known.owner !== owner && tx.nowMs - known.seenAtMs < staleMs;
  if (isHeld && (known.host !== hostname() || isRunning(known.pid))) {
    throw heldBy(path, known);
  }
  const isAnew =
    (anew === true || (isForgotten(known) && known.owner !== owner)) &&
    !known.isExporting &&
    waiting(known) === 0;
  const { checkpoint, last, isExporting, forgottenAt, format: before } = isAnew ? noFeed() : known;
  if (checkpoint !== null && before && format && before !== format) throw writtenOtherwise(writer, before);
  const self = { host, path, pid, ...(format && { format }), owner, seenAtMs: tx.nowMs, staleMs };
  const atFlush = overwrites === true && checkpoint !== null ? { overwritesAt: checkpoint.sequence } : {};
  const forgotten = forgottenAt === undefined ? {} : { forgottenAt };
  keepFeed(tx, feed, { ...self, checkpoint, last, isExporting, ...forgotten, ...atFlush });
  return checkpoint;
}

/** Move items from the head of the items list into the outbox. @throws RefusedError for another owner. */
export function takeItems(tx: Transaction, { feed, owner, path }: FeedWriter, max: number): number {
  const entry = knownFeed(tx, feed);
  if (entry?.owner !== owner) throw taken(path);
  const texts = takeFirst(tx, tx.spaces.items, max).map((value) => value.toString());
  keepFeed(tx, feed, { ...entry, isExporting: true, seenAtMs: tx.nowMs });
  appendToOutbox(tx, feed, texts);
  return texts.length;
}

/** Up to `max` items after `sequence`, for the writer that has written so many. @throws CrawlnodeError `feed_rolled_back` */
export function readFeed(tx: Transaction, feed: string, sequence: number, max: number): string[] {
  const entry = knownFeed(tx, feed);
  if (entry !== null && written(entry) !== sequence) throw rolledBack();
  return readOutbox(tx, feed, sequence, max);
}

/** Up to `max` items after `sequence`. */
export function readOutbox(tx: Transaction, feed: string, sequence: number, max: number): string[] {
  const prefix = feedPrefix(tx, Table.outbox, feed);
  const entries = tx.entries(prefix, max, itemKey(tx, feed, sequence + 1));
  return entries.map(({ key, value }, n) => {
    if (readUint53(key, prefix.length) !== sequence + 1 + n) {
      throw new CrawlnodeError(
        'outbox_damaged',
        `item ${sequence + 1 + n} of feed ${feed} is gone from the outbox; reset the items to go on`,
      );
    }
    return value.toString();
  });
}

/**
 * Remember how far the file is safely written, and drop that from the outbox. @throws RefusedError for another owner;
 * CrawlnodeError `feed_rolled_back` when another checkpoint than `after` was the last.
 */
export function checkpointFeed(
  tx: Transaction,
  writer: FeedWriter,
  checkpoint: FeedCheckpoint,
  after?: number,
): void {
  const entry = knownFeed(tx, writer.feed);
  // A feed that a reset has forgotten: there is nothing to remember.
  if (entry === null) return;
  if (entry.owner !== writer.owner) {
    throw taken(writer.path);
  }
  const before = written(entry);
  if (after !== undefined && before !== after && before !== checkpoint.sequence) throw rolledBack();
  dropItems(tx, writer.feed, checkpoint.sequence);
  keepFeed(tx, writer.feed, { ...entry, checkpoint, seenAtMs: tx.nowMs });
}

/** The writer is done; what waits stays. */
export function releaseFeed(tx: Transaction, writer: FeedWriter, exported: boolean): void {
  const entry = knownFeed(tx, writer.feed);
  if (entry?.owner !== writer.owner) return;
  if (isForgotten(entry)) tx.delete(feedKey(tx, writer.feed));
  else keepFeed(tx, writer.feed, { ...entry, owner: null, isExporting: entry.isExporting && !exported });
}

/** Have a feed of a backup known, unless it is. */
export function keepFeedOf(tx: Transaction, entry: BackedUpFeed): void {
  const { feed, host, path, format, exporting, checkpoint } = entry;
  if (knownFeed(tx, feed) !== null) return;
  const last = checkpoint?.sequence ?? 0;
  const file = { host, path, ...(format && { format }) };
  keepFeed(tx, feed, { ...noFeed(), ...file, checkpoint, last, isExporting: exporting });
}

/** The feeds as a backup has them, and how many items wait for each. */
export function backUpFeeds(tx: Transaction): { entry: BackedUpFeed; waiting: number }[] {
  return readFeeds(tx).map(({ feed, entry }) => {
    const { host, path, format, checkpoint, isExporting: exporting } = entry;
    const file = { feed, host, path, ...(format && { format }) };
    return { entry: { kind: 'feed', ...file, exporting, checkpoint }, waiting: waiting(entry) };
  });
}

/** What waits in each feed. */
export function listFeeds(tx: Transaction): OutboxSnapshot[] {
  return readFeeds(tx).map(({ feed, entry }) => ({
    feed,
    host: entry.host,
    path: entry.path,
    waiting: waiting(entry),
    writerPid: entry.owner === null ? null : entry.pid,
    format: entry.format ?? null,
  }));
}

/**
 * A new job begins its files anew: a feed is forgotten with its crawl, at once where nobody writes it and nothing waits,
 * else when it is given back with all that waited written, and no more. More is of the next crawl, where its writer is of
 * a node that came too late for this one: then it goes on. At a flush the writer is of the node that flushes: the file that
 * it overwrites is begun anew, unless it has written to it already.
 */
export function forgetFeeds(tx: Transaction, isFlush = false): void {
  for (const { feed, entry } of readFeeds(tx)) {
    const { overwritesAt, isExporting, last } = entry;
    const lives = hasWriter(tx, entry);
    const isWritten = waiting(entry) === 0;
    if (isWritten && !lives) tx.delete(feedKey(tx, feed));
    else if (isFlush && lives && isWritten && overwritesAt === last && !isExporting) {
      keepFeed(tx, feed, { ...entry, checkpoint: null, last: 0 });
    } else keepFeed(tx, feed, { ...entry, forgottenAt: last });
  }
}

/** Whether its crawl was forgotten, and nothing has come since. */
const isForgotten = (entry: FeedEntry): boolean => waiting(entry) === 0 && entry.forgottenAt === entry.last;

function hasWriter(tx: Transaction, { owner, seenAtMs, staleMs = 0, host, pid }: FeedEntry): boolean {
  return owner !== null && tx.nowMs - seenAtMs < staleMs && (host !== hostname() || isRunning(pid));
}

/** Items committed and not known to be written. */
const waiting = (entry: FeedEntry): number => entry.last - written(entry);

const written = ({ checkpoint }: FeedEntry): number => checkpoint?.sequence ?? 0;

function readFeeds(tx: Transaction): { feed: string; entry: FeedEntry }[] {
  return tx.entries(keyOf(Table.feed, tx.spaces.crawl), 10_000).map(({ key, value }) => ({
    feed: key.toString('utf8', HEAD_BYTES),
    entry: JSON.parse(value.toString()) as FeedEntry,
  }));
}

function knownFeed(tx: Transaction, feed: string): FeedEntry | null {
  const bytes = tx.get(feedKey(tx, feed));
  return bytes === undefined ? null : (JSON.parse(bytes.toString()) as FeedEntry);
}

function keepFeed(tx: Transaction, feed: string, entry: FeedEntry): void {
  tx.put(feedKey(tx, feed), Buffer.from(JSON.stringify(entry)));
}

function noFeed(): FeedEntry {
  return {
    host: '',
    path: '',
    pid: 0,
    owner: null,
    seenAtMs: 0,
    checkpoint: null,
    last: 0,
    isExporting: false,
  };
}

function dropItems(tx: Transaction, feed: string, upTo: number): void {
  const prefix = feedPrefix(tx, Table.outbox, feed);
  for (;;) {
    const keys = tx.keys(prefix, 1000).filter((key) => readUint53(key, prefix.length) <= upTo);
    for (const key of keys) tx.delete(key);
    if (keys.length < 1000) return;
  }
}

function feedKey(tx: Transaction, feed: string): Buffer {
  return keyOf(Table.feed, tx.spaces.crawl, Buffer.from(feed));
}

function feedPrefix(tx: Transaction, table: Table, feed: string): Buffer {
  return keyOf(table, tx.spaces.crawl, createHash('sha1').update(feed).digest().subarray(0, 8));
}

function itemKey(tx: Transaction, feed: string, sequence: number): Buffer {
  const at = Buffer.allocUnsafe(8);
  writeUint53(at, sequence, 0);
  return Buffer.concat([feedPrefix(tx, Table.outbox, feed), at]);
}
