/** What `stats` shows: a crawl at one instant, in bounded work. */

import { countersSince } from '../../../stats/counters-since.js';
import { splitStats } from '../../../stats/stat-change.js';
import type { NodeSnapshot, PartCounts, RunSnapshot, Shape, Snapshot } from '../../frontier.js';
import { assessmentOf, deadNodesOf, factsOf } from '../../telemetry/stored-telemetry.js';
import { type CrawlRow, newTally, openWork, type TallyRow } from '../base/crawl-row.js';
import type { Space } from '../base/keyspaces.js';
import type { Transaction } from '../base/transaction.js';
import { listFeeds } from '../feeds/outbox.js';
import { incarnationName, type NodeRow } from '../nodes/node-row.js';
import { otherFormatOf, refuseOtherFormat } from '../nodes/shared-settings.js';
import { textOf } from '../telemetry/texts.js';

/** Rows looked at to know how large those of a list are. */
const SAMPLE = 50;

export function takeSnapshot(tx: Transaction): Snapshot {
  refuseOtherFormat(tx);
  const stats = splitStats(tx.counters.all());
  const { spaces } = tx;
  const tally = tx.hasCrawl ? tx.tally : newTally(0, 0);
  const crawl = tx.hasCrawl ? tx.crawl : null;
  const nodes = tx.nodes.all();
  return {
    startUrls: sum(spaces.startUrls.map(({ good }) => good.entries)),
    badSeeds: sum(spaces.startUrls.map(({ bad }) => bad.entries)),
    pending: tally.pending + tally.suspects,
    delayed: tally.delayed,
    leased: tally.leased,
    suspects: tally.suspects,
    accepted: tally.accepted,
    done: tally.done,
    failed: tally.failed,
    removed: tally.removed,
    lost: tally.lost,
    seen: tx.dupefilter.count(),
    seenGone: tally.seen_gone,
    seenExpires: false,
    items: spaces.items.entries,
    domains: tally.domains,
    bytes: partBytes(tx, tally),
    memory: null,
    deadNodes: deadNodesOf(textOf(tx, 'dead')),
    assessment: assessmentOf(textOf(tx, 'assessment')),
    nodes: nodes.filter((node) => tx.nodes.isAlive(node)).map((node) => describe(tx, node)),
    silent: nodes.filter((node) => !tx.nodes.isAlive(node)).map((node) => describe(tx, node)),
    ...stats,
    outbox: listFeeds(tx),
    run: crawl === null ? null : runOf(crawl, tally, stats.counters),
    control: crawl?.control ?? 'running',
    shape: crawl === null ? null : agreedShape(crawl),
    queueLimit: crawl === null || crawl.run === null ? null : crawl.tunables.queueLimit,
    memoryLimit: crawl === null || crawl.run === null ? null : crawl.tunables.memoryLimit,
    beganAtMs: crawl?.began_at ?? null,
    usedAtMs: crawl === null ? null : Math.max(tx.usedAtMs, crawl.began_at),
    seenSinceMs: crawl?.seen_since ?? null,
  };
}

/** Disk space of each part. */
export function partBytes(tx: Transaction, tally: TallyRow): Snapshot['bytes'] {
  const { spaces } = tx;
  return {
    frontier: requestBytes(tx, openWork(tally) + tally.failed),
    dupefilter: tx.dupefilter.bytes(),
    startUrls: sum(spaces.startUrls.map(({ good }) => listBytes(tx, good, 'value'))),
    items: listBytes(tx, spaces.items, 'text'),
    stats: listBytes(tx, spaces.stats, 'name'),
  };
}

/** How much each part holds. */
export function countParts(tx: Transaction): PartCounts {
  const { spaces } = tx;
  // The counters of another data format may mean something else.
  const isOther = otherFormatOf(tx) !== null;
  const tally = tx.hasCrawl && !isOther ? tx.tally : newTally(0, 0);
  return {
    queue: isOther ? tx.sql.count('request', tx.space) : openWork(tally),
    dupefilter: tx.dupefilter.count(),
    start_urls: sum(spaces.startUrls.map(({ good, bad }) => good.entries + bad.entries)),
    items: spaces.items.entries,
    stats: spaces.stats.entries,
    failed: tally.failed,
  };
}

function runOf({ run }: CrawlRow, tally: TallyRow, counters: Snapshot['counters']): RunSnapshot | null {
  if (run === null) return null;
  const { id, startedAtMs, closed, closing } = run;
  return {
    id,
    startedAt: startedAtMs - tally.clock_ahead,
    pages: tally.run_leased,
    items: tally.run_items,
    failed: tally.run_failed,
    errorPages: tally.run_error_pages,
    hasGoodPage: tally.run_good_pages > 0,
    counters: countersSince(run.counters, counters),
    closed: (closed ?? closing)?.reason ?? null,
    endedAt: closed?.atMs ?? null,
  };
}

/** Null too where a cleared dupefilter may be followed by one of another class. */
function agreedShape({ shape, dupefilter }: CrawlRow): Shape | null {
  return shape === null || dupefilter === null ? null : { ...shape, dupefilter };
}

function describe(tx: Transaction, node: NodeRow): NodeSnapshot {
  return {
    id: node.id,
    host: node.host,
    pid: node.pid,
    startedAt: node.started_at,
    heartbeatAgeMs: Math.max(0, Math.round(tx.nowMs - node.beat_at)),
    leased: node.leased,
    pages: node.settled,
    pagesPerSecond: node.pages_per_second,
    // One machine, one clock.
    clockAheadMs: 0,
    facts: factsOf(textOf(tx, `node:${incarnationName(node.id, node.number)}`)),
  };
}

/** Bytes of a row of the request table with its indexes, beside the record and twice the domain's name (measured). */
const REQUEST_BYTES = 110;

function requestBytes({ sql, space }: Transaction, count: number): number {
  const row = sql.get<{ mean: number | null }>`
    SELECT avg(octet_length(text) + 2 * octet_length(domain)) AS mean FROM (
      SELECT text, domain FROM request LEFT JOIN record USING (n, space, id) WHERE space = ${space} LIMIT ${SAMPLE})`;
  return Math.round(count * (REQUEST_BYTES + (row?.mean ?? 0)));
}

/** What a list takes: its entries are about as large as the first ones, and some bytes beside. */
function listBytes({ sql }: Transaction, { table, id, entries }: Space, column: string): number {
  if (entries === 0) return 0;
  const some = `SELECT ${column} FROM ${table} WHERE space = ? LIMIT ${SAMPLE}`;
  const [mean] = sql.column<number | null>(`SELECT avg(octet_length(${column})) FROM (${some})`, id);
  return Math.round(entries * ((mean ?? 0) + 16));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
