/** The order of requests: (priority descending, arrival), arrival alone, or newest arrival first. */
import type { Shape } from '../../frontier.js';

/** Two numbers that compare as the requests do, smallest first. */
export interface Order {
  readonly rank: number;
  readonly place: number;
}

/** Where a request stands. */
export function orderOf(queueClass: Shape['queueClass'], priority: number, arrival: number): Order {
  if (queueClass === 'FifoQueue') return { rank: 0, place: arrival };
  if (queueClass === 'LifoQueue') return { rank: 0, place: -arrival };
  // Not -0, which would not be the same number to SQLite.
  return { rank: 0 - priority, place: arrival };
}

/** Whether `a` goes before `b`. */
export function isBefore(a: Order, b: Order): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.place < b.place);
}
