/** Who takes part: joining, signs of life, being declared dead, leaving, and the run that all this makes. */
import { RefusedError } from '../../errors.js';
import type {
  HeartbeatAnswer,
  HeartbeatReport,
  Joined,
  JoinOptions,
  NodeInfo,
  Tunables,
} from '../frontier.js';
import { otherShape, tunableNotice } from '../shape.js';
import { clearFinished } from './clear.js';
import { decodeDomain } from './domain-entry.js';
import { giveBack, leasesOf } from './holding.js';
import { type IncarnationEntry, incarnationName, newIncarnationNumber } from './incarnation-entry.js';
import { Table } from './keys.js';
import { crawlState } from './lease.js';
import { isAlive, liveNodes } from './liveness.js';
import { FORMAT, newRun, PAGE_BUDGET } from './meta.js';
import { processStart } from './processes.js';
import { placeAll } from './queue.js';
import { moveLeases } from './settle.js';
import type { Transaction } from './transaction.js';

/** Leases moved by one step of recovery: a transaction of a few ms. */
const RECOVERY_STEP = 100;

/** Register a node as a new incarnation; starts or continues the run. `number` is 0 when it should not start. */
export function join(
  tx: Transaction,
  node: NodeInfo,
  options: JoinOptions,
): { number: number; joined: Joined } {
  tx.create(options.shape.queueClass);
  refuseOtherShape(tx, options);
  declareDead(tx);
  const number = newIncarnationNumber();
  const notices = setTunables(tx, options.tunables);
  const state = tx.state();
  const joined: Joined = {
    incarnation: incarnationName(node.id, number),
    found: {
      pending: state.queued + state.suspects,
      delayed: state.delayed,
      leased: state.leased,
      seen: tx.header(tx.spaces.dupefilter).count,
      nodes: liveNodes(tx).length,
    },
    startPushed: tx.meta().startPushed,
    justClosed: beginRun(tx, options.budgets.maxPages),
    notices,
  };
  if (joined.justClosed !== null) return { number: 0, joined };
  tx.changeMeta().hasStart = options.hasStart;
  // Nobody was there to be idle.
  if (state.alive === 0) state.busyAtMs = tx.nowMs;
  state.alive += 1;
  tx.keepIncarnation({
    number,
    info: {
      ...node,
      startedAtMs: tx.nowMs,
      processStart: processStart(node.pid),
      feeds: options.feeds,
      hasStart: options.hasStart,
    },
    beatAtMs: tx.nowMs,
    pages: 0,
    pagesPerSecond: 0,
    leased: 0,
    isDead: false,
  });
  return { number, joined };
}

/** A sign of life. */
export function heartbeat(tx: Transaction, number: number, report: HeartbeatReport): HeartbeatAnswer {
  if (tx.peekState() === undefined) return 'gone';
  const entry = tx.incarnation(number);
  if (entry === null || entry.isDead) return 'dead';
  entry.beatAtMs = tx.nowMs;
  entry.pagesPerSecond = report.pagesPerSecond;
  tx.keepIncarnation(entry);
  return 'alive';
}

/** Declare the silent dead, then move some of their leases. @returns how many moved, and whether more are left. */
export function recoverStep(tx: Transaction): { moved: number; isDone: boolean } {
  if (tx.peekState() === undefined) return { moved: 0, isDone: true };
  declareDead(tx);
  let moved = 0;
  let isDone = true;
  for (const entry of tx.incarnations()) {
    if (!entry.isDead) continue;
    if (moved < RECOVERY_STEP && entry.leased > 0) {
      moved += moveLeases(
        tx,
        entry.number,
        incarnationName(entry.info.id, entry.number),
        RECOVERY_STEP - moved,
      );
    }
    if (entry.leased > 0) isDone = moved === 0;
    else tx.dropIncarnation(entry.number);
  }
  return { moved, isDone };
}

/** Mark incarnations dead that are silent for too long, or whose process is gone from this machine. */
function declareDead(tx: Transaction): void {
  const { nodeTimeoutMs } = tx.meta().tunables;
  for (const entry of tx.incarnations()) {
    if (entry.isDead) continue;
    // A heartbeat from the future is a clock that was set back: it counts from now.
    if (entry.beatAtMs > tx.nowMs + nodeTimeoutMs) {
      entry.beatAtMs = tx.nowMs;
      tx.keepIncarnation(entry);
    }
    if (!isAlive(tx, entry)) {
      entry.isDead = true;
      tx.keepIncarnation(entry);
      forgetAlive(tx, entry);
    }
  }
}

