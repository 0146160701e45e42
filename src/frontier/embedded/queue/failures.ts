/** The failed list: why each request failed, oldest first. */
import type { FailedRequest } from '../../frontier.js';
import type { Transaction } from '../crawl/transaction.js';
import { plainText } from '../file/statements.js';
import { incarnationName, type NodeRow } from '../nodes/node-row.js';
import { bytesOf, deleteRequest, hexOf, liveRequest } from './requests.js';

/** Why a request failed. */
export interface Failure {
  readonly reason: string;
  readonly status: number | null;
  readonly attempts: number;
  readonly node: string;
  readonly failedAtMs: number;
  readonly detail: string | null;
}

/** Move a request to the failed list; beyond the limit its record is not kept. The caller ends its former state. */
export function fail(
  tx: Transaction,
  n: number,
  failure: Omit<Failure, 'node' | 'failedAtMs'>,
  { id, number }: NodeRow,
  crashes: number,
): void {
  const { sql, tally, crawl, nowMs } = tx;
  sql.run`UPDATE request SET state = 'failed', crashes = ${crashes}, node = NULL, token = NULL, leased_at = NULL WHERE n = ${n}`;
  const hasRecord = sql.get`SELECT n FROM record WHERE n = ${n}` !== undefined;
  if (hasRecord && tally.failed_records < crawl.tunables.failedLimit) tally.failed_records += 1;
  else sql.run`DELETE FROM record WHERE n = ${n}`;
  tally.failed += 1;
  tally.run_failed += 1;
  addFailure(tx, n, { ...failure, node: incarnationName(id, number), failedAtMs: nowMs });
}

/** Put the failure of a request at the end of the list. */
export function addFailure({ sql, space }: Transaction, n: number, failure: Failure): void {
  const { reason, status, attempts, node, failedAtMs, detail } = failure;
  sql.run`INSERT INTO failure (n, space, reason, status, attempts, node, failed_at, detail)
    VALUES (${n}, ${space}, ${plainText(reason)}, ${status}, ${attempts}, ${plainText(node)}, ${failedAtMs},
      ${detail === null ? null : plainText(detail)})`;
}

/** Take a request off the failed list; the caller moves it to its next state. */
export function dropFailure({ sql, tally }: Transaction, n: number): void {
  sql.run`DELETE FROM failure WHERE n = ${n}`;
  tally.failed -= 1;
  if (sql.get`SELECT n FROM record WHERE n = ${n}` !== undefined) tally.failed_records -= 1;
}

/** Failed → removed. @returns how many were failed. */
export function purgeFailed(tx: Transaction, ids: readonly string[]): number {
  let purged = 0;
  for (const id of ids) {
    const live = liveRequest(tx, bytesOf(id));
    if (live?.state !== 'failed') continue;
    dropFailure(tx, live.n);
    deleteRequest(tx, live.n);
    purged += 1;
  }
  if (purged > 0) tx.tally.removed += purged;
  return purged;
}

/** A page of the failed list; the cursor is the sequence to go on from. */
export function listFailed(
  { sql, space }: Transaction,
  cursor: string | null,
  max: number,
): { requests: FailedRequest[]; cursor: string | null } {
  const rows = sql.all<Omit<FailedRequest, 'id'> & { sequence: number; id: Uint8Array }>`
    SELECT sequence, id, reason, status, attempts, failure.node, failed_at AS failedAtMs, detail, text AS record, crashes
    FROM failure JOIN request USING (n) LEFT JOIN record USING (n)
    WHERE failure.space = ${space} AND sequence >= ${Number(cursor ?? 0)} ORDER BY sequence LIMIT ${max + 1}`;
  const requests = rows.slice(0, max).map(({ sequence: _, id, ...row }) => ({ id: hexOf(id), ...row }));
  const next = rows[max];
  return { requests, cursor: next === undefined ? null : String(next.sequence) };
}

/** Why a request failed; null where it did not. */
export function failureOf({ sql }: Transaction, n: number): Failure | null {
  const row = sql.get<Failure>`
    SELECT reason, status, attempts, node, failed_at AS failedAtMs, detail FROM failure WHERE n = ${n}`;
  return row ?? null;
}
