/** The reconcile verb: compare what the store thinks a node holds with what it does. */
import type { Lease } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { leasesOf, returnToQueue, tokenText } from '../leases/lease-records.js';
import { lookAtRecords } from '../leases/records-in-turn.js';
import type { JoinedNode } from './node-row.js';

/** @returns the ids held whose token is not known, and how many leases went back to pending. */
export function reconcile(
  tx: Transaction,
  { number }: JoinedNode,
  held: readonly Pick<Lease, 'id' | 'token'>[],
  graceMs: number,
): { lost: string[]; returned: number } {
  tx.nodes.requireAlive(number);
  const idsByToken = new Map(held.map(({ id, token }) => [token, id]));
  let returned = 0;
  for (const stored of leasesOf(tx, number)) {
    if (idsByToken.delete(tokenText(number, stored.token))) continue;
    if (tx.nowMs - stored.leased_at < graceMs) continue;
    returnToQueue(tx, stored);
    returned += 1;
  }
  tx.dupefilter.look();
  lookAtRecords(tx);
  return { lost: [...idsByToken.values()], returned };
}
