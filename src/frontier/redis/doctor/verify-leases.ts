/**
 * I3: each lease belongs to a registered incarnation, whose count of leases is right. I6: so is that of each domain. All
 * leases are read at one instant: they are as many as the nodes process at a time.
 */
import { inChunks } from '../../in-chunks.js';
import type { FrontierKeys } from '../../open-options.js';
import { repliesOf } from '../connection/client.js';
import type { Ask } from '../connection/scan.js';
import { internalKey } from '../keys.js';
import { type DomainRecord, type LeaseRecord, readDomain, readLease } from '../read/records.js';

/** Domains compared in one transaction. */
const GROUP = 500;

/** All leases, and what is said about them, at one instant. */
interface LeaseView {
  /** By id, hex; without those that cannot be read. */
  readonly leases: ReadonlyMap<string, LeaseRecord>;
  readonly unreadable: readonly string[];
  /** Incarnations, live or dead. */
  readonly registered: ReadonlySet<string>;
  readonly held: Readonly<Record<string, string>>;
  /** Of the domains that were asked for; null for no record, or one that cannot be read. */
  readonly domains: ReadonlyMap<string, DomainRecord | null>;
}

/** @param busy domains that say they have leases, or are full. @returns one sentence for each breach. */
export async function checkLeases(ask: Ask, keys: FrontierKeys, busy: readonly string[]): Promise<string[]> {
  const first = await readLeases(ask, keys, []);
  const breaches = checkHolders(first);
  const leased = [...first.leases.values()].map(({ domain }) => domain);
  const names = [...new Set([...busy, ...leased])];
  for (const group of inChunks(names, ({ length }) => ({ count: 1, bytes: length }), GROUP)) {
    breaches.push(...checkActive(await readLeases(ask, keys, group)));
  }
  return breaches;
}

async function readLeases(ask: Ask, keys: FrontierKeys, names: readonly string[]): Promise<LeaseView> {
  const values = await ask((client) => {
    const transaction = client
      .multi()
      .hkeysBuffer(internalKey(keys, 'leases'))
      .hvalsBuffer(internalKey(keys, 'leases'))
      .zrange(internalKey(keys, 'nodes'), 0, -1)
      .zrange(internalKey(keys, 'dead'), 0, -1)
      .hgetall(internalKey(keys, 'held'));
    if (names.length > 0) transaction.hmgetBuffer(internalKey(keys, 'domains'), ...names);
    return repliesOf(transaction);
  });
  const [ids, packed, nodes, dead, held, domains = []] = values as [
    Buffer[],
    Buffer[],
    string[],
    string[],
    Record<string, string>,
    (Buffer | null)[],
  ];
  // HKEYS and HVALS of one instant are in the same order.
  const read = ids.map((id, n) => [id.toString('hex'), readable(readLease, packed[n]!)] as const);
  return {
    leases: new Map(read.filter((row): row is [string, LeaseRecord] => row[1] !== null)),
    unreadable: read.filter(([, lease]) => lease === null).map(([id]) => id),
    registered: new Set([...nodes, ...dead]),
    held,
    domains: new Map(names.map((name, n) => [name, domains[n] ? readable(readDomain, domains[n]) : null])),
  };
}

function readable<T>(read: (packed: Buffer) => T, packed: Buffer): T | null {
  try {
    return read(packed);
  } catch {
    return null;
  }
}

function checkHolders({ leases, unreadable, registered, held }: LeaseView): string[] {
  const breaches = unreadable.map((id) => `I3: the lease of ${id} cannot be read`);
  const counted = new Map<string, number>();
  for (const [id, { node }] of leases) {
    counted.set(node, (counted.get(node) ?? 0) + 1);
    if (!registered.has(node)) {
      breaches.push(`I3: request ${id} is leased to ${node}, which is not registered`);
    }
  }
  for (const node of new Set([...counted.keys(), ...Object.keys(held)])) {
    const [stored, real] = [Number(held[node] ?? 0), counted.get(node) ?? 0];
    if (stored !== real) breaches.push(`I3: ${node} is said to hold ${stored} leases and holds ${real}`);
  }
  return breaches;
}

function checkActive({ leases, domains }: LeaseView): string[] {
  const counted = new Map<string, number>();
  for (const { domain } of leases.values()) counted.set(domain, (counted.get(domain) ?? 0) + 1);
  const breaches: string[] = [];
  for (const [name, domain] of domains) {
    const leased = counted.get(name) ?? 0;
    if (domain === null) {
      if (leased > 0) breaches.push(`I6: ${name} has ${leased} leased requests and no record`);
      continue;
    }
    if (domain.active !== leased) {
      breaches.push(`I6: ${name} has ${leased} leased requests and an active count of ${domain.active}`);
    }
    if (domain.state === 'full' && leased === 0) breaches.push(`I7: ${name} is full with nothing leased`);
  }
  return breaches;
}
