/** Repair in a folder: the rows of `request`, and the counters, from the rows of `record` and `failure`. */
import type { ReadRecord, StoredRecord } from '../../care/care-store.js';
import type { Repaired } from '../../frontier.js';
import { nodesAtWork } from '../../refusals.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { FirstShape } from '../crawl/crawl-row.js';
import type { Transaction } from '../crawl/transaction.js';
import { addFailure } from '../failed/failed-list.js';
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

export function beginRepair(tx: Transaction, shape: FirstShape, force: boolean): void {
  tx.replaceLostTally();
  tx.create(shape);
  const live = force ? 0 : tx.nodes.live().length;
  if (live > 0) throw nodesAtWork(live, 'repair');
  clearIndexes(tx);
  tx.sql.run`DELETE FROM node WHERE space = ${tx.space}`;
  tx.nodes.forget();
}

export function beginRebuild(tx: Transaction, shape: FirstShape): boolean {
  if (isLeased(tx)) return false;
  tx.replaceLostTally();
  tx.create(shape);
  clearIndexes(tx);
  for (const node of tx.nodes.all()) node.leased = 0;
  return true;
}

function clearIndexes(tx: Transaction): void {
  const { sql, space, crawl, tally } = tx;
  crawl.repairing ??= crawl.control;
  crawl.control = 'paused';
  sql.run`UPDATE request SET node = NULL, token = NULL, leased_at = NULL
    WHERE space = ${space} AND (node IS NOT NULL OR token IS NOT NULL)`;
  // A domain keeps its delay timer and delays; its state and head are computed again.
  sql.run`UPDATE domain SET state = 'idle', until = NULL, head_rank = NULL, head_arrival = NULL, active = 0 WHERE space = ${space}`;
  tx.domains.forget();
  Object.assign(tally, { volunteer: 0, hungry: 0, domains: sql.count('domain', space) });
}

interface Row {
  readonly id: Uint8Array;
  readonly arrived: number;
  readonly due_at: number | null;
  /** Of its row in `request`; null where it has none. */
  readonly state: RequestState | null;
  readonly domain: string | null;
  readonly priority: number;
  readonly crashes: number | null;
  readonly dont_filter: 0 | 1 | null;
  readonly failure: number | null;
}

export function putRequests(tx: Transaction, batch: readonly ReadRecord<RecordRow>[]): void {
  for (const one of batch) putRequest(tx, one);
}

function putRequest(tx: Transaction, { stored: { n }, request }: ReadRecord<RecordRow>): void {
  const { sql, space, crawl } = tx;
  const row = sql.get<Row>`
    SELECT record.id, arrived, due_at, state, domain, priority, crashes, dont_filter, sequence AS failure
    FROM record LEFT JOIN request USING (n) LEFT JOIN failure USING (n) WHERE n = ${n}`;
  if (row === undefined) return;
  const { id, due_at: due, failure } = row;
  const isFailed = failure !== null || row.state === 'failed' || request === null;
  if (isFailed && failure === null)
    addFailure(tx, n, reasonOf(tx, row.state === 'failed' ? 'unknown' : 'bad_record'));
  const crashes = row.crashes ?? 0;
  const state = isFailed ? 'failed' : due === null ? pendingState(crashes) : 'delayed';
  const domain = plainText(row.domain || (request?.domain ?? ''));
  const priority = row.domain ? row.priority : (request?.priority ?? 0);
  const { rank, arrival } = orderOf(crawl.queue_class, priority, row.arrived);
  const isPut = sql.run`
    INSERT INTO request (n, space, id, state, domain, priority, rank, arrival, due, crashes, dont_filter)
    VALUES (${n}, ${space}, ${id}, ${state}, ${domain}, ${priority}, ${rank}, ${arrival}, ${due}, ${crashes}, ${row.dont_filter ?? 0})
    ON CONFLICT (n) DO UPDATE SET state = excluded.state, domain = excluded.domain, priority = excluded.priority,
      rank = excluded.rank, arrival = excluded.arrival, due = excluded.due
    ON CONFLICT (space, id) DO NOTHING`;
  // A second record of the same request.
  if (isPut === 0) sql.run`DELETE FROM record WHERE n = ${n}`;
  else if (state === 'pending') tx.domains.addPending(domain, { rank, arrival });
}

