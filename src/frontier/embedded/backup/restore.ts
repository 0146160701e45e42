/** Restores a backup. Each entry is one transaction, and is applied only once even if it is sent again. */
import { priorityInBounds } from '../../../http/message/priority.js';
import {
  type BackupEntry,
  type EntryOf,
  type RestoreTicket,
  restoredCookie,
  seedOf,
  textBytes,
} from '../../backup/entry.js';
import { judgeRestore } from '../../backup/parts.js';
import { delayInBounds, requireIds } from '../../clamp-values.js';
import { nodesAtWork, otherRestore, restoreGone } from '../../refusals.js';
import type { FirstShape } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import { restoreCookies } from '../cookies/write-cookies.js';
import { countParts } from '../crawl/snapshot.js';
import { addFailure } from '../failed/failed-list.js';
import { newFeed, readFeedRow, writeFeedRow } from '../feeds/feed-row.js';
import { addItems } from '../feeds/items.js';
import { appendToOutbox, listFeeds } from '../feeds/outbox.js';
import { refuseOtherDupefilter, refuseOtherFormat } from '../nodes/shared-settings.js';
import { bytesOf, insertRequest, liveRequest } from '../queue/requests.js';
import { addBadSeed, addSeed } from '../seeds/seeds.js';
import { setStart, startOf } from '../seeds/starts.js';
import { bringBackBits, bringBackCount, bringBackSeen } from './seen-values.js';

/** As `Backups.begin` says. */
export function beginRestore(
  tx: Transaction,
  ticket: RestoreTicket,
  shape: FirstShape & { readonly dupefilter: NonNullable<FirstShape['dupefilter']> },
): number | null {
  const { id, force } = ticket;
  refuseOtherFormat(tx);
  const live = tx.nodes.live().length;
  if (live > 0 && !force) throw nodesAtWork(live, 'restore');
  const { restoring, restored_from, restore_applied } = tx.hasCrawl
    ? tx.crawl
    : { restoring: null, restored_from: null, restore_applied: 0 };
  if (restoring === id) return restore_applied;
  if (restoring !== null) throw otherRestore();
  const counts = countParts(tx);
  const isWaiting = listFeeds(tx).some(({ waiting }) => waiting > 0);
  const items = counts.items + (isWaiting ? 1 : 0);
  if (judgeRestore({ ...counts, items }, ticket, restored_from) === 'whole') return null;
  refuseOtherDupefilter(tx, shape.dupefilter);
  tx.create(shape);
  Object.assign(tx.crawl, { restoring: id, restore_applied: 0, restored_from: null });
  tx.crawl.epoch += 1;
  return 0;
}

/** As `Backups.apply` says. */
export function applyEntry(tx: Transaction, id: string, number: number, entry: BackupEntry): void {
  const { restoring, restore_applied } = tx.crawl;
  if (restoring !== id) throw restoreGone();
  if (number <= restore_applied) return;
  // The compiler cannot see that both are of one kind.
  puts[entry.kind](tx, entry as never);
  tx.crawl.restore_applied = number;
}

/** As `Backups.end` says. */
export function endRestore(tx: Transaction, id: string): void {
  const { restoring, restored_from } = tx.crawl;
  if (restored_from === id) return;
  if (restoring !== id) throw restoreGone();
  Object.assign(tx.crawl, { restoring: null, restore_applied: 0, restored_from: id });
  tx.crawl.epoch += 1;
}

/** How an entry of each kind is restored. */
const puts: { readonly [Kind in BackupEntry['kind']]: (tx: Transaction, entry: EntryOf<Kind>) => void } = {
  crawl: putCrawl,
  requests: putRequests,
  failed: putFailed,
  cookies: (tx, { values }) => restoreCookies(tx, values.map(restoredCookie)),
  dupefilter: (tx, { index }) => {
    if (index !== null) bringBackCount(tx, index);
  },
  seen: bringBackSeen,
  bits: bringBackBits,
  seeds: putSeeds,
  items: (tx, { values }) => addItems(tx, values.map(textOf)),
  feed: putFeed,
  outbox: (tx, { feed, values }) => appendToOutbox(tx, feed, values.map(textOf)),
  stats: (tx, { values }) => tx.counters.restore(values),
};

