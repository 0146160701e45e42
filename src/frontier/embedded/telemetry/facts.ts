/** How the domains of a crawl stand, and what decisions about it need, at one instant. */
import { sum } from '../../telemetry/demand.js';
import { factsOf } from '../../telemetry/stored-telemetry.js';
import { READY_DOMAINS_READ } from '../../types/limits.js';
import { limitedBytes } from '../../types/reports.js';
import type {
  CrawlFacts,
  DomainRobots,
  DomainState,
  InspectedDomain,
  KnownDomain,
} from '../../types/telemetry.js';
import type { Transaction } from '../base/transaction.js';
import { partBytes } from '../crawl/snapshot.js';
import { autoDelayOf, delayOf, dueAtOf, isRandomized, settingsDelayOf } from '../domains/delay-timer.js';
import { type DomainRow, newDomain } from '../domains/domain-row.js';
import { concurrencyOf } from '../domains/domain-state.js';
import { readFeedRows } from '../feeds/feed-row.js';
import { chooseSuspect } from '../leases/suspects.js';
import { incarnationName } from '../nodes/node-row.js';
import { pagesLeft } from '../requests/budgets.js';
import { readOrigin } from '../robots/origins.js';
import { countsOf } from './reports.js';
import { textOf } from './texts.js';

/** Counting takes SQLite 0.3 ms for a thousand requests: what comes beyond these is estimated. */
const MOST_COUNTED = 10_000;

export function knownDomains(tx: Transaction, from: number, most: number): KnownDomain[] {
  if (!tx.hasCrawl) return [];
  const names = tx.sql.all<{ domain: string }>`SELECT domain FROM domain_stats
    WHERE space = ${tx.spaces.telemetry.id} ORDER BY reported_at DESC LIMIT ${most} OFFSET ${from}`;
  return names.map(({ domain }) => {
    return { ...stateOf(tx, rowOf(tx, domain), Number.MAX_SAFE_INTEGER), counts: countsOf(tx, domain) };
  });
}

export function inspectDomain(tx: Transaction, name: string): InspectedDomain | null {
  if (!tx.hasCrawl) return null;
  const row = tx.domains.find(name);
  const counts = countsOf(tx, name);
  const robots = [`https://${name}`, `http://${name}`].flatMap((origin): DomainRobots[] => {
    const found = readOrigin(tx, origin);
    if (found === null) return [];
    const { state, reason, delay_ms: delayMs, until } = found;
    return [{ origin, state, reason, delayMs, forMs: Math.max(0, until - tx.nowMs) }];
  });
  if (row === null && robots.length === 0 && Object.keys(counts).length === 0) return null;
  return { ...stateOf(tx, rowOf(tx, name), Number.MAX_SAFE_INTEGER), counts, robots };
}

export function crawlFacts(tx: Transaction): CrawlFacts | null {
  if (!tx.hasCrawl) return null;
  const { sql, space, tally, crawl, spaces, nowMs } = tx;
  const first = (condition: 'ready' | 'active' | 'waiting') =>
    sql.column<string>(`${firstDomains[condition]} LIMIT ${READY_DOMAINS_READ}`, space);
  const ready = first('ready');
  const busy = new Set([...first('active'), ...first('waiting')].filter((name) => !ready.includes(name)));
  const counted = sql.get<{ queued: number; ready: number; due: number | null }>`SELECT
    (SELECT count(*) FROM domain WHERE space = ${space} AND head_rank IS NOT NULL) AS queued,
    (SELECT count(*) FROM domain WHERE space = ${space} AND state = 'ready') AS ready,
    (SELECT min(due) FROM request WHERE space = ${space} AND state = 'delayed') AS due`!;
  const counter = (name: string): number =>
    sql.get<{ value: number }>`SELECT value FROM counter WHERE space = ${spaces.stats.id} AND name = ${name}`
      ?.value ?? 0;
  const nodes = tx.nodes.live();
  const states = (names: Iterable<string>) =>
    [...names].map((name) => stateOf(tx, rowOf(tx, name), MOST_COUNTED));
  const read = estimated([...states(ready), ...states(busy)], tally.pending);
  return {
    ...{ atMs: tx.wallMs, control: crawl.control, closing: crawl.run?.closing?.reason ?? null },
    ...{ pagesLeft: pagesLeft(tx), startUrls: sum(spaces.startUrls.map(({ good }) => good.entries)) },
    ...{ pending: tally.pending + tally.suspects, suspects: tally.suspects, delayed: tally.delayed },
    leasableSuspects: leasableSuspects(tx),
    delayedDueInMs: counted.due === null ? null : Math.max(0, Math.round(counted.due / 1_000) - nowMs),
    ...{ leased: tally.leased, accepted: tally.accepted, done: tally.done, failures: tally.run_failed },
    ...{ items: counter('item_scraped_count'), retries: counter('retry/count') },
    queueLimit: crawl.tunables.queueLimit,
    memoryLimit: crawl.tunables.memoryLimit,
    storedBytes: crawl.tunables.memoryLimit > 0 ? limitedBytes(partBytes(tx, tally)) : 0,
    outbox: sum(readFeedRows(tx).map(({ last, written }) => Math.max(0, last - written))),
    ...{
      queuedDomains: counted.queued,
      readyDomains: counted.ready,
      ready: read.slice(0, ready.length),
      busy: read.slice(ready.length),
    },
    nodes: nodes.flatMap(({ id, number }) => {
      const facts = factsOf(textOf(tx, `node:${incarnationName(id, number)}`));
      if (facts === null) return [];
      return number === tally.volunteer ? { ...facts, obstacle: 'suspect' } : facts;
    }),
    liveNodes: nodes.length,
    storeCpuSeconds: null,
  };
}

