/**
 * Keys of the embedded store: one table byte, the 6-byte hash of a key name (`news:requests@job`, `news:items` …),
 * then what tells the entries apart, big-endian so that byte order is the order wanted. Hashes stand for names,
 * so that no client needs a table of numbers that another client may have cleared.
 */
import { createHash } from 'node:crypto';
import { hexDigits } from '../bounds.js';

/** The tables, in the order they lie in the file. */
export const Table = {
  /** name → nothing: the crawls of this folder, by the name of their requests key. */
  names: 1,
  /** → counters of a crawl (`state.ts`). */
  state: 2,
  /** → JSON of what all nodes share (`meta.ts`). */
  meta: 3,
  /** incarnation → liveness and who it is. */
  incarnation: 4,
  /** domain → its politeness record. */
  domain: 5,
  /** order, domain → nothing: domains that may be leased from, by their best request. */
  ready: 6,
  /** instant, domain → nothing: domains with requests that wait for their time. */
  waiting: 7,
  /** instant, domain → nothing: domains with nothing to do, to be forgotten once their time has passed. */
  idle: 8,
  /** domain, order, number → nothing: the queue of a domain. */
  queue: 9,
  /** order, number → nothing: requests that crashed a node. */
  suspect: 10,
  /** due, number → nothing: requests that are not due yet. */
  delayed: 11,
  /** incarnation, number → since when, and by which token: who holds what. */
  lease: 12,
  /** number → the request itself, live requests only, in the order of acceptance. */
  request: 13,
  /** sequence → JSON of a failure. */
  failed: 14,
  /**
   * What a dupefilter has seen, as its class keeps it (`dupefilter.ts`); its space is the ledger's `space`. What an
   * RFPDupeFilter has seen is marked in `known`.
   */
  seen: 15,
  /** → { count, next sequence } of a list. */
  header: 16,
  /** sequence → bytes: items, seeds. */
  list: 17,
  /** hash of a value, sequence → nothing: where a seed stands in its list. */
  place: 18,
  /** name → a counter. */
  stat: 19,
  /** feed → JSON of its writer and checkpoint. */
  feed: 20,
  /** feed, sequence → a committed item that waits to be written. */
  outbox: 21,
  /** table, blob, number → a piece of a value too large for one page. */
  piece: 22,
  /** → what is known of a dupefilter as a whole (`ledger.ts`). */
  ledger: 23,
  /** instant, number → fingerprints of a dupefilter whose time has come then. */
  expiry: 24,
  /** space → how far that went, if it is its own: what was cleared there is to be deleted bit by bit (`sweep.ts`). */
  garbage: 25,
  /** id → whether it is seen, and the number of its request (`known.ts`). */
  known: 26,
} as const;

export type Table = (typeof Table)[keyof typeof Table];

/** What belongs to the queue and its nodes, besides the requests; all but the politeness of domains follows from these. */
export const queueTables: readonly Table[] = [
  Table.incarnation,
  Table.domain,
  Table.ready,
  Table.waiting,
  Table.idle,
  Table.queue,
  Table.suspect,
  Table.delayed,
  Table.lease,
];

/** Length of the hash that stands for a key name. */
export const SPACE_BYTES = 6;
/** Length of the hash that stands for a domain. */
export const DOMAIN_BYTES = 8;
export const ID_BYTES = 20;
/** Of a request: enough for 2.8·10¹⁴ of them. */
export const NUMBER_BYTES = 6;
/** Inverted priority (4) and arrival (8). */
export const ORDER_BYTES = 12;
/** Where the entry-specific part of a key begins. */
export const HEAD_BYTES = 1 + SPACE_BYTES;

/** The 6 bytes that stand for a key name. */
export function spaceOf(name: string): Buffer {
  return createHash('sha1').update(name).digest().subarray(0, SPACE_BYTES);
}

/** What stands for a domain: in keys, and by the same bytes as a text among records. */
export interface DomainId {
  readonly hash: Buffer;
  readonly text: string;
}

const domainIds = new Map<string, DomainId>();
const MAX_DOMAIN_IDS = 50_000;