/** Deregister; leases still held go back uncounted. The last one ends the run, and may clear the crawl. */
export function leave(
  tx: Transaction,
  number: number,
  reason: string,
  options: { persist: boolean; isRejoin: boolean },
): { last: boolean; cleared: boolean } {
  const { hasStart } = tx.meta();
  const entry = tx.incarnation(number);
  if (entry !== null) {
    for (const held of leasesOf(tx, number, 100_000)) giveBack(tx, held);
    if (!entry.isDead) forgetAlive(tx, entry);
    tx.dropIncarnation(number);
  }
  if (options.isRejoin) return { last: false, cleared: false };
  declareDead(tx);
  if (tx.state().alive > 0) return { last: false, cleared: false };
  const { run } = tx.changeMeta();
  if (run !== null) run.closed ??= run.closing ?? reason;
  if (options.persist || !crawlState(tx, hasStart).finished) return { last: true, cleared: false };
  clearFinished(tx);
  return { last: true, cleared: true };
}

function forgetAlive(tx: Transaction, entry: IncarnationEntry): void {
  const state = tx.state();
  state.alive -= 1;
  if (state.volunteer === entry.number) state.volunteer = 0;
}

/** @throws RefusedError naming both values; a crawl without a shape gets this one. */
function refuseOtherShape(tx: Transaction, { shape }: JoinOptions): void {
  const meta = tx.meta();
  if (meta.format !== FORMAT) {
    throw new RefusedError(
      `this crawl was written in data format ${meta.format} and this version writes ${FORMAT}: use the version that wrote it, or reset the crawl`,
      { code: 'format' },
    );
  }
  const isUndecided = meta.shape === null && tx.state().accepted === 0;
  const refusal = otherShape(meta.shape ?? { queueClass: meta.queueClass }, shape);
  if (refusal !== null && !isUndecided) throw refusal;
  if (meta.shape !== null) return;
  const changed = tx.changeMeta();
  changed.shape = shape;
  changed.queueClass = shape.queueClass;
}

/** Start a run where none is open. @returns why this node should not start, when the run was closed just now. */
function beginRun(tx: Transaction, maxPages: number): string | null {
  const { run, tunables } = tx.meta();
  const state = tx.state();
  const isEnded = run === null || run.closed !== null || (run.closing !== null && state.alive === 0);
  if (!isEnded) {
    if (maxPages > 0 && maxPages !== run.maxPages) {
      const changed = tx.changeMeta().run;
      if (changed !== null) changed.maxPages = maxPages;
    }
    return null;
  }
  if (
    run?.closing === PAGE_BUDGET &&
    run.maxPages === maxPages &&
    tx.nowMs - run.closingAtMs < tunables.nodeTimeoutMs
  ) {
    return PAGE_BUDGET;
  }
  const meta = tx.changeMeta();
  meta.run = newRun(tx.nowMs, maxPages);
  if (meta.control === 'stopping') meta.control = 'running';
  state.runPages = 0;
  state.runAccepted = 0;
  state.busyAtMs = tx.nowMs;
  return null;
}

/** The latest node's tunables hold for all. @returns what changed for others. */
function setTunables(tx: Transaction, tunables: Tunables): string[] {
  const before = tx.meta().tunables;
  const names = Object.keys(tunables) as (keyof Tunables)[];
  const changed = names.filter((name) => before[name] !== tunables[name]);
  if (changed.length === 0) return [];
  tx.changeMeta().tunables = tunables;
  if (before.concurrencyPerDomain !== tunables.concurrencyPerDomain) placeBusyDomains(tx);
  if (tx.state().alive === 0) return [];
  return changed.map((name) => tunableNotice(name, before[name], tunables[name]));
}

/** A changed concurrency fills or frees domains: all that are leased from find their place anew. */
function placeBusyDomains(tx: Transaction): void {
  const names: string[] = [];
  for (const { value } of tx.scan(Table.domain, tx.spaces.crawl)) {
    const { name, active } = decodeDomain(value);
    if (active > 0) names.push(name);
  }
  placeAll(tx, names);
}
