/** Deleting parts of a crawl, by ranges of its own keys and no others. */
import { dataFormats, otherFormat } from '../data-format.js';
import type { Part, Shape } from '../frontier.js';
import { nodesAtWork } from '../nodes-at-work.js';
import { numberOf, queueTables, Table } from './keys.js';
import { dropRequest } from './live.js';
import { liveNodes } from './liveness.js';
import { newMeta } from './meta.js';
import { forgetFeeds } from './outbox.js';
import { decodeRequest, phaseOf, type RequestEntry } from './request-entry.js';
import { nameKey } from './spaces.js';
import { emptyState } from './state.js';
import { sweepLater } from './sweep.js';
import type { Transaction } from './transaction.js';

/** Above every table that a later format may have. */
const LAST_TABLE = 64;

/** Delete parts. @throws RefusedError while nodes live, unless forced. */
export function clear(tx: Transaction, parts: ReadonlySet<Part>, force: boolean): void {
  if (isOtherFormat(tx)) {
    clearOtherFormat(tx, parts);
    return;
  }
  const live = liveNodes(tx).length;
  if (live > 0 && !force) throw nodesAtWork(live, 'clear');
  if (parts.has('queue')) {
    clearQueue(tx, parts);
    forgetFeeds(tx);
  } else if (parts.has('failed')) clearFailed(tx);
  if (parts.has('dupefilter')) clearDupefilter(tx);
  clearLists(tx, parts);
  voidRestores(tx);
  unlistEmpty(tx);
}

/** What another data format holds cannot be told apart: its queue goes with its failed requests, or all of it stays. */
function clearOtherFormat(tx: Transaction, parts: ReadonlySet<Part>): void {
  if (parts.has('queue')) {
    for (let table: number = Table.state; table <= LAST_TABLE; table += 1)
      tx.wipe(table as Table, tx.spaces.crawl);
    tx.destroy();
  } else if (parts.has('failed') || parts.has('dupefilter')) {
    throw otherFormat('embedded', tx.spaces.crawlName, tx.format() ?? 0);
  }
  if (parts.has('dupefilter')) {
    clearDupefilter(tx);
    tx.wipe(Table.seen, tx.spaces.dupefilter);
    tx.dropHeader(tx.spaces.dupefilter);
  }
  clearLists(tx, parts);
  unlistEmpty(tx);
}

function isOtherFormat(tx: Transaction): boolean {
  const format = tx.format();
  return format !== null && format !== dataFormats.embedded;
}

function clearLists(tx: Transaction, parts: ReadonlySet<Part>): void {
  if (parts.has('start_urls')) {
    for (const { good, bad } of tx.spaces.startUrls) {
      for (const space of [good, bad]) {
        tx.wipe(Table.list, space);
        tx.wipe(Table.place, space);
        tx.dropHeader(space);
      }
    }
  }
  if (parts.has('items')) {
    tx.wipe(Table.list, tx.spaces.items);
    tx.dropHeader(tx.spaces.items);
    tx.wipe(Table.feed, tx.spaces.crawl);
    tx.wipe(Table.outbox, tx.spaces.crawl);
  }
  if (parts.has('stats')) {
    tx.wipe(Table.stat, tx.spaces.stats);
    tx.dropCounters();
  }
}

/** A restore cannot go on where what it brought back is gone, and what was brought back whole may be so again. */
function voidRestores(tx: Transaction): void {
  if (tx.peekState() === undefined) return;
  const { restoring, restoredFrom } = tx.meta();
  if (restoring === null && restoredFrom === null) return;
  const meta = tx.changeMeta();
  meta.restoredFrom = null;
  if (restoring !== null) meta.restoring = { id: '', applied: 0 };
}

/** A crawl that is truly complete and does not persist leaves its items, counters and unwritten feeds. */
export function clearFinished(tx: Transaction): void {
  clearRequests(tx);
  forgetFeeds(tx);
}