/** What stands for a domain; hashing costs a microsecond, so it is remembered. */
export function domainId(domain: string): DomainId {
  const known = domainIds.get(domain);
  if (known !== undefined) return known;
  if (domainIds.size >= MAX_DOMAIN_IDS) domainIds.clear();
  const id = domainIdOf(createHash('sha1').update(domain).digest().subarray(0, DOMAIN_BYTES));
  domainIds.set(domain, id);
  return id;
}

/** What stands for a domain whose hash was met in a key. */
export function domainIdOf(hash: Buffer): DomainId {
  return { hash: Buffer.from(hash), text: hash.toString('latin1') };
}

/** A key of which the table and the space are written, and so many bytes behind them are not yet. */
export function blankKey(table: Table, space: Buffer, bytes: number): Buffer {
  return beginKey(Buffer.allocUnsafe(HEAD_BYTES + bytes), table, space);
}

/** Write what all keys begin with. */
export function beginKey(key: Buffer, table: Table, space: Buffer): Buffer {
  key[0] = table;
  key.set(space, 1);
  return key;
}

/** A key of raw parts. */
export function keyOf(table: Table, space: Buffer, ...parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const key = blankKey(table, space, length);
  let at = HEAD_BYTES;
  for (const part of parts) {
    key.set(part, at);
    at += part.length;
  }
  return key;
}

/** A key whose entry is a number, such as a sequence or an incarnation, then raw parts. */
export function numberedKey(table: Table, space: Buffer, number: number, part: Buffer = nothing): Buffer {
  const key = blankKey(table, space, 8 + part.length);
  writeUint53(key, number, HEAD_BYTES);
  key.set(part, HEAD_BYTES + 8);
  return key;
}

/** Where a live request lies. */
export function requestKey(space: Buffer, number: number): Buffer {
  const key = blankKey(Table.request, space, NUMBER_BYTES);
  writeNumber(key, number);
  return key;
}

/** Write the number of a request where the key of its own has it. */
export function writeNumber(key: Buffer, number: number): void {
  key.writeUIntBE(number, HEAD_BYTES, NUMBER_BYTES);
}

/** Write the bytes of an id (40 hex digits). */
export function writeId(target: Buffer, id: string, at: number): void {
  for (let n = 0; n < ID_BYTES; n += 1) {
    const high = hexDigits[id.charCodeAt(2 * n)] ?? 0;
    target[at + n] = (high << 4) | (hexDigits[id.charCodeAt(2 * n + 1)] ?? 0);
  }
}

/** The number of 32 bits that digits `from` to `to` of an id make. */
export function hexOf(id: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) number = (number << 4) | (hexDigits[id.charCodeAt(at)] ?? 0);
  return number;
}

/** The number of the request that an index key ends with. */
export function numberOf(key: Buffer): number {
  return key.readUIntBE(key.length - NUMBER_BYTES, NUMBER_BYTES);
}

/** The number of a request as the end of an index key. */
export function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES);
  bytes.writeUIntBE(number, 0, NUMBER_BYTES);
  return bytes;
}

/** The first key after all keys that begin with `prefix`. */
export function after(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let at = end.length - 1; at >= 0; at -= 1) {
    if (end[at] !== 0xff) {
      end[at] = (end[at] ?? 0) + 1;
      return end.subarray(0, at + 1);
    }
  }
  return Buffer.alloc(prefix.length + 1, 0xff);
}

/** A whole number up to 2⁵³ as eight bytes that sort as the number does. */
export function writeUint53(target: Buffer, number: number, at: number): void {
  target.writeUInt32BE(Math.floor(number / 0x1_0000_0000), at);
  target.writeUInt32BE(number % 0x1_0000_0000, at + 4);
}

/** What `writeUint53` wrote. */
export function readUint53(source: Buffer, at: number): number {
  return source.readUInt32BE(at) * 0x1_0000_0000 + source.readUInt32BE(at + 4);
}

export const nothing = Buffer.alloc(0);

/**
 * What an entry takes in the file: its key and value, LMDB's ten bytes of bookkeeping, and the third of a page that is
 * free when entries arrive in no order.
 */
export function entryBytes(keyBytes: number, valueBytes: number): number {
  return (keyBytes + valueBytes + 10) * 1.5;
}
