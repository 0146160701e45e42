/** The order of requests: (priority descending, arrival), arrival alone, or newest arrival first. */
import type { Shape } from '../../frontier.js';
import type { DomainRow } from '../domains/domain-row.js';

/** Two numbers that sort requests, smallest first. `arrival` is negative under LifoQueue. */
export interface Order {
  readonly rank: number;
  readonly arrival: number;
}

/** The sort position of a request. */
export function orderOf(queueClass: Shape['queueClass'], priority: number, arrival: number): Order {
  if (queueClass === 'FifoQueue') return { rank: 0, arrival };
  if (queueClass === 'LifoQueue') return { rank: 0, arrival: -arrival };
  // Not -0, which would not be the same number to SQLite.
  return { rank: 0 - priority, arrival };
}

/** The sort position of a domain, which is that of its first pending request; null where nothing is pending. */
export function headOf(domain: DomainRow | null): Order | null {
  if (domain === null || domain.head_rank === null) return null;
  return { rank: domain.head_rank, arrival: domain.head_arrival! };
}

/** Whether `a` goes before `b`. */
export function isBefore(a: Order, b: Order): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}
