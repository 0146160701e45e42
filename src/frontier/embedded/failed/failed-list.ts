/** The failed list: why each request failed, oldest first. */
import { type FailedRequest, type IgnoredPage, MAX_IGNORED } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { plainText } from '../file/statements.js';
import { incarnationName, type NodeRow } from '../nodes/node-row.js';
import { bytesOf, deleteRequest, hexOf, liveRequest } from '../queue/requests.js';
import { forgetEarly } from '../requests/early-links.js';

/** Why a request failed. */
export interface Failure {
  readonly reason: string;
  readonly status: number | null;
  readonly attempts: number;
  readonly node: string;
  readonly failedAtMs: number;
  readonly detail: string | null;
}

/** Move a request to the failed list. The caller ends its former state. @returns its record; null where it is not kept, beyond the limit. */
export function fail(
  tx: Transaction,
  n: number,
  failure: Omit<Failure, 'node' | 'failedAtMs'>,
  { id, number }: NodeRow,
  crashes: number,
): string | null {
  const { sql, tally, crawl, wallMs } = tx;
  sql.run`UPDATE request SET state = 'failed', crashes = ${crashes}, node = NULL, token = NULL, leased_at = NULL WHERE n = ${n}`;
  tally.failed += 1;
  tally.run_failed += 1;
  addFailure(tx, n, { ...failure, node: incarnationName(id, number), failedAtMs: wallMs });
  const record = sql.get<{ text: string }>`SELECT text FROM record WHERE n = ${n}`?.text ?? null;
  if (record !== null && tally.failed_records < crawl.tunables.failedLimit) {
    tally.failed_records += 1;
    return record;
  }
  sql.run`DELETE FROM record WHERE n = ${n}`;
  return null;
}

/** Put the failure of a request at the end of the list. */
export function addFailure({ sql, space }: Transaction, n: number, failure: Failure): void {
  const { reason, status, attempts, node, failedAtMs, detail } = failure;
  sql.run`INSERT INTO failure (n, space, reason, status, attempts, node, failed_at, detail)
    VALUES (${n}, ${space}, ${plainText(reason)}, ${status}, ${attempts}, ${plainText(node)}, ${failedAtMs},
      ${detail === null ? null : plainText(detail)})`;
}

/** Delete a failed request. @returns whether one of this id was failed. */
export function deleteFailed(tx: Transaction, id: Uint8Array): boolean {
  const live = liveRequest(tx, id);
  if (live?.state !== 'failed') return false;
  const { sql, tally } = tx;
  const { n } = live;
  sql.run`DELETE FROM failure WHERE n = ${n}`;
  tally.failed -= 1;
  if (sql.get`SELECT n FROM record WHERE n = ${n}` !== undefined) tally.failed_records -= 1;
  deleteRequest(tx, n);
  return true;
}

/** Failed → removed. @returns how many were failed. */
export function purgeFailed(tx: Transaction, ids: readonly string[]): number {
  const purged = ids.filter((id) => {
    const isPurged = deleteFailed(tx, bytesOf(id));
    if (isPurged) forgetEarly(tx, bytesOf(id));
    return isPurged;
  }).length;
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
    SELECT sequence, request.id, reason, status, attempts, failure.node, failed_at AS failedAtMs, detail, text AS record, crashes
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

/** Put a page at the end of the list of ignored ones. The oldest goes when the list is full. */
export function addIgnored({ sql, space }: Transaction, { status, url, referer }: IgnoredPage): void {
  sql.run`INSERT INTO ignored_page (space, status, url, referer)
    VALUES (${space}, ${status}, ${plainText(url)}, ${referer === null ? null : plainText(referer)})`;
  sql.run`DELETE FROM ignored_page WHERE space = ${space} AND sequence <=
    (SELECT sequence FROM ignored_page WHERE space = ${space} ORDER BY sequence DESC LIMIT 1 OFFSET ${MAX_IGNORED})`;
}

export function listIgnored({ sql, space }: Transaction): IgnoredPage[] {
  return sql.all<IgnoredPage>`SELECT status, url, referer FROM ignored_page WHERE space = ${space} ORDER BY sequence`;
}
