/** All requests of a crawl in Redis and their indexes, read atomically. */
import type { FrontierKeys } from '../../open-options.js';
import { type Client, repliesOf } from '../connection/client.js';
import { pairs } from '../connection/scan.js';
import { type InternalWord, internalKey } from '../keys.js';
import {
  type DomainRecord,
  type LeaseRecord,
  type QueueEntry,
  readDomain,
  readLease,
  readMember,
} from '../read/records.js';

export interface View {
  /** Ids, hex. */
  readonly records: ReadonlySet<string>;
  /** Grouped by domain, first request first. */
  readonly queue: readonly QueueEntry[];
  readonly suspects: readonly Buffer[];
  readonly delayed: readonly Buffer[];
  readonly failed: readonly Buffer[];
  readonly leasedIds: readonly Buffer[];
  /** By id, hex; without those that cannot be read. */
  readonly leases: ReadonlyMap<string, LeaseRecord>;
  /** Incarnations, live or dead. */
  readonly registered: ReadonlySet<string>;
  readonly held: Readonly<Record<string, string>>;
  /** By name; without those that cannot be read. */
  readonly domains: ReadonlyMap<string, DomainRecord>;
  readonly ready: readonly Buffer[];
  /** Domain → instant. */
  readonly waiting: ReadonlyMap<string, number>;
  readonly meta: Readonly<Record<string, string>>;
  /** A sentence for each foreign entry, such as one added by hand. */
  readonly unreadable: readonly string[];
}

/** Order, id, and at least a letter of the domain. */
const ENTRY_BYTES = 33;
/** Sorted sets that are ordered by bytes. An entry with a score other than 0 would be in the wrong place. */
const unscored = ['queue', 'ready', 'suspects'] as const satisfies InternalWord[];

export async function readView(client: Client, keys: FrontierKeys): Promise<View> {
  const key = (word: InternalWord): string => internalKey(keys, word);
  const transaction = client
    .multi()
    .hkeysBuffer(keys.requests)
    .zrangeBuffer(key('queue'), 0, -1)
    .zrangeBuffer(key('suspects'), 0, -1)
    .zrangeBuffer(key('delayed'), 0, -1)
    .zrangeBuffer(key('failed'), 0, -1)
    .hkeysBuffer(key('leases'))
    .hvalsBuffer(key('leases'))
    .zrange(key('nodes'), 0, -1)
    .zrange(key('dead'), 0, -1)
    .hgetall(key('held'))
    .hgetallBuffer(key('domains'))
    .zrangeBuffer(key('ready'), 0, -1)
    .zrange(key('waiting'), 0, -1, 'WITHSCORES')
    .hgetall(key('meta'));
  for (const word of unscored) {
    transaction.zcount(key(word), '-inf', '(0').zcount(key(word), '(0', '+inf');
  }
  const values = await repliesOf(transaction);
  const [ids, members, suspects, delayed, failed, leasedIds, packedLeases] = values as Buffer[][];
  const [nodes, dead, held, packedDomains, ready, waiting, meta, ...scored] = values.slice(7) as [
    string[],
    string[],
    Record<string, string>,
    Record<string, Buffer>,
    Buffer[],
    string[],
    Record<string, string>,
    ...number[],
  ];
  const unreadable: string[] = [];
  for (const [n, word] of unscored.entries()) {
    const count = (scored[2 * n] ?? 0) + (scored[2 * n + 1] ?? 0);
    if (count > 0) unreadable.push(`I7: ${count} entries of ${key(word)} have a score, and are out of order`);
  }
  const entries = members!.map(readMember);
  // HKEYS and HVALS of one instant are in the same order.
  const leases = leasedIds!.map((id, n) => [id.toString('hex'), packedLeases![n]!] as const);
  return {
    records: new Set(ids!.map((id) => id.toString('hex'))),
    queue: entries.filter((entry, n) => isMember(entry, members![n]!) || void unreadable.push(unreadMember)),
    suspects: suspects!,
    delayed: delayed!,
    failed: failed!,
    leasedIds: leasedIds!,
    leases: readAll(leases, readLease, (id) => unreadable.push(`I3: the lease of ${id} cannot be read`)),
    registered: new Set([...nodes, ...dead]),
    held,
    domains: readAll(Object.entries(packedDomains), readDomain, (name) =>
      unreadable.push(`I7: the record of the domain ${name} cannot be read`),
    ),
    ready,
    waiting: new Map(pairs(waiting).map(([name, atMs]) => [name, Number(atMs)])),
    meta,
    unreadable,
  };
}

const unreadMember = 'I7: an entry of the queue cannot be read';

/** Domain, NUL and sort key. */
function isMember({ domain }: QueueEntry, member: Buffer): boolean {
  return member.length > ENTRY_BYTES && member.indexOf(0) === Buffer.byteLength(domain);
}

function readAll<T>(
  rows: readonly (readonly [name: string, packed: Buffer])[],
  read: (packed: Buffer) => T,
  report: (name: string) => void,
): Map<string, T> {
  const found = new Map<string, T>();
  for (const [name, packed] of rows) {
    try {
      found.set(name, read(packed));
    } catch {
      report(name);
    }
  }
  return found;
}