/** Restore the row of the crawl. An existing shape and an earlier beginning stay. */
function putCrawl({ crawl, tally }: Transaction, entry: EntryOf<'crawl'>): void {
  if (
    crawl.shape === null &&
    entry.shape !== null &&
    crawl.dupefilter !== null &&
    tally.pending + tally.suspects === 0
  ) {
    crawl.shape = { ...entry.shape, dupefilter: crawl.dupefilter };
    crawl.queue_class = entry.queueClass;
  }
  for (const [key, start] of Object.entries({ '': entry.start, ...entry.starts })) {
    const here = startOf(crawl, key);
    const isAll = here === 'pushed' || start === 'pushed';
    setStart(crawl, key, isAll ? 'pushed' : Math.max(here, start));
  }
  crawl.began_at = Math.min(crawl.began_at, entry.beganAtMs ?? crawl.began_at);
  crawl.seen_since = Math.min(crawl.seen_since, entry.seenSinceMs ?? crawl.seen_since);
  tally.done += entry.done;
  tally.removed += entry.removed;
  tally.lost += entry.lost ?? 0;
  tally.accepted += entry.done + entry.removed + (entry.lost ?? 0);
}

/** Insert requests with their old arrivals. One that is live already stays as it is. */
function putRequests(tx: Transaction, { values: requests }: EntryOf<'requests'>): void {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  const { tally } = tx;
  for (const request of requests) {
    const { arrival = 0, dueAtMs, crashes = 0 } = request;
    const id = bytesOf(request.id);
    if (liveRequest(tx, id) !== undefined) continue;
    const added = { ...request, id, priority: priorityInBounds(request.priority), crashes };
    const dueUs = dueAtMs === undefined ? null : Math.round(delayInBounds(dueAtMs) * 1000);
    insertRequest(tx, added, arrival, dueUs);
    tally.accepted += 1;
    // Later arrivals sort after the restored ones, even if the backup's clock was ahead.
    tally.last_arrival = Math.max(tally.last_arrival, arrival);
  }
}

function putFailed(tx: Transaction, { values: requests }: EntryOf<'failed'>): void {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  const { sql, space, tally } = tx;
  for (const { id, record, crashes, ...failure } of requests) {
    const bytes = bytesOf(id);
    if (liveRequest(tx, bytes) !== undefined) continue;
    // A retry gives it a domain and an arrival.
    const n = sql.insert`INSERT INTO request (space, id, state, domain, priority, rank, arrival, crashes)
      VALUES (${space}, ${bytes}, 'failed', '', 0, 0, 0, ${crashes})`;
    addFailure(tx, n, failure);
    if (record !== null) {
      sql.run`INSERT INTO record (n, space, id, arrived, text) VALUES (${n}, ${space}, ${bytes}, ${failure.failedAtMs * 1000}, ${record})`;
      tally.failed_records += 1;
    }
    tally.failed += 1;
    tally.accepted += 1;
  }
}

/** Append seeds to the key of the same number, or to the last one. */
function putSeeds(tx: Transaction, { key, bad, values }: EntryOf<'seeds'>): void {
  const lists = tx.spaces.startUrls[Math.min(key, tx.spaces.startUrls.length - 1)];
  if (lists === undefined) return;
  tx.spaces.list();
  for (const seed of values) {
    const { value } = seedOf(seed);
    if (bad) addBadSeed(tx, lists.bad, value.toString());
    else addSeed(tx, lists.good, value, false);
  }
}

function putFeed(
  tx: Transaction,
  { feed, host, path, format, exporting, checkpoint }: EntryOf<'feed'>,
): void {
  if (readFeedRow(tx, feed) !== null) return;
  writeFeedRow(tx, {
    ...newFeed(tx, feed),
    ...{ host, path, format: format ?? null, is_exporting: exporting ? 1 : 0 },
    ...{ last: checkpoint?.sequence ?? 0, written: checkpoint?.sequence ?? 0 },
    ...{ written_bytes: checkpoint?.lengthBytes ?? null, written_header: checkpoint?.header ?? null },
  });
}

const textOf = (text: Parameters<typeof textBytes>[0]): string => textBytes(text).toString();
