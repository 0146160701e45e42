/**
 * Suspects: requests whose node died while processing them. One node at a time volunteers: it takes nothing more until
 * it holds nothing, then processes one suspect alone. So a poison page kills one node at a time, and no innocent page
 * dies with it. Suspects with the fewest crashes come first: while somebody kills nodes from outside, the deaths spread over
 * many suspects, and the one with the most crashes is judged last.
 */
import { type Lease, SUSPECTS_READ } from '../../frontier.js';
import type { Transaction } from '../crawl/transaction.js';
import { dueAtOf, startDelayTimer } from '../domains/delay-timer.js';
import { concurrencyOf } from '../domains/domain-state.js';
import type { NodeRow } from '../nodes/node-row.js';
import { grantLease } from './lease-records.js';

interface Suspect {
  readonly n: number;
  readonly domain: string;
}

/**
 * Make this node the volunteer where there is none and a suspect may be leased. A suspect is added to `leases`, or nothing
 * while the node holds other requests. @returns whether it is the volunteer
 */
export function takeAsVolunteer(tx: Transaction, holder: NodeRow, holding: number, leases: Lease[]): boolean {
  const { tally } = tx;
  if (tally.volunteer !== 0 && tally.volunteer !== holder.number) {
    if (tx.nodes.findAlive(tally.volunteer) !== null) return false;
    tally.volunteer = 0;
  }
  if (tally.volunteer === 0 && firstEligible(tx) === null) return false;
  tally.volunteer = holder.number;
  if (holder.leased > 0 || holding > 0) return true;
  const suspect = firstEligible(tx);
  const lease = suspect === null ? null : take(tx, holder, suspect);
  if (lease === null) {
    tally.volunteer = 0;
    return false;
  }
  leases.push(lease);
  return true;
}

/** When the delay of a first suspect has passed; null where another node is the volunteer or no suspect waits for a delay. */
export function nextSuspectAtMs(tx: Transaction, holder: NodeRow): number | null {
  const { tally, crawl, nowMs } = tx;
  if (tally.volunteer !== 0 && tally.volunteer !== holder.number) return null;
  let nearest: number | null = null;
  for (const suspect of suspects(tx)) {
    const domain = tx.domains.find(suspect.domain);
    if (domain === null || domain.active >= concurrencyOf(domain, crawl)) continue;
    const dueAtMs = dueAtOf(domain, nowMs);
    if (dueAtMs > nowMs && (nearest === null || dueAtMs < nearest)) nearest = dueAtMs;
  }
  return nearest;
}

/** The first suspect, in order, whose domain may be leased from. */
function firstEligible(tx: Transaction): Suspect | null {
  const { crawl, nowMs } = tx;
  const eligible = suspects(tx).find((suspect) => {
    const domain = tx.domains.find(suspect.domain);
    return (
      domain === null || (domain.active < concurrencyOf(domain, crawl) && dueAtOf(domain, nowMs) <= nowMs)
    );
  });
  return eligible ?? null;
}

function take(tx: Transaction, holder: NodeRow, suspect: Suspect): Lease | null {
  const domain = tx.domains.change(suspect.domain);
  tx.tally.suspects -= 1;
  const lease = grantLease(tx, holder, domain, suspect.n);
  if (lease !== null) startDelayTimer(domain, tx.crawl, tx.nowMs);
  return lease;
}

function suspects({ sql, space, tally }: Transaction): Suspect[] {
  if (tally.suspects === 0) return [];
  return sql.all<Suspect>`
    SELECT n, domain FROM request WHERE space = ${space} AND state = 'suspect'
    ORDER BY crashes, rank, arrival LIMIT ${SUSPECTS_READ}`;
}
