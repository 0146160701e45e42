/** Repair in a folder: the rows of `request`, and the counters, from the rows of `record` and `failure`. */
import {
  BROKEN_RESTORE_LOSS,
  CRAWL_RECORD_LOSS,
  type PutRecord,
  type Rebuilt,
  type StoredRecord,
} from '../../care/care-store.js';
import { nodesAtWork } from '../../refusals.js';
import type { CommitBatch } from '../base/commit-batch.js';
import type { FirstShape } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import { boundTimer } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import { addFailure } from '../failed/failed-list.js';
import { mendOutboxes } from '../feeds/damaged-outboxes.js';
import { plainText } from '../file/statements.js';
import { isLeased } from '../leases/stall.js';
import { orderOf } from '../queue/order.js';
import { noteLost, pendingState, type RequestState } from '../queue/requests.js';

/** Requests of one step: a transaction of some ms. */
const STEP = 500;

/** A record with the number of its request. */
export interface RecordRow extends StoredRecord {
  readonly n: number;
}

export function beginRepair(tx: Transaction, shape: FirstShape, force: boolean): string[] {
  const isNew = !tx.hasCrawl && (tx.space > 0 || tx.spaces.dupefilter.id > 0);
  tx.replaceLostTally();
  tx.create(shape, true);
  // A node of a crawl whose record is gone is refused whatever it does.
  const live = force || isNew ? 0 : tx.nodes.live().length;
  if (live > 0) throw nodesAtWork(live, 'repair');
  clearIndexes(tx);
  tx.sql.run`DELETE FROM node WHERE space = ${tx.space}`;
  tx.nodes.forget();
  return [...(isNew ? [CRAWL_RECORD_LOSS] : []), ...endBrokenRestore(tx)];
}

/** A restore that was cut off can go on no more: what is there is crawled. */
function endBrokenRestore({ crawl }: Transaction): string[] {
  if (crawl.restoring === null) return [];
  Object.assign(crawl, { restoring: null, restore_applied: 0, epoch: crawl.epoch + 1 });
  return [BROKEN_RESTORE_LOSS];
}

export function beginRebuild(tx: Transaction): boolean {
  if (isLeased(tx)) return false;
  clearIndexes(tx);
  for (const node of tx.nodes.all()) node.leased = 0;
  return true;
}

function clearIndexes(tx: Transaction): void {
  const { sql, space, crawl, tally, nowMs } = tx;
  crawl.repairing ??= crawl.control;
  crawl.control = 'paused';
  sql.run`UPDATE request SET node = NULL, token = NULL, leased_at = NULL
    WHERE space = ${space} AND (node IS NOT NULL OR token IS NOT NULL)`;
  // A domain keeps its delay timer and delays; its state and head are computed again.
  sql.run`UPDATE domain SET state = 'idle', until = NULL, head_rank = NULL, head_arrival = NULL, active = 0 WHERE space = ${space}`;
  tx.domains.forget();
  for (const row of sql.all<DomainRow>`SELECT * FROM domain WHERE space = ${space} AND max(next_at, blocked_until) > ${nowMs}`) {
    boundTimer(row, crawl, nowMs);
    sql.run`UPDATE domain SET next_at = ${row.next_at}, blocked_until = ${row.blocked_until}
      WHERE space = ${space} AND name = ${row.name}`;
  }
  Object.assign(tally, { volunteer: 0, hungry: 0, domains: sql.count('domain', space) });
}

interface Row {
  readonly id: Uint8Array;
  readonly arrived: number;
  readonly due_at: number | null;
  /** Of its row in `request`, like the next three; null where it has none. */
  readonly state: RequestState | null;
  readonly domain: string | null;
  readonly crashes: number | null;
  readonly failure: number | null;
}

export function putRequest(tx: Transaction, { stored: { n }, request }: PutRecord<RecordRow>): void {
  const { sql, space, crawl } = tx;
  const row = sql.get<Row>`
    SELECT record.id, arrived, due_at, state, domain, crashes, sequence AS failure
    FROM record LEFT JOIN request USING (n) LEFT JOIN failure USING (n) WHERE n = ${n}`;
  if (row === undefined) return;
  const { id, due_at: due, failure, crashes } = row;
  const isFailed = failure !== null || row.state === 'failed' || request === null;
  if (request === null && failure === null) addFailure(tx, n, badRecord(tx));
  const state = isFailed ? 'failed' : due === null ? pendingState(crashes ?? 0) : 'delayed';
  const domain = plainText(request?.domain ?? row.domain ?? '');
  const priority = request?.priority ?? 0;
  const { rank, arrival } = orderOf(crawl.queue_class, priority, row.arrived);
  const isPut = sql.run`
    INSERT INTO request (n, space, id, state, domain, priority, rank, arrival, due, crashes)
    VALUES (${n}, ${space}, ${id}, ${state}, ${domain}, ${priority}, ${rank}, ${arrival}, ${due}, ${crashes ?? 0})
    ON CONFLICT (n) DO UPDATE SET state = excluded.state, domain = excluded.domain, priority = excluded.priority,
      rank = excluded.rank, arrival = excluded.arrival, due = excluded.due
    ON CONFLICT (space, id) DO NOTHING`;
  // A second record of the same request.
  if (isPut === 0) sql.run`DELETE FROM record WHERE n = ${n}`;
  else if (state === 'pending') tx.domains.addPending(domain, { rank, arrival });
}

