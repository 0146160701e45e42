/**
 * CompactDupeFilter: the first 64 bits of each fingerprint, sorted and packed in buckets, at 9 to 12 bytes a URL all
 * told (measured: 10.9 to 11.7 from 10⁵ URLs to 10⁶, 9.4 at 10⁷; 12.2 at most from 1.5·10⁴ on). Two URLs are taken for
 * one when those bits agree: among n URLs a new one is wrongly taken for seen with probability n / 2⁶⁴, which is 5·10⁻¹³
 * at 10⁷, and any such mistake at all by the time of n URLs has probability n² / 2⁶⁵: 3·10⁻⁶ at 10⁷. (That holds for
 * SHA-1. A spider with fingerprints of its own sees to it that their first 64 bits differ.)
 *
 * A bucket holds what shares the first bits; bits that a bucket's place tells are left out, a byte at a time. Buckets
 * grow in number one by one (linear hashing in key order): each `MEAN` new fingerprints the next bucket is cut in
 * two. So every look-up is one get at a known key, no directory is needed, and growing never takes long.
 */
import type { Desk, Dupefilter, SeenValue } from './dupefilter.js';
import { HEAD_BYTES, keyOf, nothing, Table } from './keys.js';

/** Bytes of a fingerprint that count. */
const KEPT = 8;

/**
 * Fingerprints of a bucket in the mean; one whose turn to be cut has yet to come holds up to twice as many, and
 * chance adds to that: still a value of less than 1,600 bytes, which fits a page twice.
 */
const MEAN = 64;
/** Key and bookkeeping of a bucket. */
const ENTRY_BYTES = HEAD_BYTES + 4 + 10;
/** How full LMDB keeps its pages with values of this size (measured: 0.62 to 0.67). */
const FILLING = 0.63;

/** Where a fingerprint belongs. */
interface Bucket {
  readonly key: Buffer;
  /** Leading bytes that all of the bucket have in common, and that are left out. */
  readonly skip: number;
}

export class CompactDupefilter implements Dupefilter {
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  seenUntilMs(digits: string): number {
    const fingerprint = Buffer.from(digits, 'hex');
    const { key, skip } = this.#bucketOf(fingerprint.readUInt32BE(0));
    const packed = this.#desk.tables.get(key) ?? nothing;
    return find(packed, fingerprint, skip) < 0 ? 0 : Number.POSITIVE_INFINITY;
  }

  record(digits: string, isSeen: boolean): void {
    if (isSeen) return;
    const fingerprint = Buffer.from(digits, 'hex');
    const { tables, ledger } = this.#desk;
    const { key, skip } = this.#bucketOf(fingerprint.readUInt32BE(0));
    const packed = tables.get(key) ?? nothing;
    const at = -1 - find(packed, fingerprint, skip);
    const grown = Buffer.allocUnsafe(packed.length + KEPT - skip);
    packed.copy(grown, 0, 0, at);
    fingerprint.copy(grown, at, skip, KEPT);
    packed.copy(grown, at + KEPT - skip, at);
    tables.put(key, grown, packed.length);
    ledger.count += 1;
    ledger.bytes += KEPT - skip;
    if (ledger.count > MEAN * buckets(ledger.parts)) this.#cutNext();
  }

  forget(digits: string): boolean {
    const fingerprint = Buffer.from(digits, 'hex');
    const { tables, ledger } = this.#desk;
    const { key, skip } = this.#bucketOf(fingerprint.readUInt32BE(0));
    const packed = tables.get(key) ?? nothing;
    const at = find(packed, fingerprint, skip);
    if (at < 0) return false;
    const rest = Buffer.concat([packed.subarray(0, at), packed.subarray(at + KEPT - skip)]);
    tables.put(key, rest, packed.length);
    ledger.count -= 1;
    ledger.bytes -= KEPT - skip;
    return true;
  }

  bytes(): number {
    const { bytes, parts, count } = this.#desk.ledger;
    return count === 0 ? 0 : (bytes + buckets(parts) * ENTRY_BYTES) / FILLING;
  }