/** A new run begins from nothing: seeds, items and counters stay, and so does the crawl's name for itself. */
export function flush(tx: Transaction, shape: Shape): void {
  const { crawl, epoch, control } = tx.meta();
  clearRequests(tx);
  forgetFeeds(tx, true);
  tx.create(shape);
  Object.assign(tx.changeMeta(), { crawl, epoch: epoch + 1, control });
}

function clearRequests(tx: Transaction): void {
  clearQueue(tx, new Set(['queue', 'failed', 'dupefilter']));
  clearDupefilter(tx);
}

function clearQueue(tx: Transaction, parts: ReadonlySet<Part>): void {
  const before = tx.peekState();
  if (before === undefined) return;
  const { epoch, shape, queueClass, dupefilter, seenSinceMs } = tx.meta();
  for (const table of queueTables) tx.wipe(table, tx.spaces.crawl);
  const keepsFailed = !parts.has('failed') && before.failed > 0;
  if (!keepsFailed) {
    tx.wipe(Table.request, tx.spaces.crawl);
    tx.wipe(Table.failed, tx.spaces.crawl);
  } else {
    dropAllButFailed(tx);
  }
  // By its own numbers nothing of the requests is found any more; what is known of their ids goes bit by bit.
  sweepLater(tx, tx.spaces.crawl);
  const keepsSeen = !parts.has('dupefilter') && tx.dupefilter.count() > 0;
  const { failed, failedSequence, failedRecords } = before;
  tx.destroy();
  if (!keepsFailed && !keepsSeen) return;
  const agreed = { queueClass, dupefilter };
  tx.create(agreed);
  Object.assign(tx.changeMeta(), { ...newMeta(agreed), epoch: epoch + 1, shape, seenSinceMs });
  const kept = keepsFailed ? { failed, failedSequence, failedRecords, accepted: failed } : {};
  const { numbers } = tx.state();
  Object.assign(tx.state(), {
    ...emptyState(),
    ...kept,
    busyAtMs: tx.nowMs,
    bytes: sizeOfRequests(tx),
    numbers,
  });
}

function dropAllButFailed(tx: Transaction): void {
  const doomed: Buffer[] = [];
  for (const { key, value } of tx.scan(Table.request, tx.spaces.crawl)) {
    if (phaseOf(value) !== 'failed') doomed.push(key);
  }
  for (const key of doomed) tx.delete(key);
}

function sizeOfRequests(tx: Transaction): number {
  let size = 0;
  for (const { value } of tx.scan(Table.request, tx.spaces.crawl)) size += value.length;
  return size;
}

function clearFailed(tx: Transaction): void {
  if (tx.peekState() === undefined) return;
  const doomed: [number: number, entry: RequestEntry, size: number][] = [];
  for (const { key, value } of tx.scan(Table.request, tx.spaces.crawl)) {
    if (phaseOf(value) === 'failed') doomed.push([numberOf(key), decodeRequest(value), value.length]);
  }
  for (const [number, entry, size] of doomed) dropRequest(tx, number, entry, size);
  tx.wipe(Table.failed, tx.spaces.crawl);
  const state = tx.state();
  state.removed += state.failed;
  state.failed = 0;
  state.failedRecords = 0;
}

function clearDupefilter(tx: Transaction): void {
  tx.dupefilter.clear();
  if (tx.peekState() === undefined) return;
  const meta = tx.changeMeta();
  meta.epoch += 1;
  meta.dupefilter = null;
  meta.seenSinceMs = tx.nowMs;
}

/** A crawl of which nothing is left is not listed any more. */
function unlistEmpty(tx: Transaction): void {
  const { crawlName, crawl, items, startUrls, stats } = tx.spaces;
  const lists = [items, stats, ...startUrls.flatMap(({ good, bad }) => [good, bad])];
  const isEmpty =
    tx.peekState() === undefined &&
    lists.every((space) => tx.header(space).count === 0) &&
    tx.entries(Buffer.concat([Buffer.from([Table.feed]), crawl]), 1).length === 0;
  if (isEmpty) tx.delete(nameKey(crawlName));
}
