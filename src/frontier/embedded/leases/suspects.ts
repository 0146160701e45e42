/** Suspects: requests whose node died while it held them. docs/internals/leasing.md has the rules. */
import { ALONE_MS, type Lease, SUSPECTS_READ } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { dueAtOf, startDelayTimer } from '../domains/delay-timer.js';
import { concurrencyOf } from '../domains/domain-state.js';
import type { NodeRow } from '../nodes/node-row.js';
import { grantLease, leasesOf } from './lease-records.js';

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
 * @returns whether it is the volunteer, and the suspect that it gets, if it may have it now.
 */
export function volunteer(
  tx: Transaction,
  { number }: NodeRow,
  holding: number,
): { readonly isVolunteer: boolean; readonly suspect: Suspect | null } {
  const { tally, nowMs } = tx;
  const isOurs = tally.volunteer === number;
  const isOthers = tally.volunteer !== 0 && !isOurs && tx.nodes.findAlive(tally.volunteer) !== null;
  if (isOthers || (tally.volunteer === 0 && tally.suspects === 0)) {
    return { isVolunteer: false, suspect: null };
  }
  const held = leasesOf(tx, number);
  const newest = held.at(-1);
  // A page whose lease is lost may still run.
  const isBusy = holding > held.length || (newest !== undefined && nowMs - newest.leased_at < ALONE_MS);
  if (isOurs && isBusy) return { isVolunteer: true, suspect: null };
  const suspect = held.some(({ crashes }) => crashes > 0) ? null : chooseSuspect(tx);
  tally.volunteer = suspect === null ? 0 : number;
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