  examine(): { count: number; breaches: string[] } {
    const breaches: string[] = [];
    let count = 0;
    for (const { key, value } of this.#desk.tables.scan(Table.seen, this.#desk.ledger.space)) {
      const bucket = this.#bucketOf(key.readUInt32BE(HEAD_BYTES));
      const width = KEPT - bucket.skip;
      count += value.length / width;
      const isInOrder = isSorted(value, width) && value.length % width === 0;
      if (!isInOrder || !bucket.key.equals(key)) {
        breaches.push(`I2: bucket ${key.toString('hex', HEAD_BYTES)} of the dupefilter is damaged`);
      }
    }
    return { count, breaches };
  }

  backUp(place: Buffer, packed: Buffer): SeenValue[] {
    const { skip } = this.#bucketOf(place.readUInt32BE(0));
    const common = place.toString('hex', 0, skip);
    const width = KEPT - skip;
    return Array.from({ length: packed.length / width }, (_, n) => ({
      fingerprint: common + packed.toString('hex', n * width, (n + 1) * width),
    }));
  }

  bringBack(fingerprint: string): void {
    this.record(fingerprint, this.seenUntilMs(fingerprint) > 0);
  }

  /** The bucket of what begins with these 32 bits. `parts` are the buckets added to the first one. */
  #bucketOf(head: number): Bucket {
    const total = buckets(this.#desk.ledger.parts);
    const depth = 31 - Math.clz32(total);
    const cut = total - 2 ** depth;
    const isCut = firstBits(head, depth) < cut;
    return this.#bucketAt(firstBits(head, depth + (isCut ? 1 : 0)), depth + (isCut ? 1 : 0));
  }

  /** The bucket of what begins with the `depth` bits of `number`. */
  #bucketAt(number: number, depth: number): Bucket {
    const place = Buffer.allocUnsafe(4);
    place.writeUInt32BE(number * 2 ** (32 - depth), 0);
    return { key: keyOf(Table.seen, this.#desk.ledger.space, place), skip: depth >> 3 };
  }

  /** One bucket more: the first that is not cut yet in this round keeps its lower half and gives away the upper. */
  #cutNext(): void {
    const { tables, ledger } = this.#desk;
    const total = buckets(ledger.parts);
    const depth = 31 - Math.clz32(total);
    const number = total - 2 ** depth;
    const { key, skip } = this.#bucketAt(number, depth);
    const packed = tables.get(key) ?? nothing;
    const width = KEPT - skip;
    const bit = 0x80 >> (depth & 7);
    let middle = 0;
    while (middle < packed.length && ((packed[middle] ?? 0) & bit) === 0) middle += width;
    const lower = this.#bucketAt(number * 2, depth + 1);
    const upper = this.#bucketAt(number * 2 + 1, depth + 1);
    const isNarrower = lower.skip > skip;
    tables.put(lower.key, narrow(packed.subarray(0, middle), width, isNarrower), packed.length);
    tables.put(upper.key, narrow(packed.subarray(middle), width, isNarrower), 0);
    ledger.parts += 1;
    if (isNarrower) ledger.bytes -= packed.length / width;
  }
}

const buckets = (added: number): number => added + 1;

const firstBits = (head: number, bits: number): number => (bits === 0 ? 0 : head >>> (32 - bits));

/** Where a fingerprint stands in its bucket; −1 − where it would stand, if it does not. */
function find(packed: Buffer, fingerprint: Buffer, skip: number): number {
  const width = KEPT - skip;
  let low = 0;
  let high = packed.length / width;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = packed.compare(fingerprint, skip, KEPT, middle * width, (middle + 1) * width);
    if (order === 0) return middle * width;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1 - low * width;
}

function isSorted(packed: Buffer, width: number): boolean {
  for (let at = width; at < packed.length; at += width) {
    if (packed.compare(packed, at - width, at, at, at + width) <= 0) return false;
  }
  return true;
}

/** The same fingerprints without their first byte, if the bucket's place tells it now. */
function narrow(packed: Buffer, width: number, isNarrower: boolean): Buffer {
  if (!isNarrower) return packed;
  const narrowed = Buffer.allocUnsafe((packed.length / width) * (width - 1));
  for (let from = 0, to = 0; from < packed.length; from += width, to += width - 1) {
    packed.copy(narrowed, to, from + 1, from + width);
  }
  return narrowed;
}