function badRecord({ wallMs: failedAtMs }: Transaction) {
  return { reason: 'bad_record', status: null, attempts: 0, node: '', failedAtMs, detail: null };
}

export async function endRepair(batch: CommitBatch): Promise<Rebuilt> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = await batch.write((tx) => dropWithoutRecord(tx, from));
  }
  return batch.write(setCounters);
}

/**
 * Requests without a record are lost, but for those that failed: these may be beyond the limit of the failed list.
 * @param after the number of the last one. @returns the same for the next step.
 */
function dropWithoutRecord(tx: Transaction, after: number): number | undefined {
  const rows = tx.sql.all<{ n: number; id: Uint8Array }>`
    SELECT n, id FROM request WHERE space = ${tx.space} AND n > ${after} AND state <> 'failed'
      AND NOT EXISTS (SELECT 1 FROM record WHERE record.n = request.n)
      AND NOT EXISTS (SELECT 1 FROM failure WHERE failure.n = request.n) ORDER BY n LIMIT ${STEP}`;
  for (const row of rows) noteLost(tx, row);
  return rows.at(STEP - 1)?.n;
}

/** Everything is in its place: count it. */
function setCounters(tx: Transaction): Rebuilt {
  const { sql, space, crawl, tally } = tx;
  const before = tally.pending + tally.suspects + tally.delayed + tally.leased + tally.failed;
  sql.run`INSERT INTO failure (n, space, reason, attempts, node, failed_at)
    SELECT n, space, 'unknown', 0, '', ${tx.wallMs} FROM request WHERE space = ${space} AND state = 'failed'
      AND NOT EXISTS (SELECT 1 FROM failure WHERE failure.n = request.n)`;
  sql.run`UPDATE request SET state = 'failed', due = NULL
    WHERE space = ${space} AND state <> 'failed' AND n IN (SELECT n FROM failure WHERE space = ${space})`;
  sql.run`DELETE FROM failure WHERE space = ${space} AND n NOT IN (SELECT n FROM request WHERE space = ${space})`;
  const counts = { pending: 0, suspect: 0, delayed: 0, leased: 0, failed: 0 };
  for (const { state, count } of sql.all<{ state: keyof typeof counts; count: number }>`
    SELECT state, count(*) AS count FROM request WHERE space = ${space} GROUP BY state`)
    counts[state] = count;
  const { suspect: suspects, ...others } = counts;
  Object.assign(tally, { ...others, suspects, failed_records: failedRecords(sql, space) });
  const idle = `SELECT name FROM domain WHERE space = ? AND state = 'idle' AND until IS NULL`;
  for (const name of sql.column<string>(idle, space)) {
    // Its state is computed when it is written; a row with nothing to remember is deleted.
    tx.domains.change(name);
  }
  crawl.control = crawl.repairing ?? 'running';
  crawl.repairing = null;
  Object.assign(tally, {
    stall_since: 0,
    stall_owner: 0,
    stall_drains: 0,
    stall_tried: tally.run_leased + 1,
  });
  const { delayed, failed } = tally;
  const pending = tally.pending + suspects;
  return { pending, delayed, failed, losses: countLosses(tx, pending + delayed + failed, before) };
}

/** Failed requests whose records are kept. */
export function failedRecords(sql: Transaction['sql'], space: number): number {
  const query = 'SELECT count(*) FROM failure JOIN record USING (n) WHERE failure.space = ?';
  return sql.column<number>(query, space)[0]!;
}

/** Correct what contradicts itself, and count what is gone. @param live requests that are there. @param before the repair */
function countLosses(tx: Transaction, live: number, before: number): string[] {
  const { sql, spaces, tally } = tx;
  const losses: string[] = [];
  const gone = tx.dupefilter.recount();
  if (gone > 0)
    losses.push(`${spaces.dupefilter.name}: ${gone} of ${gone + tx.dupefilter.count()} fingerprints`);
  for (const list of spaces.lists) {
    const found = sql.count(list.table, list.id);
    if (found < list.entries) losses.push(`${list.name}: ${list.entries - found} of ${list.entries} entries`);
    list.entries = found;
  }
  const feeds = mendOutboxes(tx);
  const counted = live + tally.done + tally.removed;
  // What was accepted and is nowhere any more is lost, and what was lost stays so unless it was found again.
  const stillLost = tally.lost - Math.max(0, live - before);
  tally.lost = Math.max(0, tally.accepted - counted, stillLost) + feeds.lost;
  tally.accepted = counted + tally.lost;
  return [...losses, ...feeds.losses];
}
