/** Readers of the records that the verbs write; `lua/base/keys.lua` tells where each is described. */
import { decode } from '@msgpack/msgpack';

/** A lease, see `lua/pages/leases.lua`. */
export interface LeaseRecord {
  readonly node: string;
  readonly call: number;
  readonly atMs: number;
  readonly order: Buffer;
  readonly domain: string;
  readonly crashes: number;
}

/** A domain, see `lua/queue/domains.lua`. */
export interface DomainRecord {
  readonly active: number;
  /** Sort key of its best request; empty for none. */
  readonly head: Buffer;
  readonly state: 'ready' | 'waiting' | 'full' | 'idle';
  readonly lastAt: number;
  readonly nextAt?: number;
  readonly blockedUntil?: number;
  readonly delaySetting?: number;
  readonly delayRobots?: number;
  readonly delayAuto?: number;
}

/** @throws Error for bytes that are no such record. */
export function readLease(packed: Buffer): LeaseRecord {
  const { node, call, atMs, order, domain, crashes } = readMap(packed);
  return {
    node: String(node),
    call: Number(call),
    atMs: Number(atMs),
    order: order as Buffer,
    domain: String(domain),
    crashes: Number(crashes),
  };
}

/** @throws Error for bytes that are no such record. */
export function readDomain(packed: Buffer): DomainRecord {
  const { head, state, ...numbers } = readMap(packed);
  return { ...numbers, head, state: String(state) } as DomainRecord;
}

/** MessagePack of Lua: it has no text of its own, so every value that is no number is a Buffer. */
function readMap(packed: Buffer): Record<string, unknown> {
  const map = decode(packed, {
    rawStrings: true,
    mapKeyConverter: (key) => Buffer.from(key as Uint8Array).toString(),
  });
  if (typeof map !== 'object' || map === null) throw new TypeError('not a record');
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value) : value,
    ]),
  );
}

const ORDER_BYTES = 12;
const SORT_KEY_BYTES = 32;

/** What a member of `queue`, `ready`, `suspects` or `delayed` says of its request, see `lua/queue/queue.lua`. */
export interface QueueEntry {
  readonly order: Buffer;
  readonly id: Buffer;
  readonly domain: string;
}

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
