/** Leases: granting, finding and ending them, and returning their requests to the queue. */
import type { Lease } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { delayOf } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import type { LifeChange } from '../dupefilters/dupefilter.js';
import { ContradictingRows } from '../file/sqlite-errors.js';
import type { NodeRow } from '../nodes/node-row.js';
import { bytesOf, hexOf, makePending, noteLost, type RequestRow } from '../queue/requests.js';
import { reservePage } from '../requests/budgets.js';

/** A leased request. */
export interface LeasedRow extends RequestRow {
  readonly id: Uint8Array;
  readonly crashes: number;
  readonly node: number;
  readonly token: number;
  readonly leased_at: number;
}

/**
 * Lease the pending request or suspect with row number `n`. The caller decrements the pending or suspects counter and starts
 * the domain's delay timer. @returns null where its record is gone, as after a DELETE by hand: the request is deleted and
 * counted as lost.
 */
export function grantLease(tx: Transaction, holder: NodeRow, domain: DomainRow, n: number): Lease | null {
  const { sql, tally, crawl, nowMs } = tx;
  const token = tally.tokens + 1;
  const granted = sql.get<GrantedRow>`
    UPDATE request SET state = 'leased', node = ${holder.number}, token = ${token}, leased_at = ${nowMs} WHERE n = ${n}
    RETURNING id, crashes, (SELECT text FROM record WHERE record.n = request.n) AS text`;
  if (granted === undefined) throw new ContradictingRows(`an index holds request ${n}, which has no row`);
  const { id, crashes, text } = granted;
  if (text === null) {
    noteLost(tx, { n, id });
    return null;
  }
  tally.tokens = token;
  tally.leased += 1;
  reservePage(tx);
  domain.active += 1;
  holder.leased += 1;
  tx.dupefilter.open()?.onLife(id, { state: 'leased' });
  return {
    id: hexOf(id),
    token: tokenText(holder.number, token),
    record: text,
    domain: domain.name,
    delayMs: Math.ceil(delayOf(domain, crawl)),
    crashes,
  };
}

interface GrantedRow extends Pick<LeasedRow, 'id' | 'crashes'> {
  readonly text: string | null;
}

/** The request of this id that a node has leased with this token; null where it has no such lease. */
export function findLease(
  { sql, space }: Transaction,
  node: number,
  token: string,
  id: string,
): LeasedRow | null {
  const row = sql.get<LeasedRow>`
    SELECT n, id, domain, rank, arrival, crashes, node, token, leased_at FROM request
    WHERE space = ${space} AND id = ${bytesOf(id)} AND state = 'leased' AND node = ${node}`;
  return row !== undefined && tokenText(node, row.token) === token ? row : null;
}

/** The leased requests of a node, at most `max`, in the order of their leases. A node holds some dozens. */
export function leasesOf({ sql, space }: Transaction, node: number, max = 100_000): LeasedRow[] {
  return sql.all`
    SELECT n, id, domain, rank, arrival, crashes, node, token, leased_at FROM request
    WHERE node = ${node} AND state = 'leased' AND space = ${space} ORDER BY token LIMIT ${max}`;
}

/**
 * End a lease in the counters of its node, domain and crawl, and record the new state of its request in the dupefilter, which
 * knows none with dontFilter. The caller moves the request to that state.
 */
export function endLease(
  tx: Transaction,
  { id, node, domain, crashes }: LeasedRow,
  change: LifeChange,
): void {
  tx.dupefilter.open()?.onLife(id, change);
  tx.tally.leased -= 1;
  const row = tx.domains.change(domain);
  // Its row is new where somebody has deleted it.
  row.active = Math.max(0, row.active - 1);
  const holder = tx.nodes.find(node);
  if (holder === null) return;
  holder.leased -= 1;
  // The volunteer's suspect is settled: any node may be the next volunteer.
  if (tx.tally.volunteer === node && crashes > 0) tx.tally.volunteer = 0;
}

/** End a lease and make its request pending again, with its old arrival. @param crashes its new count of crashes. */
export function returnToQueue(tx: Transaction, held: LeasedRow, crashes = held.crashes): void {
  endLease(tx, held, { state: 'pending' });
  makePending(tx, held, crashes);
}

/** Fencing token of a lease. Lease numbers of a crawl rise and node numbers are random, so an old token never matches. */
export function tokenText(node: number, token: number): string {
  return `${node.toString(16)}.${token.toString(36)}`;
}
