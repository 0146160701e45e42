/**
 * Repair: counters, domains and the failed list are rebuilt from the rows of the requests. It works in steps, so that no
 * transaction is long. The crawl is paused meanwhile. A repair that broke off is done again from the start.
 */
import type { Frontier, Repaired } from '../../frontier.js';
import { nodesAtWork } from '../../refusals.js';
import { rebuildJars } from '../cookies/jars.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { FirstShape } from '../crawl/crawl-row.js';
import type { Transaction } from '../crawl/transaction.js';
import { addFailure } from '../failed/failed-list.js';
import { closeGaps, outboxBreaches } from '../feeds/damaged-outboxes.js';
import { orderOf } from '../queue/order.js';
import { countAsWaiting, hexOf, noteLost, pendingState, type RequestState } from '../queue/requests.js';

/** Requests of one step: a transaction of some ms. */
const STEP = 500;

/** What a record says of its request; null when it cannot be read. */
type ReadRecord = Parameters<Frontier['repair']>[0];

/** As `Frontier.repair` says. */
export async function repair(
  batch: CommitBatch,
  shape: FirstShape,
  read: ReadRecord,
  force: boolean,
): Promise<Repaired> {
  await batch.write((tx) => beginRepair(tx, shape, force));
  for (let after: Uint8Array | null = new Uint8Array(); after !== null; ) {
    const from: Uint8Array = after;
    after = await batch.write((tx) => repairStep(tx, from, read));
  }
  return batch.write(endRepair);
}

/** Pause the crawl and take all leases back. @throws RefusedError while nodes live, unless forced. */
function beginRepair(tx: Transaction, shape: FirstShape, force: boolean): void {
  tx.replaceLostTally();
  tx.create(shape);
  const live = force ? 0 : tx.nodes.live().length;
  if (live > 0) throw nodesAtWork(live, 'repair');
  const { sql, space, crawl, tally } = tx;
  crawl.repairing ??= crawl.control;
  crawl.control = 'paused';
  sql.run`UPDATE request SET node = NULL, token = NULL, leased_at = NULL
    WHERE space = ${space} AND (node IS NOT NULL OR token IS NOT NULL)`;
  sql.run`DELETE FROM node WHERE space = ${space}`;
  tx.nodes.forget();
  // What is known of robots.txt is fetched again.
  sql.run`DELETE FROM robots WHERE space = ${space}`;
  // A domain keeps its delay timer and delays; its state and head are computed again.
  sql.run`UPDATE domain SET state = 'idle', until = NULL, head_rank = NULL, head_arrival = NULL, active = 0 WHERE space = ${space}`;
  tx.domains.forget();
  rebuildJars(tx);
  const domains = sql.count('domain', space);
  Object.assign(tally, {
    ...{ pending: 0, suspects: 0, delayed: 0, leased: 0, failed: 0, failed_records: 0, domains },
    ...{ volunteer: 0, hungry: 0 },
  });
}

interface Row {
  readonly n: number;
  readonly id: Uint8Array;
  readonly state: RequestState;
  readonly domain: string;
  readonly rank: number;
  readonly arrival: number;
  readonly due: number | null;
  readonly crashes: number;
  readonly unfiltered: 0 | 1;
  readonly failure: number | null;
  readonly text: string | null;
}

/**
 * Count some requests, and put each where it belongs.
 * @param after the id of the last one. @returns the same for the next step; null at the end.
 */
function repairStep(tx: Transaction, after: Uint8Array, read: ReadRecord): Uint8Array | null {
  const { sql, space } = tx;
  const rows = sql.all<Row>`
    SELECT n, id, state, domain, rank, arrival, due, crashes, unfiltered, sequence AS failure, text
    FROM request LEFT JOIN record USING (n) LEFT JOIN failure USING (n)
    WHERE request.space = ${space} AND id > ${after} ORDER BY id LIMIT ${STEP}`;
  for (const row of rows) repairRequest(tx, row, read);
  return rows.length < STEP ? null : rows.at(-1)!.id;
}

