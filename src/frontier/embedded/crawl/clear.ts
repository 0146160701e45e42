/** Deleting parts of a crawl. Each is a small step; `sweepSome` deletes the rows afterwards. */
import { dataFormats, otherFormat } from '../../data-format.js';
import type { Part, Shape } from '../../frontier.js';
import { nodesAtWork } from '../../refusals.js';
import type { Transaction } from '../base/transaction.js';
import { acceptFeedChanges, forgetFeeds, hasFeeds } from '../feeds/outbox.js';
import { crawlState } from '../requests/completion.js';
import { dropEarly, forgetEarly } from '../requests/early-links.js';

/** Delete parts. @throws RefusedError while nodes live, unless forced. */
export function clear(tx: Transaction, parts: ReadonlySet<Part>, force: boolean): void {
  if (tx.format !== null && tx.format !== dataFormats.embedded) {
    clearOtherFormat(tx, tx.format, parts);
    return;
  }
  const live = tx.nodes.live().length;
  if (live > 0 && !force) throw nodesAtWork(live, 'clear');
  if (parts.has('queue') || parts.has('dupefilter')) acceptFeedChanges(tx);
  if (parts.has('queue')) {
    clearQueue(tx, parts);
    forgetFeeds(tx);
  } else if (parts.has('failed')) clearFailed(tx);
  if (parts.has('dupefilter')) clearDupefilter(tx);
  clearLists(tx, parts);
  voidRestores(tx);
  unlistEmpty(tx);
}

/** Clear a crawl that is truly complete and does not persist. Items, counters and unwritten feeds stay. */
export function clearFinished(tx: Transaction): void {
  clearRequests(tx);
  forgetFeeds(tx);
}

/** Clear a crawl for a new run. Seeds, items, counters and the id of the crawl stay. */
export function flush(tx: Transaction, shape: Shape): void {
  const { crawl_id, epoch, control } = tx.crawl;
  clearRequests(tx);
  forgetFeeds(tx, true);
  tx.create(shape);
  Object.assign(tx.crawl, { crawl_id, epoch: epoch + 1, control });
}

function clearRequests(tx: Transaction): void {
  clearQueue(tx, new Set(['queue', 'failed', 'dupefilter']));
  clearDupefilter(tx);
}

/** Requests of another data format cannot be told apart by state: they are deleted all, with `queue`, or none. */
function clearOtherFormat(tx: Transaction, format: number, parts: ReadonlySet<Part>): void {
  if (parts.has('queue')) tx.destroy();
  else if (parts.has('failed') || parts.has('dupefilter')) {
    throw otherFormat('embedded', tx.spaces.crawl.name, format);
  }
  if (parts.has('dupefilter')) tx.dupefilter.clear();
  clearLists(tx, parts);
  unlistEmpty(tx);
}

function clearQueue(tx: Transaction, parts: ReadonlySet<Part>): void {
  if (!tx.hasCrawl) return;
  dropEarly(tx);
  const { sql, space: before } = tx;
  const { epoch, shape, queue_class, dupefilter, seen_since } = tx.crawl;
  const { failed, failed_records, seen_gone } = tx.tally;
  const keepsFailed = !parts.has('failed') && failed > 0;
  const keepsSeen = !parts.has('dupefilter') && tx.dupefilter.count() > 0;
  tx.destroy();
  if (!keepsFailed && !keepsSeen) return;
  tx.create({ queueClass: queue_class, dupefilter: null });
  Object.assign(tx.crawl, { epoch: epoch + 1, shape, dupefilter, seen_since });
  if (keepsSeen) tx.tally.seen_gone = seen_gone;
  if (!keepsFailed) return;
  sql.run`UPDATE request SET space = ${tx.space} WHERE n IN (SELECT n FROM failure WHERE space = ${before})`;
  sql.run`UPDATE record SET space = ${tx.space} WHERE n IN (SELECT n FROM failure WHERE space = ${before})`;
  sql.run`UPDATE failure SET space = ${tx.space} WHERE space = ${before}`;
  Object.assign(tx.tally, { failed, failed_records, accepted: failed });
}

function clearFailed(tx: Transaction): void {
  if (!tx.hasCrawl) return;
  const { sql, space } = tx;
  const failed = sql.all<{
    id: Uint8Array;
  }>`SELECT id FROM failure JOIN request USING (n) WHERE failure.space = ${space}`;
  if (tx.tally.early_pages > 0) for (const { id } of failed) forgetEarly(tx, id);
  sql.run`DELETE FROM record WHERE n IN (SELECT n FROM failure WHERE space = ${space})`;
  sql.run`DELETE FROM request WHERE n IN (SELECT n FROM failure WHERE space = ${space})`;
  sql.run`DELETE FROM failure WHERE space = ${space}`;
  sql.run`DELETE FROM ignored_page WHERE space = ${space}`;
  tx.tally.removed += tx.tally.failed;
  tx.tally.failed = 0;
  tx.tally.failed_records = 0;
}

function clearDupefilter(tx: Transaction): void {
  tx.dupefilter.clear();
  if (!tx.hasCrawl) return;
  tx.crawl.epoch += 1;
  // Links and seeds bring lost requests back now.
  removeLost(tx);
  tx.tally.seen_gone = 0;
  tx.crawl.starts_again = 1;
  tx.crawl.dupefilter = null;
  tx.crawl.seen_since = tx.wallMs;
}

function removeLost({ tally }: Transaction): void {
  tally.removed += tally.lost;
  tally.lost = 0;
}

/**
 * Take the lost requests for removed, and files for what they are. A finished crawl that does not persist and was kept only for them is cleared, as the last
 * node of its run would have done. @returns how many there were.
 */
export function acceptLosses(tx: Transaction, persist: boolean): number {
  acceptFeedChanges(tx);
  if (!tx.hasCrawl || tx.tally.lost === 0) return 0;
  const { lost } = tx.tally;
  removeLost(tx);
  const isOver =
    tx.crawl.run?.closed?.reason === 'requests_lost' &&
    tx.nodes.count === 0 &&
    crawlState(tx, tx.crawl.has_start === 1, []).finished;
  if (isOver && !persist) clearFinished(tx);
  return lost;
}

function clearLists(tx: Transaction, parts: ReadonlySet<Part>): void {
  const { spaces } = tx;
  if (parts.has('start_urls')) {
    for (const { good, bad } of spaces.startUrls) for (const space of [good, bad]) space.clear();
  }
  if (parts.has('items')) {
    for (const space of [spaces.items, spaces.feeds]) space.clear();
    if (tx.hasCrawl) tx.crawl.feeds = [];
  }
  if (parts.has('stats')) for (const space of [spaces.stats, spaces.telemetry]) space.clear();
}

/** A restore under way cannot go on, and one that ended may be done again: what it brought back may be gone. */
function voidRestores(tx: Transaction): void {
  if (!tx.hasCrawl) return;
  tx.crawl.restored_from = null;
  if (tx.crawl.restoring === null) return;
  tx.crawl.restoring = '';
  tx.crawl.restore_applied = 0;
}

/** Take a crawl of which nothing is left off the list of crawls. */
function unlistEmpty(tx: Transaction): void {
  const { crawl, feeds, telemetry, lists } = tx.spaces;
  if (tx.hasCrawl || lists.some(({ entries }) => entries > 0) || hasFeeds(tx)) return;
  for (const space of [crawl, feeds, telemetry, ...lists]) space.clear();
}
