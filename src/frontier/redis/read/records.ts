/** Readers of the records that the verbs write; `lua/base/keys.lua` tells where each is described. */

/** A lease, see `lua/leases/leases.lua`. */
export interface LeaseRecord {
  readonly node: string;
  readonly atMs: number;
  readonly order: Buffer;
  readonly domain: string;
}

/** A domain, see `lua/domains/domains.lua`. */
export interface DomainRecord {
  readonly active: number;
  /** Sort key of its best request; empty for none. */
  readonly head: Buffer;
  readonly state: 'ready' | 'waiting' | 'full' | 'idle';
  /** Earliest next lease, by its delay and by a throttle; 0 for any time. */
  readonly dueAtMs: number;
}

const ORDER_BYTES = 12;
const SORT_KEY_BYTES = 32;

/** Where the fields lie in the record of a lease. */
const leaseAt = { atMs: 6, order: 13, nodeLength: 25, node: 27 } as const;
/** Where they lie in that of a domain. */
const domainAt = { state: 4, nextAt: 11, blockedUntil: 17, headLength: 23, head: 24 } as const;

const states = { r: 'ready', w: 'waiting', f: 'full', i: 'idle' } as const;

/** @throws Error for bytes that are no such record. */
export function readLease(packed: Buffer): LeaseRecord {
  const nodeEnd = leaseAt.node + packed.readUInt16BE(leaseAt.nodeLength);
  if (nodeEnd >= packed.length) throw new TypeError('not a lease');
  return {
    node: packed.toString('utf8', leaseAt.node, nodeEnd),
    atMs: packed.readUIntBE(leaseAt.atMs, 6),
    order: packed.subarray(leaseAt.order, leaseAt.order + ORDER_BYTES),
    domain: packed.toString('utf8', nodeEnd),
  };
}

/** @throws Error for bytes that are no such record. */
export function readDomain(packed: Buffer): DomainRecord {
  const state = states[packed.toString('latin1', domainAt.state, domainAt.state + 1) as keyof typeof states];
  const headEnd = domainAt.head + packed.readUInt8(domainAt.headLength);
  const head = packed.subarray(domainAt.head, headEnd);
  const isHead = head.length === 0 || head.length === SORT_KEY_BYTES;
  if (state === undefined || !isHead || headEnd > packed.length) throw new TypeError('not a domain');
  return {
    active: packed.readUInt32BE(0),
    head,
    state,
    dueAtMs: Math.max(packed.readUIntBE(domainAt.nextAt, 6), packed.readUIntBE(domainAt.blockedUntil, 6)),
  };
}

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
