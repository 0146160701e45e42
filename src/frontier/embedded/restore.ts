/** Bringing a backup back into LMDB: one transaction an entry, each applied once however often it is sent. */
import { priorityInBounds } from '../../http/priority.js';
import {
  type BackupEntry,
  type BackupRequest,
  type RestoreTicket,
  seedOf,
  textBytes,
} from '../backup-entry.js';
import { delayInBounds, requireIds } from '../bounds.js';
import type { FailedRequest, Part, Shape } from '../frontier.js';
import { nodesAtWork } from '../nodes-at-work.js';
import { otherRestore, partNotEmpty, restoreGone } from '../restore-refusals.js';
import { refuseOtherDupefilter, refuseOtherFormat } from './agreement.js';
import { restoreFailed } from './failures.js';
import { addCounters, append, appendFindable } from './lists.js';
import { liveRequest, takeNumber } from './live.js';
import { liveNodes } from './liveness.js';
import { appendToOutbox, keepFeedOf, listFeeds } from './outbox.js';
import { enqueue, parkUntil, placeAll } from './queue.js';
import { countParts } from './reading.js';
import type { RequestEntry } from './request-entry.js';
import type { Transaction } from './transaction.js';

type Entry<Kind extends BackupEntry['kind']> = Extract<BackupEntry, { kind: Kind }>;

/** As `Backups.begin` says. */
export function beginRestore(
  tx: Transaction,
  { id, parts, exclusive, force }: RestoreTicket,
  shape: Pick<Shape, 'queueClass' | 'dupefilter'>,
): number | null {
  refuseOtherFormat(tx);
  const live = liveNodes(tx).length;
  if (live > 0 && !force) throw nodesAtWork(live, 'restore');
  const isThere = tx.peekState() !== undefined;
  const { restoring, restoredFrom } = isThere ? tx.meta() : { restoring: null, restoredFrom: null };
  if (restoring?.id === id) return restoring.applied;
  if (restoring !== null) throw otherRestore();
  const full = firstFull(tx, parts);
  if (full !== null && !force) throw partNotEmpty(full);
  if (full !== null && restoredFrom === id) return null;
  const exclusivelyFull = firstFull(tx, exclusive);
  if (exclusivelyFull !== null) throw partNotEmpty(exclusivelyFull);
  refuseOtherDupefilter(tx, shape.dupefilter);
  tx.create(shape);
  const meta = tx.changeMeta();
  meta.restoring = { id, applied: 0 };
  meta.restoredFrom = null;
  meta.epoch += 1;
  return 0;
}

function firstFull(tx: Transaction, parts: readonly Part[]): Part | null {
  const counts = countParts(tx);
  const waiting = listFeeds(tx).some((feed) => feed.waiting > 0);
  return parts.find((part) => counts[part] > 0 || (part === 'items' && waiting)) ?? null;
}

/** As `Backups.apply` says. */
export function applyEntry(tx: Transaction, id: string, number: number, entry: BackupEntry): void {
  const { restoring } = tx.meta();
  if (restoring?.id !== id) throw restoreGone();
  if (number <= restoring.applied) return;
  put(tx, entry);
  tx.changeMeta().restoring = { id, applied: number };
}

/** As `Backups.end` says. */
export function endRestore(tx: Transaction, id: string): void {
  const { restoring, restoredFrom } = tx.meta();
  if (restoredFrom === id) return;
  if (restoring?.id !== id) throw restoreGone();
  const meta = tx.changeMeta();
  meta.restoring = null;
  meta.restoredFrom = id;
  meta.epoch += 1;
}

function put(tx: Transaction, entry: BackupEntry): void {
  switch (entry.kind) {
    case 'crawl':
      putCrawl(tx, entry);
      break;
    case 'requests':
      putRequests(tx, entry.values);
      break;
    case 'failed':
      putFailed(tx, entry.values);
      break;
    case 'dupefilter':
      if (entry.index !== null) tx.dupefilter.bringBackIndex(entry.index);
      break;
    case 'seen':
      tx.dupefilter.bringBack(entry);
      break;
    case 'bits':
      tx.dupefilter.bringBackBits(entry.values);
      break;
    case 'seeds':
      putSeeds(tx, entry);
      break;
    case 'items':
      append(tx, tx.spaces.items, entry.values.map(textOf));
      break;
    case 'feed':
      keepFeedOf(tx, entry);
      break;
    case 'outbox':
      appendToOutbox(tx, entry.feed, entry.values.map(textOf));
      break;
    case 'stats':
      addCounters(tx, Object.fromEntries(entry.values));
      break;
  }
}

/** What stands already stays: the shape, and an earlier beginning. */
function putCrawl(tx: Transaction, entry: Entry<'crawl'>): void {
  const meta = tx.changeMeta();
  const state = tx.state();
  const { dupefilter } = meta;
  if (meta.shape === null && entry.shape !== null && dupefilter !== null && state.queued === 0) {
    meta.shape = { ...entry.shape, dupefilter };
    meta.queueClass = entry.queueClass;
  }
  if (entry.start === 'pushed') meta.startPushed = true;
  else meta.startCount = Math.max(meta.startCount, entry.start);
  meta.beganAtMs = Math.min(meta.beganAtMs, entry.beganAtMs ?? meta.beganAtMs);
  meta.seenSinceMs = Math.min(meta.seenSinceMs, entry.seenSinceMs ?? meta.seenSinceMs);
  state.done += entry.done;
  state.removed += entry.removed;
  state.accepted += entry.done + entry.removed;
}

/** Each at its old place among its equals; one that is live already stays as it is. */
function putRequests(tx: Transaction, requests: readonly BackupRequest[]): void {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  const state = tx.state();
  const touched = new Set<string>();
  for (const { id, domain, priority, arrival = 0, dueAtMs, crashes = 0, unfiltered, record } of requests) {
    if (liveRequest(tx, id) !== null) continue;
    const entry: RequestEntry = {
      ...{ id, phase: 'pending', crashes, unfiltered: unfiltered === true, arrival, at: 0, recorded: 0 },
      ...{ priority: priorityInBounds(priority), domain, record },
    };
    const number = takeNumber(tx, id);
    if (dueAtMs === undefined) enqueue(tx, number, entry, 0);
    else parkUntil(tx, number, entry, Math.round(delayInBounds(dueAtMs) * 1000), 0);
    state.accepted += 1;
    // What comes from now on comes after them, whatever clock they were accepted by.
    state.lastArrival = Math.max(state.lastArrival, arrival);
    touched.add(domain);
  }
  placeAll(tx, touched);
}

function putFailed(tx: Transaction, requests: readonly FailedRequest[]): void {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  for (const request of requests) {
    if (liveRequest(tx, request.id) !== null) continue;
    restoreFailed(tx, request);
    tx.state().accepted += 1;
  }
}

/** To the key of the same number, or the last there is. */
function putSeeds(tx: Transaction, { key, bad, values }: Entry<'seeds'>): void {
  const spaces = tx.spaces.startUrls[Math.min(key, tx.spaces.startUrls.length - 1)];
  if (spaces === undefined) return;
  const bytes = values.map((seed) => seedOf(seed).value);
  if (bad) append(tx, spaces.bad, bytes.map(String));
  else for (const value of bytes) appendFindable(tx, spaces.good, value, false);
}

const textOf = (text: Parameters<typeof textBytes>[0]): string => textBytes(text).toString();
