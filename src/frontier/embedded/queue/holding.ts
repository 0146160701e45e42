/** Leases: taking one, giving it back, ending it, and what a node holds. */
import type { Lease } from '../../frontier.js';
import type { LifeChange } from '../dupefilters/life.js';
import { incarnationName, type NodeRow } from '../nodes/node-row.js';
import type { Transaction } from '../transaction.js';
import { type DomainRow, delayOf } from './domain-row.js';
import type { Order } from './order.js';
import { deleteRequest, hexOf, returnToPending } from './requests.js';

/** A pending request as it is leased. */
export interface PendingRow {
  readonly n: number;
  readonly id: Uint8Array;
  readonly crashes: number;
  readonly unfiltered: 0 | 1;
  readonly text: string | null;
}

/** A request that is leased. */
export interface Held {
  readonly n: number;
  readonly id: Uint8Array;
  readonly domain: string;
  readonly crashes: number;
  readonly unfiltered: 0 | 1;
  readonly node: number;
  readonly token: number;
}

/**
 * Hand a pending request out; the caller takes it from its counter and starts the domain's clock.
 * @returns null where its record is gone, as after a DELETE by hand: skipped and counted, so that the sum of the counters holds.
 */
export function hold(tx: Transaction, holder: NodeRow, domain: DomainRow, row: PendingRow): Lease | null {
  const { sql, tally, crawl, nowMs } = tx;
  const { n, id, crashes, text } = row;
  if (text === null) {
    deleteRequest(tx, n);
    tally.removed += 1;
    return null;
  }
  tally.tokens += 1;
  tally.leased += 1;
  tally.run_pages += 1;
  sql.run`UPDATE request SET state = 'leased', node = ${holder.number}, token = ${tally.tokens}, leased_at = ${nowMs} WHERE n = ${n}`;
  domain.active += 1;
  domain.pages += 1;
  holder.leased += 1;
  if (row.unfiltered === 0) tx.dupefilter.onLife(id, { state: 'leased' });
  return {
    id: hexOf(id),
    token: tokenText(holder.number, tally.tokens, n),
    record: text,
    domain: domain.name,
    delayMs: delayOf(domain, crawl),
    crashes,
  };
}

/** The request that a node holds under this token and id; null when it does not, or not any more. */
export function heldUnder(tx: Transaction, node: number, text: string, id: Uint8Array): Held | null {
  const parts = tokenParts(text);
  if (parts === null || parts.node !== node) return null;
  const { n, token } = parts;
  const row = tx.sql.get<Pick<Held, 'domain' | 'crashes' | 'unfiltered'>>`
    SELECT domain, crashes, unfiltered FROM request
    WHERE n = ${n} AND state = 'leased' AND node = ${node} AND token = ${token} AND id = ${id} AND space = ${tx.space}`;
  return row === undefined ? null : { ...row, n, id, node, token };
}

/** What a node holds, at most `max`, in the order of acceptance. */
export function leasesOf(
  { sql, space }: Transaction,
  node: number,
  max: number,
): (Held & { readonly leased_at: number })[] {
  return sql.all`
    SELECT n, id, domain, crashes, unfiltered, node, token, leased_at FROM request
    WHERE node = ${node} AND state = 'leased' AND space = ${space} ORDER BY n LIMIT ${max}`;
}

/** Tell the dupefilter what became of a request it may know. */
export function follow(tx: Transaction, { id, unfiltered }: Held, change: LifeChange): void {
  if (unfiltered === 0) tx.dupefilter.onLife(id, change);
}

/** End a lease's hold on its node and domain; what becomes of the request is up to the caller. */
export function free(tx: Transaction, { node, domain, crashes }: Held): void {
  tx.tally.leased -= 1;
  tx.domains.change(domain).active -= 1;
  const holder = tx.nodes.find(node);
  if (holder === null) return;
  holder.leased -= 1;
  // Its suspect is settled: the next one goes to whoever asks first.
  if (tx.tally.volunteer === node && crashes > 0) tx.tally.volunteer = 0;
}

/** A lease goes back to pending as it was, or with one crash more; its arrival stays. */
export function giveBack(tx: Transaction, held: Held, crashes = held.crashes): void {
  free(tx, held);
  follow(tx, held, { state: 'pending' });
  const order = tx.sql.get<Order>`SELECT rank, place FROM request WHERE n = ${held.n}`!;
  returnToPending(tx, { ...held, ...order }, crashes);
}

/** A page is done: its request is live no more. */
export function finishRequest(tx: Transaction, held: Held): void {
  free(tx, held);
  deleteRequest(tx, held.n);
  tx.tally.done += 1;
}

/** The name of the incarnation that holds a lease, for the failed list. */
export const holderName = ({ id, number }: NodeRow): string => incarnationName(id, number);

/** What fences a lease; one of a node that is gone can never be met again. */
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