function repairRequest(tx: Transaction, row: Row, read: ReadRecord): void {
  const { sql, tally } = tx;
  const { n, id, state, text, failure, due } = row;
  if (state === 'failed') {
    if (failure === null) addFailure(tx, n, unknownReason(tx, 'unknown'));
    tally.failed += 1;
    if (text !== null) tally.failed_records += 1;
    return;
  }
  if (failure !== null) sql.run`DELETE FROM failure WHERE n = ${n}`;
  if (text === null) {
    // Without a readable record it cannot be downloaded.
    noteLost(tx, row);
  } else if (row.domain === '' && read(hexOf(id), text) === null) {
    sql.run`UPDATE request SET state = 'failed' WHERE n = ${n}`;
    addFailure(tx, n, unknownReason(tx, 'bad_record'));
    tally.failed += 1;
    tally.failed_records += 1;
  } else if (state === 'delayed' && due !== null) {
    tally.delayed += 1;
  } else queue(tx, row, read);
}

/** Make a request pending with its rank and arrival. Where it has none, they are made from its record. */
function queue(tx: Transaction, row: Row, read: ReadRecord): void {
  const { sql, crawl } = tx;
  const { n, crashes } = row;
  let { domain, rank, arrival } = row;
  if (domain === '' || arrival === 0) {
    const recorded = read(hexOf(row.id), row.text ?? '');
    domain ||= recorded?.domain ?? 'unknown';
    if (arrival === 0)
      ({ rank, arrival } = orderOf(crawl.queue_class, recorded?.priority ?? -rank, tx.takeArrival()));
  }
  const state = pendingState(crashes);
  if (state !== row.state || domain !== row.domain || arrival !== row.arrival) {
    sql.run`UPDATE request SET state = ${state}, domain = ${domain}, rank = ${rank}, arrival = ${arrival},
      due = NULL WHERE n = ${n}`;
  }
  countAsWaiting(tx, state, domain, { rank, arrival });
}

function unknownReason({ nowMs }: Transaction, reason: string) {
  return { reason, status: null, attempts: 0, node: '', failedAtMs: nowMs, detail: null };
}

/** Set the other counters, and let the crawl go on as it was. */
function endRepair(tx: Transaction): Repaired {
  const { sql, space, spaces, crawl, tally } = tx;
  sql.run`DELETE FROM failure WHERE space = ${space} AND n NOT IN (SELECT n FROM request WHERE space = ${space} AND state = 'failed')`;
  sql.run`DELETE FROM record WHERE n NOT IN (SELECT n FROM request)`;
  const isLost = tx.dupefilter.open() === null && spaces.dupefilter.id !== 0;
  const open = isLost ? tx.dupefilter.begin() : tx.dupefilter.open();
  if (open !== null) {
    const count = open.recount();
    // Nodes must forget the links they know.
    if (count !== open.count) crawl.epoch += 1;
    open.count = count;
  }
  if (outboxBreaches(sql, spaces.feeds.id).length > 0) closeGaps(sql, spaces.feeds.id);
  for (const list of spaces.lists) list.entries = sql.count(list.table, list.id);
  const idle = `SELECT name FROM domain WHERE space = ? AND state = 'idle' AND until IS NULL`;
  for (const name of sql.column<string>(idle, space)) {
    // Its state is computed when it is written; a row with nothing to remember is deleted.
    tx.domains.change(name);
  }
  crawl.control = crawl.repairing ?? 'running';
  crawl.repairing = null;
  const pending = tally.pending + tally.suspects;
  const { delayed, failed } = tally;
  const counted = pending + delayed + failed + tally.done + tally.removed;
  // What was accepted and is nowhere any more is lost too.
  tally.lost = Math.max(tally.lost, tally.accepted - counted);
  tally.accepted = counted + tally.lost;
  return { pending, delayed, failed };
}
