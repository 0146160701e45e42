/** Who takes part: joining, signs of life, being declared dead, leaving, and the run that all this makes. */
import type {
  Budgets,
  HeartbeatAnswer,
  HeartbeatReport,
  Joined,
  JoinOptions,
  Left,
  NodeInfo,
  Silence,
  Tunables,
} from '../frontier.js';
import { restoreUnderWay } from '../restore-refusals.js';
import { type Flush, flushNotice } from '../run-notices.js';
import { tunableNotice } from '../shape.js';
import { decideShape, refuseOtherDupefilter, refuseOtherFormat, refuseOtherShape } from './agreement.js';
import { clearFinished, flush } from './clear.js';
import { decodeDomain } from './domain-entry.js';
import { giveBack, leasesOf } from './holding.js';
import { type IncarnationEntry, incarnationName, newIncarnationNumber } from './incarnation-entry.js';
import { Table } from './keys.js';
import { crawlState } from './lease.js';
import { closedJustNow, joinBudgets } from './limits.js';
import { isAlive, isSurelyAlive, liveNodes, showLife } from './liveness.js';
import { newRun } from './meta.js';
import { processStart } from './processes.js';
import { placeAll } from './queue.js';
import { moveLeases } from './settle.js';
import { sweepSome } from './sweep.js';
import type { Transaction } from './transaction.js';

/** Leases moved by one step of recovery: a transaction of a few ms. */
const RECOVERY_STEP = 100;

/**
 * Register a node as a new incarnation; starts or continues the run. `number` is 0 when it should not start.
 * @param first false for a node that was declared dead and joins anew.
 */
export function join(
  tx: Transaction,
  node: NodeInfo,
  options: JoinOptions,
  first: boolean,
): { number: number; joined: Joined } {
  if (tx.peekState() === undefined) refuseOtherDupefilter(tx, options.shape.dupefilter);
  tx.create(options.shape);
  refuseOtherFormat(tx);
  if (tx.meta().restoring !== null) throw restoreUnderWay();
  const others = liveNodes(tx).length;
  const beginsRun = beginsNewRun(tx, others);
  const flushes = options.flushOnStart && first && beginsRun;
  if (!flushes) refuseOtherShape(tx, options.shape);
  declareDead(tx);
  const number = newIncarnationNumber();
  const justClosed = beginsRun ? closedJustNow(tx, options.budgets) : null;
  const nothing = { pending: 0, delayed: 0, leased: 0, seen: 0, nodes: others };
  const incarnation = incarnationName(node.id, number);
  if (justClosed !== null) {
    const joined = { incarnation, run: '', found: nothing, startPushed: false, justClosed, notices: [] };
    return { number: 0, joined };
  }
  const flushed = options.flushOnStart && first ? flushOnStart(tx, options, beginsRun, others) : null;
  const notices = [...flushNotice(flushed, others), ...setTunables(tx, options.tunables)];
  if (beginsRun) beginRun(tx, options.budgets);
  else joinBudgets(tx, options.budgets);
  // A stop was for those that are gone, unless this is one of them and joins anew.
  const isForOthers = beginsRun || (others === 0 && first);
  if (tx.meta().control === 'stopping' && isForOthers) tx.changeMeta().control = 'running';
  const state = tx.state();
  const joined: Joined = {
    incarnation,
    run: tx.meta().run?.id ?? '',
    found: {
      pending: state.queued + state.suspects,
      delayed: state.delayed,
      leased: state.leased,
      seen: tx.dupefilter.count(),
      nodes: others,
    },
    startPushed: tx.meta().startPushed,
    justClosed: null,
    notices,
  };
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
  // A process that was killed while it cleared has left some for others to sweep.
  let isDone = sweepSome(tx) && tx.dupefilter.tidy();
  if (tx.peekState() === undefined) return { moved: 0, isDone };
  declareDead(tx);
  let moved = 0;
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
    if (entry.leased > 0) isDone &&= moved === 0;
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

/**
 * Deregister; leases still held go back uncounted. The last one ends the run, and may clear the crawl. With
 * `heardWithinMs` it stays where all others may have been killed.
 */
export function leave(
  tx: Transaction,
  number: number,
  reason: string,
  options: { persist: boolean; isRejoin: boolean; heardWithinMs?: number | undefined },
): Left {
  const { hasStart } = tx.meta();
  const entry = tx.incarnation(number);
  if (options.heardWithinMs !== undefined && !options.persist && entry?.isDead === false) {
    const silence = crawlState(tx, hasStart).finished ? silentBeside(tx, entry, options.heardWithinMs) : null;
    if (silence !== null) return { last: false, cleared: false, awaits: silence };
  }
  if (entry !== null) {
    for (const held of leasesOf(tx, number, 100_000)) giveBack(tx, held);
    if (!entry.isDead) forgetAlive(tx, entry);
    tx.dropIncarnation(number);
  }
  if (options.isRejoin) return { last: false, cleared: false };
  declareDead(tx);
  if (tx.state().alive > 0) return { last: false, cleared: false };
  const { run } = tx.changeMeta();
  if (run !== null && run.closed === null) {
    run.closed = run.closing ?? reason;
    run.closedAtMs = tx.nowMs;
  }
  const isOver = run?.closed === 'finished' && crawlState(tx, hasStart).finished;
  if (options.persist || !isOver) return { last: true, cleared: false };
  clearFinished(tx);
  return { last: true, cleared: true };
}

/** The others, when there are some and none is known to live. Whoever stays for them has shown a sign of life itself. */
function silentBeside(tx: Transaction, self: IncarnationEntry, heardWithinMs: number): Silence | null {
  showLife(tx, self);
  const others = liveNodes(tx).filter(({ number }) => number !== self.number);
  if (others.length === 0 || others.some((entry) => isSurelyAlive(tx, entry, heardWithinMs))) return null;
  const { nodeTimeoutMs } = tx.meta().tunables;
  return {
    incarnations: others.map(({ info, number }) => incarnationName(info.id, number)),
    forMs: Math.max(...others.map(({ beatAtMs }) => beatAtMs)) + nodeTimeoutMs - tx.nowMs,
  };
}

function forgetAlive(tx: Transaction, entry: IncarnationEntry): void {
  const state = tx.state();
  state.alive -= 1;
  if (state.volunteer === entry.number) state.volunteer = 0;
}

/** A run ends with its last node, or with a reason once no node lives; one whose nodes all died goes on. */
function beginsNewRun(tx: Transaction, others: number): boolean {
  const { run } = tx.meta();
  return run === null || run.closed !== null || (run.closing !== null && others === 0);
}

/** Forget the earlier runs where a new one begins, and say what became of it otherwise. */
function flushOnStart(
  tx: Transaction,
  { shape }: JoinOptions,
  beginsRun: boolean,
  others: number,
): Flush | null {
  if (!beginsRun) return others > 0 ? 'others' : 'interrupted';
  const hadAnything = tx.state().accepted > 0 || tx.dupefilter.count() > 0;
  flush(tx, shape);
  decideShape(tx, shape);
  return hadAnything ? 'flushed' : null;
}

function beginRun(tx: Transaction, budgets: Budgets): void {
  const meta = tx.changeMeta();
  const state = tx.state();
  meta.run = newRun(tx.nowMs, budgets);
  Object.assign(state, { runPages: 0, runItems: 0, runErrors: 0, runAccepted: 0, busyAtMs: tx.nowMs });
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
