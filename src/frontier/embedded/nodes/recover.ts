/** Recovery: mark silent nodes dead, then give their leases back, a bounded step at a time. And the sign of life. */
import {
  type CrashedRequest,
  type HeartbeatAnswer,
  KILLS_WITHIN,
  KILLS_WITHIN_MS,
  MAX_CRASHES,
  MAX_CRASHES_AMONG_KILLS,
  MAX_HELD_IDS,
} from '../../frontier.js';
import type { RecoveryStep } from '../../recovery.js';
import type { Transaction } from '../base/transaction.js';
import { sweepSome } from '../crawl/sweep.js';
import { fail } from '../failed/failed-list.js';
import { endLease, type LeasedRow, leasesOf, returnToQueue } from '../leases/lease-records.js';
import { delay, hexOf } from '../queue/requests.js';
import { noteDeath } from '../telemetry/events.js';
import { incarnationNumber, type NodeRow } from './node-row.js';

/** After so many leases a step moves those of no further node: a transaction of a few ms. */
const STEP = 100;

/** A sign of life. */
export function heartbeat(tx: Transaction, incarnation: string, pagesPerSecond: number): HeartbeatAnswer {
  if (!tx.hasCrawl) return 'gone';
  const node = tx.nodes.findAlive(incarnationNumber(incarnation));
  if (node === null) return 'dead';
  node.beat_at = tx.nowMs;
  node.pages_per_second = pagesPerSecond;
  return 'alive';
}

/** One step of recovery, and of sweeping what a process that was killed had cleared. */
export function recoverStep(tx: Transaction): RecoveryStep {
  const nodes: RecoveryStep['nodes'][number][] = [];
  const failed: CrashedRequest[] = [];
  let isDone = sweepSome(tx);
  if (!tx.hasCrawl) return { nodes, failed, isDone };
  isDone = tx.dupefilter.tidy() && isDone;
  declareDead(tx);
  let moved = 0;
  for (const node of tx.nodes.all()) {
    if (node.is_dead === 0) continue;
    if (moved >= STEP) {
      isDone = false;
      break;
    }
    const leases = leasesOf(tx, node.number);
    const last = leases.at(-1);
    const wasAlone = last !== undefined && last.crashes > 0;
    for (const held of leases) {
      if (wasAlone && held !== last) returnToQueue(tx, held);
      else countCrash(tx, node, held, failed);
    }
    moved += leases.length;
    nodes.push({ incarnation: node.number, id: node.id, count: leases.length });
    if (!wasAlone) noteKill(tx);
    tx.nodes.drop(node.number);
  }
  return { nodes, failed, isDone };
}

/** A node died that was not processing a suspect. */
function noteKill({ tally, nowMs }: Transaction): void {
  tally.killed_before = tally.killed_at;
  tally.killed_at = nowMs;
}

/**
 * While nodes die that no suspect explains, somebody kills them from outside: then a suspect proves less by its crashes.
 * @returns until when that holds, if no other node is killed; 0 where it does not
 */
function killsUntil({ tally, crawl, nowMs }: Transaction): number {
  const withinMs = Math.max(KILLS_WITHIN_MS, KILLS_WITHIN * crawl.tunables.nodeTimeoutMs);
  const untilMs = tally.killed_before + withinMs;
  return untilMs > nowMs ? untilMs : 0;
}

/** Once, a request that would fail among kills waits until they are over, and is then a suspect for the last time. */
function waitForQuiet(tx: Transaction, held: LeasedRow, crashes: number, untilMs: number): void {
  const { sql, nowMs } = tx;
  const row = sql.get<{ priority: number; text: string }>`
    SELECT priority, text FROM request JOIN record USING (n) WHERE request.n = ${held.n}`;
  if (row === undefined) {
    // The lease that meets it counts it as lost.
    returnToQueue(tx, held, crashes);
    return;
  }
  endLease(tx, held, { state: 'delayed' });
  sql.run`UPDATE request SET crashes = ${crashes} WHERE n = ${held.n}`;
  delay(tx, held.n, untilMs - nowMs, row.priority, row.text);
}

/** Mark nodes dead that are silent for too long, or whose process is gone from this machine: their tokens are stale now. */
export function declareDead(tx: Transaction): void {
  for (const node of tx.nodes.all()) {
    if (node.is_dead === 1) continue;
    if (tx.nodes.isAlive(node)) continue;
    node.is_dead = 1;
    noteDeath(
      tx,
      node,
      leasesOf(tx, node.number, MAX_HELD_IDS).map(({ id }) => hexOf(id)),
    );
  }
}

/** A request whose node died while it held it: with its last crash it fails. */
function countCrash(tx: Transaction, node: NodeRow, held: LeasedRow, failed: CrashedRequest[]): void {
  const crashes = held.crashes + 1;
  const untilMs = killsUntil(tx);
  const most = untilMs > 0 ? MAX_CRASHES_AMONG_KILLS : MAX_CRASHES;
  if (crashes < most) {
    returnToQueue(tx, held, crashes);
    return;
  }
  if (untilMs > 0 && crashes === most) {
    waitForQuiet(tx, held, crashes, untilMs);
    return;
  }
  endLease(tx, held, { state: 'failed' });
  const why = { reason: 'crashed', status: null, attempts: crashes, detail: null };
  const record = fail(tx, held.n, why, node, crashes);
  tx.counters.add({ 'crashed/count': 1 });
  failed.push({ id: hexOf(held.id), record, crashes });
}