/** Whether a suspect may be leased now, as a number. A volunteer has one, or is about to. */
function leasableSuspects(tx: Transaction): number {
  const { volunteer } = tx.tally;
  if (volunteer !== 0 && tx.nodes.findAlive(volunteer) !== null) return 0;
  return chooseSuspect(tx) === null ? 0 : 1;
}

const firstDomains = {
  ready: `SELECT name FROM domain WHERE space = ? AND state = 'ready' ORDER BY head_rank, head_arrival`,
  // SQLite would walk through all requests of the space.
  active: `SELECT DISTINCT domain FROM request INDEXED BY request_leased WHERE space = ? AND state = 'leased'`,
  waiting: `SELECT name FROM domain WHERE space = ? AND state = 'waiting' AND head_rank IS NOT NULL ORDER BY until`,
};

/** A domain without requests and without a delay has no row. */
function rowOf(tx: Transaction, name: string): DomainRow {
  return tx.domains.find(name) ?? newDomain(tx.space, name);
}

/** Domains with more requests than were counted share those that no other one has. */
function estimated(domains: readonly DomainState[], pending: number): DomainState[] {
  const large = domains.filter((domain) => domain.pending >= MOST_COUNTED).length;
  const uncounted = pending - sum(domains.map((domain) => domain.pending));
  const more = large === 0 ? 0 : Math.max(0, Math.floor(uncounted / large));
  return domains.map((domain) =>
    domain.pending < MOST_COUNTED ? domain : { ...domain, pending: domain.pending + more },
  );
}

function stateOf(tx: Transaction, domain: DomainRow, mostCounted: number): DomainState {
  const { sql, space, crawl, nowMs } = tx;
  const { name, active, head_rank, blocked_until, paused_by, next_at } = domain;
  const delayMs = delayOf(domain, crawl);
  const isBlocked = blocked_until > nowMs && blocked_until >= next_at;
  const { m = 0, a = 0 } = countsOf(tx, name);
  return {
    ...{ name, leased: active, limit: concurrencyOf(domain, crawl), delayMs },
    pending: head_rank === null ? 0 : pendingOf(tx, name, mostCounted),
    delayBy: delayMs === 0 ? null : delaySource(domain, delayMs, tx),
    isDelayRandom: delayMs > 0 && isRandomized(domain, crawl),
    dueInMs: Math.max(0, dueAtOf(domain, nowMs) - nowMs),
    blockedBy: isBlocked ? (waitsForRobots() ? 'robots' : paused_by) : null,
    latencyMs: a > 0 ? Math.floor(m / a) : 0,
  };

  /** A robots.txt that is not known yet keeps its domain waiting until the same instant. */
  function waitsForRobots(): boolean {
    const row = sql.get`SELECT 1 FROM robots WHERE space = ${space} AND rest_until = ${blocked_until}
      AND origin IN (${`https://${name}`}, ${`http://${name}`})`;
    return row !== undefined;
  }
}

function delaySource(domain: DomainRow, delayMs: number, { crawl }: Transaction): DomainState['delayBy'] {
  if (delayMs === settingsDelayOf(domain, crawl)) return 'settings';
  return delayMs === autoDelayOf(domain, crawl) ? 'autothrottle' : 'robots';
}

function pendingOf({ sql, space }: Transaction, domain: string, most: number): number {
  return sql.get<{ count: number }>`SELECT count(*) AS count FROM (SELECT 1 FROM request
    WHERE space = ${space} AND domain = ${domain} AND state = 'pending' LIMIT ${most})`!.count;
}
