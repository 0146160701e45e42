/**
 * Repair: every index and counter is forgotten, then each request is put where its own entry says it belongs. In steps,
 * so that no transaction is long; the crawl is paused from the first to the last, and what breaks off begins anew.
 */
import type { Repaired } from '../frontier.js';
import { nodesAtWork } from '../nodes-at-work.js';
import { type DomainEntry, decodeDomain } from './domain-entry.js';
import { fail, failureAt } from './failures.js';
import { HEAD_BYTES, keyOf, numberOf, queueTables, readUint53, Table } from './keys.js';
import { keepRequest, liveRequest } from './live.js';
import { liveNodes } from './liveness.js';
import type { FirstShape } from './meta.js';
import { place } from './placement.js';
import { enqueue, parkUntil, placeAll } from './queue.js';
import { decodeRequest, type RequestEntry } from './request-entry.js';
import { sweepLater } from './sweep.js';
import type { Transaction } from './transaction.js';

/** Requests of one step: a transaction of some ms. */
const STEP = 500;

/** Pause the crawl and forget its indexes; the politeness of domains is kept. @throws RefusedError while nodes live, unless forced. */
export function beginRepair(tx: Transaction, shape: FirstShape, force: boolean): void {
  if (tx.format() === null) tx.destroy();
  tx.create(shape);
  const live = force ? 0 : liveNodes(tx).length;
  if (live > 0) throw nodesAtWork(live, 'repair');
  const meta = tx.changeMeta();
  meta.repairing ??= meta.control;
  meta.control = 'paused';
  const domains = readDomains(tx);
  for (const table of queueTables) tx.wipe(table, tx.spaces.crawl);
  Object.assign(tx.state(), {
    ...{ queued: 0, suspects: 0, delayed: 0, leased: 0, failed: 0, failedRecords: 0, bytes: 0 },
    ...{ domains: 0, readyDomains: 0, waitingDomains: 0, idleDomains: 0 },
    ...{ alive: 0, volunteer: 0, hungry: 0 },
    numbers: Math.max(tx.state().numbers, tx.lastNumber()),
  });
  for (const known of domains) {
    const domain = tx.ensureDomain(known.name);
    Object.assign(domain, politenessOf(known));
    place(tx, domain);
  }
}

/** What a domain keeps: its clock, its delays and its pages, but not where it stands. */
function politenessOf({
  nextAtMs,
  blockedUntilMs,
  lastAtMs,
  pages,
  ...known
}: DomainEntry): Partial<DomainEntry> {
  const { delaySettingMs, delayRobotsMs, delayAutoMs } = known;
  return { nextAtMs, blockedUntilMs, lastAtMs, pages, delaySettingMs, delayRobotsMs, delayAutoMs };
}

/** Put some requests where they belong. @param after the key of the last one of the step before. @returns the like for the next; null at the end. */
export function repairStep(tx: Transaction, after: Buffer | null): Buffer | null {
  const prefix = keyOf(Table.request, tx.spaces.crawl);
  const start = after === null ? prefix : Buffer.concat([after, Buffer.alloc(1)]);
  const entries = tx.entries(prefix, STEP, start);
  const touched = new Set<string>();
  for (const { key, value } of entries) {
    const number = numberOf(key);
    const entry = decodeRequest(value);
    if (!findById(tx, number, entry)) {
      tx.delete(key);
      continue;
    }
    // Writing it anew counts only what its size changes by.
    tx.state().bytes += value.length;
    if (entry.phase === 'failed') {
      const known = failureAt(tx, entry.at)?.id === entry.id;
      if (!known)
        fail(
          tx,
          number,
          entry,
          { reason: 'unknown', status: null, attempts: 0, node: '', detail: null },
          value.length,
        );
      else {
        tx.state().failed += 1;
        if (entry.record !== '') tx.state().failedRecords += 1;
        keepRequest(tx, number, entry, value.length);
      }
    } else if (entry.phase === 'delayed') {
      parkUntil(tx, number, entry, entry.at, value.length);
    } else {
      enqueue(tx, number, entry, value.length);
      touched.add(entry.domain);
    }
  }
  placeAll(tx, touched);
  return entries.length < STEP ? null : Buffer.from(entries.at(-1)!.key);
}

/** Have a request found by its id, and say whether it is the one that is. An id has one: of two that by which it is found stays. */
function findById(tx: Transaction, number: number, entry: RequestEntry): boolean {
  const other = liveRequest(tx, entry.id);
  if (other !== null && other.number !== number) return false;
  tx.known.setNumber(entry.id, number);
  // Its mark may be gone: whoever ends the request is to look.
  entry.recorded = 0;
  return true;
}

/** Have the counters agree, and let the crawl go on as it was. */
export function endRepair(tx: Transaction): Repaired {
  dropLostFailures(tx);
  sweepLater(tx, tx.spaces.crawl);
  tx.dupefilter.recount();
  const meta = tx.changeMeta();
  meta.control = meta.repairing ?? 'running';
  delete meta.repairing;
  const state = tx.state();
  const pending = state.queued + state.suspects;
  const { delayed, failed } = state;
  state.accepted = pending + delayed + failed + state.done + state.removed;
  return { pending, delayed, failed };
}

/** A reason without its request says nothing. */
function dropLostFailures(tx: Transaction): void {
  const lost: Buffer[] = [];
  for (const { key } of tx.scan(Table.failed, tx.spaces.crawl)) {
    const failure = failureAt(tx, readUint53(key, HEAD_BYTES));
    const live = failure === null ? null : liveRequest(tx, failure.id);
    const entry = live === null ? null : decodeRequest(live.bytes);
    if (entry?.phase !== 'failed' || entry.at !== readUint53(key, HEAD_BYTES)) lost.push(Buffer.from(key));
  }
  for (const key of lost) tx.delete(key);
}

function readDomains(tx: Transaction): DomainEntry[] {
  const domains: DomainEntry[] = [];
  for (const { value } of tx.scan(Table.domain, tx.spaces.crawl)) {
    try {
      domains.push(decodeDomain(value));
    } catch {
      // What cannot be read is forgotten.
    }
  }
  return domains;
}
