/** The order of requests: (priority descending, arrival), arrival alone, or newest arrival first. */
import type { Shape } from '../frontier.js';
import { ORDER_BYTES, readUint53, writeUint53 } from './keys.js';

/** Two numbers that compare as the requests do, smallest first. */
export interface Order {
  readonly rank: number;
  readonly turn: number;
}

const TOP = 0x7fff_ffff;

/** Where a request stands; until a first node has joined, the queue is a PriorityQueue. */
export function orderOf(queueClass: Shape['queueClass'], priority: number, arrival: number): Order {
  if (queueClass === 'FifoQueue') return { rank: 0, turn: arrival };
  if (queueClass === 'LifoQueue') return { rank: 0, turn: Number.MAX_SAFE_INTEGER - arrival };
  return { rank: TOP - Math.max(-TOP - 1, Math.min(TOP, priority)), turn: arrival };
}

/** Whether `a` goes before `b`. */
export function isBefore(a: Order, b: Order): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.turn < b.turn);
}

/** The order as bytes that sort alike. */
export function orderBytes(order: Order): Buffer {
  const bytes = Buffer.allocUnsafe(ORDER_BYTES);
  writeOrder(bytes, order, 0);
  return bytes;
}

/** Write them into a key. */
export function writeOrder(key: Buffer, { rank, turn }: Order, at: number): void {
  key.writeUInt32BE(rank, at);
  writeUint53(key, turn, at + 4);
}

/** The order that stands at `at` in a key. */
export function readOrder(key: Buffer, at: number): Order {
  return { rank: key.readUInt32BE(at), turn: readUint53(key, at + 4) };
}
