/** Leases: granting, finding and ending them, and returning their requests to the queue. */
import type { Lease } from '../../frontier.js';
import type { Transaction } from '../crawl/transaction.js';
import { delayOf } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import type { LifeChange } from '../dupefilters/dupefilter.js';
import { incarnationName, type NodeRow } from '../nodes/node-row.js';
import { noteLost } from './losses.js';
import type { Order } from './order.js';
import { deleteRequest, hexOf, returnToPending } from './requests.js';

/** A leased request. */
export interface LeasedRow {
  readonly n: number;
  readonly id: Uint8Array;
  readonly domain: string;
  readonly crashes: number;
  readonly unfiltered: 0 | 1;
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
  const { id, crashes, unfiltered, text } = sql.get<GrantedRow>`
    UPDATE request SET state = 'leased', node = ${holder.number}, token = ${token}, leased_at = ${nowMs} WHERE n = ${n}
    RETURNING id, crashes, unfiltered, (SELECT text FROM record WHERE record.n = request.n) AS text`!;
  if (text === null) {
    noteLost(tx, { n, id, unfiltered });
    return null;
  }
  tally.tokens = token;
  tally.leased += 1;
  tally.run_pages += 1;
  domain.active += 1;
  domain.pages += 1;
  holder.leased += 1;
  if (unfiltered === 0) tx.dupefilter.onLife(id, { state: 'leased' });
  return {
    id: hexOf(id),
    token: tokenText(holder.number, token, n),
    record: text,
    domain: domain.name,
    delayMs: Math.ceil(delayOf(domain, crawl)),
    crashes,
  };
}

interface GrantedRow extends Pick<LeasedRow, 'id' | 'crashes' | 'unfiltered'> {
  readonly text: string | null;
}

/** The request that a node has leased with this token and id; null where it has no such lease. */
export function findLease(tx: Transaction, node: number, token: string, id: Uint8Array): LeasedRow | null {
  const parts = tokenParts(token);
  if (parts === null || parts.node !== node) return null;
  const { n, token: number } = parts;
  const row = tx.sql.get<Pick<LeasedRow, 'domain' | 'crashes' | 'unfiltered' | 'leased_at'>>`
    SELECT domain, crashes, unfiltered, leased_at FROM request
    WHERE n = ${n} AND state = 'leased' AND node = ${node} AND token = ${number} AND id = ${id} AND space = ${tx.space}`;
  return row === undefined ? null : { ...row, n, id, node, token: number };
}

/** The leased requests of a node, at most `max`, in the order of acceptance. */
export function leasesOf({ sql, space }: Transaction, node: number, max: number): LeasedRow[] {
  return sql.all`
    SELECT n, id, domain, crashes, unfiltered, node, token, leased_at FROM request
    WHERE node = ${node} AND state = 'leased' AND space = ${space} ORDER BY n LIMIT ${max}`;
}

/** Record the new state of a request in the dupefilter, unless the request bypasses it. */
export function recordState(tx: Transaction, { id, unfiltered }: LeasedRow, change: LifeChange): void {
  if (unfiltered === 0) tx.dupefilter.onLife(id, change);
}

/** End a lease in the counters of its node, domain and crawl. The caller moves the request to its next state. */
export function releaseCapacity(tx: Transaction, { node, domain, crashes }: LeasedRow): void {
  tx.tally.leased -= 1;
  tx.domains.change(domain).active -= 1;
  const holder = tx.nodes.find(node);
  if (holder === null) return;
  holder.leased -= 1;
  // The volunteer's suspect is settled: any node may be the next volunteer.
  if (tx.tally.volunteer === node && crashes > 0) tx.tally.volunteer = 0;
}

/** End a lease and make its request pending again, with its old arrival. @param crashes its new count of crashes. */
export function returnToQueue(tx: Transaction, held: LeasedRow, crashes = held.crashes): void {
  releaseCapacity(tx, held);
  recordState(tx, held, { state: 'pending' });
  const order = tx.sql.get<Order>`SELECT rank, arrival FROM request WHERE n = ${held.n}`!;
  returnToPending(tx, { ...held, ...order }, crashes);
}

/** End a lease and delete its request, which is done. */
export function completeRequest(tx: Transaction, held: LeasedRow): void {
  releaseCapacity(tx, held);
  deleteRequest(tx, held.n);
  tx.tally.done += 1;
}

/** The name of the incarnation that holds a lease, for the failed list. */
export const holderName = ({ id, number }: NodeRow): string => incarnationName(id, number);

/** Fencing token of a lease. Lease numbers of a crawl rise and node numbers are random, so an old token never matches. */
export function tokenText(node: number, token: number, n: number): string {
  return `${node.toString(16)}.${token.toString(36)}.${n.toString(36)}`;
}

function tokenParts(text: string): { node: number; token: number; n: number } | null {
  const [node = '', token = '', n = ''] = text.split('.');
  const parts = {
    node: Number.parseInt(node, 16),
    token: Number.parseInt(token, 36),
    n: Number.parseInt(n, 36),
  };
  const isSound = Object.values(parts).every(Number.isSafeInteger);
  return isSound && tokenText(parts.node, parts.token, parts.n) === text ? parts : null;
}
