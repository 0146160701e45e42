/** Live requests: a row and its record each. Functions that change the state also update the counters. */
import { classOf } from '../../dupefilter-classes.js';
import { PROMOTED_AT_ONCE } from '../../types/limits.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import type { Transaction } from '../base/transaction.js';
import { plainText } from '../file/statements.js';
import { forgetEarly } from '../requests/early-links.js';
import { type Order, orderOf } from './order.js';

/** `suspect` is pending too, but is leased alone: a node died while it processed the request. */
export type RequestState = 'pending' | 'suspect' | 'delayed' | 'leased' | 'failed';

/** Fields needed to change a request's state. */
export interface RequestRow extends Order {
  readonly n: number;
  readonly domain: string;
}

/** A request to be inserted. */
export interface NewRequest {
  readonly id: Uint8Array;
  readonly domain: string;
  readonly priority: number;
  readonly crashes: number;
  readonly record: string;
}

/** The bytes of 40 hex digits. */
export const bytesOf = (id: string): Buffer => Buffer.from(id, 'hex');

/** 40 hex digits of bytes. */
export const hexOf = (id: Uint8Array): string =>
  Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');

/** The live request of an id, or undefined. */
export function liveRequest(
  { sql, space }: OpenCrawl,
  id: Uint8Array,
): { readonly n: number; readonly state: RequestState } | undefined {
  return sql.get`SELECT n, state FROM request WHERE space = ${space} AND id = ${id}`;
}

/**
 * Insert a request that is pending, a suspect where it crashed before, or delayed until `dueUs`. @returns false where its id is
 * live already.
 */
export function insertRequest(
  tx: Transaction,
  request: NewRequest,
  arrivalUs: number,
  dueUs: number | null,
): boolean {
  const { sql, space, crawl } = tx;
  const { id, priority, crashes, record } = request;
  const domain = plainText(request.domain);
  const order = orderOf(crawl.queue_class, priority, arrivalUs);
  const state = dueUs === null ? pendingState(crashes) : 'delayed';
  // Where somebody has deleted the last request, its record is still there, for a rebuild.
  const n = sql.insert`
    INSERT INTO request (n, space, id, state, domain, priority, rank, arrival, due, crashes)
    VALUES (max((SELECT coalesce(max(n), 0) FROM request), (SELECT coalesce(max(n), 0) FROM record)) + 1, ${space}, ${id}, ${state}, ${domain}, ${priority}, ${order.rank}, ${order.arrival}, ${dueUs}, ${crashes})
    ON CONFLICT DO NOTHING`;
  if (n === 0) return false;
  sql.run`INSERT INTO record (n, space, id, arrived, due_at, text) VALUES (${n}, ${space}, ${id}, ${arrivalUs}, ${dueUs}, ${record})`;
  countAsWaiting(tx, state, domain, order);
  return true;
}

/** Make a request pending, or a suspect where it has crashes. The caller ends its former state. */
export function makePending(
  tx: Transaction,
  { n, domain, rank, arrival }: RequestRow,
  crashes: number,
): void {
  const state = pendingState(crashes);
  tx.sql.run`
    UPDATE request SET state = ${state}, rank = ${rank}, arrival = ${arrival}, due = NULL, crashes = ${crashes},
      node = NULL, token = NULL, leased_at = NULL
    WHERE n = ${n}`;
  countAsWaiting(tx, state, domain, { rank, arrival });
}

/** Delay a request for `delayMs`, with a new record and priority. The caller ends its former state. */
export function delay(tx: Transaction, n: number, delayMs: number, priority: number, record: string): void {
  const arrival = tx.takeArrival();
  const due = dueAfter(tx, arrival, delayMs);
  tx.sql.run`
    UPDATE request SET state = 'delayed', due = ${due}, priority = ${priority}, node = NULL, token = NULL, leased_at = NULL
    WHERE n = ${n}`;
  tx.sql.run`REPLACE INTO record (n, space, id, arrived, due_at, text)
    SELECT n, space, id, ${arrival}, due, ${record} FROM request WHERE n = ${n}`;
  tx.tally.delayed += 1;
}

/** The state of a request that waits to be leased. */
export const pendingState = (crashes: number) => (crashes > 0 ? 'suspect' : 'pending');

/** Count a request that waits in this state, and let its domain know of a pending one. */
export function countAsWaiting(
  { tally, domains }: Transaction,
  state: RequestState,
  domain: string,
  order: Order,
): void {
  if (state === 'delayed') tally.delayed += 1;
  else if (state === 'suspect') tally.suspects += 1;
  else {
    tally.pending += 1;
    domains.addPending(domain, order);
  }
}

/** After the system clock was set back, arrivals are ahead of it. If by more than this, in µs, due times count from the clock. */
const CLOSE_US = 1_000_000;

/**
 * A due time `delayMs` from now, in µs, at most MAX_SAFE_INTEGER. Requests that are delayed equally long keep the order in
 * which they were delayed, since it counts from their arrivals.
 */
export function dueAfter({ nowMs }: Transaction, arrivalUs: number, delayMs: number): number {
  const nowUs = nowMs * 1000;
  const from = arrivalUs - nowUs < CLOSE_US ? arrivalUs : nowUs;
  return Math.min(from + Math.round(delayMs * 1000), Number.MAX_SAFE_INTEGER);
}

/** Make delayed requests pending that are due, a bounded number, with a new arrival. */
export function promoteDelayed(tx: Transaction): void {
  if (tx.tally.delayed === 0) return;
  const { sql, space, crawl, nowMs } = tx;
  const due = sql.all<{ n: number; domain: string; priority: number; crashes: number }>`
    SELECT n, domain, priority, crashes FROM request WHERE space = ${space} AND state = 'delayed' AND due <= ${nowMs * 1000}
    ORDER BY due LIMIT ${PROMOTED_AT_ONCE}`;
  for (const { n, domain, priority, crashes } of due) {
    const arrival = tx.takeArrival();
    const order = orderOf(crawl.queue_class, priority, arrival);
    sql.run`UPDATE record SET arrived = ${arrival}, due_at = NULL WHERE n = ${n}`;
    tx.tally.delayed -= 1;
    makePending(tx, { n, domain, ...order }, crashes);
  }
}

/**
 * Delete a request whose record vanished from the file, because somebody deleted rows or a repair could not save it. It is
 * counted as lost, and its fingerprint is forgotten, so that links and seeds bring it back. Some classes cannot forget.
 */
export function noteLost(tx: Transaction, { n, id }: { readonly n: number; readonly id: Uint8Array }): void {
  deleteRequest(tx, n);
  forgetEarly(tx, id);
  tx.tally.lost += 1;
  const seen = tx.dupefilter.open();
  if (seen === null || !classOf(seen.choice).canForget) return;
  if (seen.forget(id)) tx.crawl.epoch += 1;
}

/** Delete a request with its record. */
export function deleteRequest({ sql }: OpenCrawl, n: number): void {
  sql.run`DELETE FROM request WHERE n = ${n}`;
  sql.run`DELETE FROM record WHERE n = ${n}`;
}
