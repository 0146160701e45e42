/** Reads the entries of the keys that requests wait in, see `lua/queue/queue.lua`. */

export interface QueueEntry {
  readonly order: Buffer;
  readonly id: Buffer;
  readonly domain: string;
}

const ORDER_BYTES = 12;
const SORT_KEY_BYTES = 32;

/** An entry of `ready`, `suspects` or `delayed`. */
export function readEntry(entry: Buffer): QueueEntry {
  return {
    order: entry.subarray(0, ORDER_BYTES),
    id: entry.subarray(ORDER_BYTES, SORT_KEY_BYTES),
    domain: entry.toString('utf8', SORT_KEY_BYTES),
  };
}

/** A member of `queue`. */
export function readMember(member: Buffer): QueueEntry {
  const end = member.length - SORT_KEY_BYTES;
  const sortKey = member.subarray(end);
  return {
    order: sortKey.subarray(0, ORDER_BYTES),
    id: sortKey.subarray(ORDER_BYTES),
    domain: member.toString('utf8', 0, Math.max(0, end - 1)),
  };
}