function reasonOf({ nowMs }: Transaction, reason: string) {
  return { reason, status: null, attempts: 0, node: '', failedAtMs: nowMs, detail: null };
}

export async function endRepair(batch: CommitBatch): Promise<Repaired> {
  for (let after: Uint8Array | undefined = new Uint8Array(); after !== undefined; ) {
    const from: Uint8Array = after;
    after = await batch.write((tx) => dropWithoutRecord(tx, from));
  }
  return batch.write(setCounters);
}

/**
 * Requests without a record: one that failed is kept, as it may be beyond the limit of the failed list. Any other is lost.
 * @param after the id of the last one. @returns the same for the next step.
 */
function dropWithoutRecord(tx: Transaction, after: Uint8Array): Uint8Array | undefined {
  const { sql, space } = tx;
  const rows = sql.all<{
    n: number;
    id: Uint8Array;
    dont_filter: 0 | 1;
    state: string;
    isWhole: 0 | 1;
    isListed: 0 | 1;
  }>`
    SELECT n, id, dont_filter, state, EXISTS (SELECT 1 FROM record WHERE record.n = request.n) AS isWhole,
      EXISTS (SELECT 1 FROM failure WHERE failure.n = request.n) AS isListed
    FROM request WHERE space = ${space} AND id > ${after} ORDER BY id LIMIT ${STEP}`;
  for (const row of rows) {
    if (row.isWhole === 1) continue;
    if (row.state !== 'failed' && row.isListed === 0) noteLost(tx, row);
    else {
      sql.run`UPDATE request SET state = 'failed', due = NULL WHERE n = ${row.n}`;
      if (row.isListed === 0) addFailure(tx, row.n, reasonOf(tx, 'unknown'));
    }
  }
  return rows.at(STEP - 1)?.id;
}

/** Everything is in its place: count it. */
function setCounters(tx: Transaction): Repaired {
  const { sql, space, spaces, crawl, tally } = tx;
  sql.run`DELETE FROM failure WHERE space = ${space} AND n NOT IN (SELECT n FROM request WHERE space = ${space} AND state = 'failed')`;
  const counts = { pending: 0, suspect: 0, delayed: 0, leased: 0, failed: 0 };
  for (const { state, count } of sql.all<{ state: keyof typeof counts; count: number }>`
    SELECT state, count(*) AS count FROM request WHERE space = ${space} GROUP BY state`)
    counts[state] = count;
  const { suspect: suspects, ...others } = counts;
  const failed_records = sql.column<number>(
    'SELECT count(*) FROM failure JOIN record USING (n) WHERE failure.space = ?',
    space,
  )[0]!;
  Object.assign(tally, { ...others, suspects, failed_records });
  for (const list of spaces.lists) list.entries = sql.count(list.table, list.id);
  const idle = `SELECT name FROM domain WHERE space = ? AND state = 'idle' AND until IS NULL`;
  for (const name of sql.column<string>(idle, space)) {
    // Its state is computed when it is written; a row with nothing to remember is deleted.
    tx.domains.change(name);
  }
  crawl.control = crawl.repairing ?? 'running';
  crawl.repairing = null;
  Object.assign(tally, { stall_since: 0, stall_owner: 0, stall_tried: tally.run_leased + 1 });
  const { delayed, failed } = tally;
  const pending = tally.pending + suspects;
  const counted = pending + delayed + failed + tally.done + tally.removed;
  // What was accepted and is nowhere any more is lost. Requests that were counted as lost may have been found again.
  const lost = Math.max(0, (tally.accepted || counted + tally.lost) - counted);
  tally.lost = lost;
  tally.accepted = counted + lost;
  return { pending, delayed, failed };
}
