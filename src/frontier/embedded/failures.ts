/** The failed list: why each request failed, oldest first. */
import type { FailedRequest } from '../frontier.js';
import { HEAD_BYTES, keyOf, nothing, numberedKey, readUint53, Table } from './keys.js';
import { dropRequest, keepRequest, liveRequest, takeNumber } from './live.js';
import { decodeRequest, phaseOf, type RequestEntry } from './request-entry.js';
import type { Transaction } from './transaction.js';

/** What is kept beside the request itself. */
export interface Failure {
  readonly id: string;
  readonly reason: string;
  readonly status: number | null;
  readonly attempts: number;
  readonly node: string;
  readonly failedAtMs: number;
  readonly detail: string | null;
}

/** Move a request to the failed list; beyond the limit its record is not kept. */
export function fail(
  tx: Transaction,
  number: number,
  entry: RequestEntry,
  failure: Omit<Failure, 'id' | 'failedAtMs'>,
  before: number,
): void {
  const state = tx.state();
  state.failedSequence += 1;
  state.failed += 1;
  entry.phase = 'failed';
  entry.at = state.failedSequence;
  if (state.failedRecords < tx.meta().tunables.failedLimit) state.failedRecords += 1;
  else entry.record = '';
  const text: Failure = { ...failure, id: entry.id, failedAtMs: tx.nowMs };
  tx.put(failureKey(tx, state.failedSequence), Buffer.from(JSON.stringify(text)), 0);
  keepRequest(tx, number, entry, before);
}

/** The failure of a number in the list; null when there is none. */
export function failureAt(tx: Transaction, sequence: number): Failure | null {
  const bytes = tx.get(failureKey(tx, sequence));
  return bytes === undefined ? null : (JSON.parse(bytes.toString()) as Failure);
}

/** Put a request of a backup at the end of the list, its record only where it was kept. */
export function restoreFailed(tx: Transaction, request: FailedRequest): void {
  const { id, record, crashes, ...why } = request;
  const state = tx.state();
  state.failedSequence += 1;
  state.failed += 1;
  if (record !== null) state.failedRecords += 1;
  tx.put(failureKey(tx, state.failedSequence), Buffer.from(JSON.stringify({ id, ...why })), 0);
  const entry: RequestEntry = {
    ...{ phase: 'failed', crashes, unfiltered: false, priority: 0, arrival: 0, at: state.failedSequence },
    ...{ id, recorded: 0, domain: '', record: record ?? '' },
  };
  keepRequest(tx, takeNumber(tx, id), entry, 0);
}

/** Take a request off the failed list; what becomes of it is the caller's business. */
export function dropFailure(tx: Transaction, entry: RequestEntry): void {
  const state = tx.state();
  tx.delete(failureKey(tx, entry.at));
  state.failed -= 1;
  if (entry.record !== '') state.failedRecords -= 1;
}

/** Failed → removed. @returns how many were failed. */
export function purgeFailed(tx: Transaction, ids: readonly string[]): number {
  let purged = 0;
  for (const id of ids) {
    const live = liveRequest(tx, id);
    if (live === null || phaseOf(live.bytes) !== 'failed') continue;
    const entry = decodeRequest(live.bytes);
    dropFailure(tx, entry);
    dropRequest(tx, live.number, entry, live.bytes.length);
    purged += 1;
  }
  if (purged > 0) tx.state().removed += purged;
  return purged;
}

/** A page of the failed list; the cursor is the sequence to go on from. */
export function listFailed(
  tx: Transaction,
  cursor: string | null,
  max: number,
): { requests: FailedRequest[]; cursor: string | null } {
  const prefix = keyOf(Table.failed, tx.spaces.crawl);
  const start = cursor === null ? prefix : failureKey(tx, Number(cursor));
  const entries = tx.entries(prefix, max + 1, start);
  const requests = entries.slice(0, max).map(({ value }) => describe(tx, value));
  const next = entries[max];
  return { requests, cursor: next === undefined ? null : String(readUint53(next.key, HEAD_BYTES)) };
}

function describe(tx: Transaction, value: Buffer): FailedRequest {
  const failure = JSON.parse(value.toString()) as Failure;
  const live = liveRequest(tx, failure.id);
  const entry = live === null ? null : decodeRequest(live.bytes);
  return { ...failure, record: entry?.record || null, crashes: entry?.crashes ?? 0 };
}

function failureKey(tx: Transaction, sequence: number): Buffer {
  return numberedKey(Table.failed, tx.spaces.crawl, sequence, nothing);
}
