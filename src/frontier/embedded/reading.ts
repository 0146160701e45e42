/** What the commands ask of a crawl: counts, a snapshot, one request. Reads only, bounded work. */
import { dataFormats } from '../data-format.js';
import type { FrontierRequest, Inspection, NodeSnapshot, PartCounts, Shape, Snapshot } from '../frontier.js';
import { failureAt } from './failures.js';
import { leaseOf } from './holding.js';
import { type IncarnationEntry, incarnationName } from './incarnation-entry.js';
import { keyOf, Table } from './keys.js';
import { readCounters } from './lists.js';
import { liveRequest } from './live.js';
import { isAlive } from './liveness.js';
import type { Meta } from './meta.js';
import { listFeeds } from './outbox.js';
import { dueAtOf } from './placement.js';
import { decodeRequest, type LeaseEntry, type RequestEntry } from './request-entry.js';
import { emptyState, openWork } from './state.js';
import type { Transaction } from './transaction.js';

/** Everything `stats` shows. */
export function takeSnapshot(tx: Transaction): Snapshot {
  const state = tx.peekState() ?? emptyState();
  const meta = tx.peekState() === undefined ? null : tx.meta();
  const { spaces } = tx;
  const run = meta?.run ?? null;
  const known = meta === null ? [] : tx.incarnations();
  return {
    startUrls: sum(spaces.startUrls.map(({ good }) => tx.header(good).count)),
    badSeeds: sum(spaces.startUrls.map(({ bad }) => tx.header(bad).count)),
    pending: state.queued + state.suspects,
    delayed: state.delayed,
    leased: state.leased,
    suspects: state.suspects,
    accepted: state.accepted,
    done: state.done,
    failed: state.failed,
    removed: state.removed,
    seen: tx.dupefilter.count(),
    items: tx.header(spaces.items).count,
    domains: state.domains,
    bytes: {
      frontier: state.bytes,
      dupefilter: tx.dupefilter.bytes(),
      startUrls: sum(spaces.startUrls.map(({ good }) => listBytes(tx, good))),
      items: listBytes(tx, spaces.items),
      stats: sampledBytes(tx, Table.stat, spaces.stats, tx.header(spaces.stats).count),
    },
    nodes: known.filter((entry) => isAlive(tx, entry)).map((entry) => describeNode(tx, entry)),
    silent: known.filter((entry) => !isAlive(tx, entry)).map((entry) => describeNode(tx, entry)),
    counters: readCounters(tx),
    outbox: listFeeds(tx),
    run:
      run === null
        ? null
        : {
            id: run.id,
            startedAt: run.startedAtMs,
            pages: state.runPages,
            closed: run.closed ?? run.closing,
            endedAt: run.closed === null ? null : run.closedAtMs,
          },
    control: meta?.control ?? 'running',
    shape: agreedShape(meta),
    queueLimit: meta === null || meta.run === null ? null : meta.tunables.queueLimit,
    beganAtMs: meta?.beganAtMs ?? null,
    seenSinceMs: meta?.seenSinceMs ?? null,
  };
}

/** Null too where a cleared dupefilter may be followed by one of another class. */
function agreedShape(meta: Meta | null): Shape | null {
  if (meta === null || meta.shape === null || meta.dupefilter === null) return null;
  return { ...meta.shape, dupefilter: meta.dupefilter };
}

function describeNode(tx: Transaction, entry: IncarnationEntry): NodeSnapshot {
  const { info, beatAtMs, leased, pages, pagesPerSecond } = entry;
  return {
    id: info.id,
    host: info.host,
    pid: info.pid,
    startedAt: info.startedAtMs,
    heartbeatAgeMs: Math.max(0, Math.round(tx.nowMs - beatAtMs)),
    leased,
    pages,
    pagesPerSecond,
    // One machine, one clock.
    clockAheadMs: 0,
  };
}

/** Entries looked at to know how large those of a list are. */
const SAMPLE = 50;

const listBytes = (tx: Transaction, space: Buffer): number =>
  sampledBytes(tx, Table.list, space, tx.header(space).count);

/** A list is as large as its first entries make it seem. */
function sampledBytes(tx: Transaction, table: Table, space: Buffer, count: number): number {
  const entries = tx.entries(keyOf(table, space), SAMPLE);
  if (entries.length === 0) return 0;
  const size = sum(entries.map(({ key, value }) => key.length + value.length));
  return Math.round((size / entries.length) * Math.max(count, entries.length));
}

/** How much each part holds. */
export function countParts(tx: Transaction): PartCounts {
  // The counters of another data format mean something else; its requests can still be counted.
  const isOurs = (tx.format() ?? dataFormats.embedded) === dataFormats.embedded;
  const state = (isOurs ? tx.peekState() : undefined) ?? emptyState();
  const { spaces } = tx;
  return {
    queue: isOurs ? openWork(state) : count(tx.scan(Table.request, tx.spaces.crawl)),
    dupefilter: tx.dupefilter.count(),
    start_urls: sum(spaces.startUrls.map(({ good, bad }) => tx.header(good).count + tx.header(bad).count)),
    items: tx.header(spaces.items).count,
    stats: tx.header(spaces.stats).count,
    failed: state.failed,
  };
}

/** Where one request stands. */
export function inspectRequest(tx: Transaction, request: FrontierRequest): Inspection {
  const seen = tx.dupefilter.has(request.fingerprint);
  const life = request.unfiltered ? null : tx.dupefilter.life(request.fingerprint);
  const live = liveRequest(tx, request.id);
  if (live === null) {
    return {
      state: seen ? 'seen' : 'unknown',
      seen,
      record: null,
      crashes: 0,
      owner: null,
      leasedAtMs: null,
      dueAtMs: null,
      failure: null,
      life,
    };
  }
  const entry = decodeRequest(live.bytes);
  const lease = leaseOfAny(tx, live.number);
  const holder = lease === null ? null : tx.incarnation(lease.incarnation);
  return {
    state: lease !== null ? 'leased' : entry.phase === 'suspect' ? 'pending' : entry.phase,
    seen,
    record: entry.record || null,
    crashes: entry.crashes,
    owner: holder === null ? null : incarnationName(holder.info.id, holder.number),
    leasedAtMs: lease?.atMs ?? null,
    dueAtMs: lease === null ? dueAtOfRequest(tx, entry) : null,
    failure: entry.phase === 'failed' ? failureOf(tx, entry) : null,
    life,
  };
}

function leaseOfAny(tx: Transaction, number: number): LeaseEntry | null {
  for (const incarnation of tx.incarnations()) {
    const lease = leaseOf(tx, incarnation.number, number);
    if (lease !== null) return lease;
  }
  return null;
}

function dueAtOfRequest(tx: Transaction, entry: RequestEntry): number | null {
  if (entry.phase === 'delayed') return Math.ceil(entry.at / 1000);
  const domain = entry.phase === 'pending' || entry.phase === 'suspect' ? tx.domain(entry.domain) : null;
  const opensAtMs = domain === null ? 0 : dueAtOf(tx, domain);
  return opensAtMs > tx.nowMs ? Math.ceil(opensAtMs) : null;
}

function failureOf(tx: Transaction, entry: RequestEntry): Inspection['failure'] {
  const found = failureAt(tx, entry.at);
  if (found === null) return null;
  const { reason, status, attempts, node, failedAtMs, detail } = found;
  return { reason, status, attempts, node, failedAtMs, detail };
}

function count(entries: Iterable<unknown>): number {
  let total = 0;
  for (const _ of entries) total += 1;
  return total;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
