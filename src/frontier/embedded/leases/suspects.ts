/**
 * Suspects: requests whose node died while processing them. One node at a time volunteers: it takes nothing more until
 * it holds nothing, then processes one suspect alone. So a poison page kills one node at a time, and no innocent page
 * dies with it. Suspects with the fewest crashes come first: while somebody kills nodes from outside, the deaths spread over
 * many suspects, and the one with the most crashes is judged last.
 */
import { type Lease, SUSPECTS_READ } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { dueAtOf, startDelayTimer } from '../domains/delay-timer.js';
import { concurrencyOf } from '../domains/domain-state.js';
import type { NodeRow } from '../nodes/node-row.js';
import { grantLease } from './lease-records.js';

interface Suspect {
  readonly n: number;
  readonly domain: string;
}

/** Choose the first suspect, in order, whose domain may be leased from. Changes nothing. */
export function chooseSuspect({ sql, space, tally, domains, crawl, nowMs }: Transaction): Suspect | null {
  if (tally.suspects === 0) return null;
  const suspects = sql.all<Suspect>`
    SELECT n, domain FROM request WHERE space = ${space} AND state = 'suspect'
    ORDER BY crashes, rank, arrival LIMIT ${SUSPECTS_READ}`;
  const eligible = suspects.find((suspect) => {
    const domain = domains.find(suspect.domain);
    return (
      domain === null || (dueAtOf(domain, nowMs) <= nowMs && domain.active < concurrencyOf(domain, crawl))
    );
  });
  return eligible ?? null;
}

/**
 * Make this node the volunteer where there is none and a suspect may be leased.
 * @returns whether it is the volunteer, and the suspect that it gets, if it holds no other request.
 */
export function volunteer(
  tx: Transaction,
  holder: NodeRow,
  holding: number,
): { readonly isVolunteer: boolean; readonly suspect: Suspect | null } {
  const { tally } = tx;
  const isOurs = tally.volunteer === holder.number;
  if (tally.volunteer !== 0 && !isOurs && tx.nodes.findAlive(tally.volunteer) !== null) {
    return { isVolunteer: false, suspect: null };
  }
  const isBusy = holder.leased > 0 || holding > 0;
  // It still processes a suspect, or finishes its other leases first.
  if (isOurs && isBusy) return { isVolunteer: true, suspect: null };
  const suspect = chooseSuspect(tx);
  tally.volunteer = suspect === null ? 0 : holder.number;
  return { isVolunteer: suspect !== null, suspect: isBusy ? null : suspect };
}

/** Lease a chosen suspect, and start the delay timer of its domain. @returns null where its record is gone. */
export function takeSuspect(tx: Transaction, holder: NodeRow, suspect: Suspect): Lease | null {
  const domain = tx.domains.change(suspect.domain);
  tx.tally.suspects -= 1;
  const lease = grantLease(tx, holder, domain, suspect.n);
  if (lease !== null) startDelayTimer(domain, tx.crawl, tx.nowMs);
  return lease;
}
