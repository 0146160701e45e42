/**
 * What is known of an id, in one entry for the dupefilter and for the live requests: a mark, under which an
 * RFPDupeFilter counts it as seen, and the number of its request. An entry in no order costs a page of the file, 7 µs at
 * 1,000 a commit; one behind the last of its kind costs 1.4. So this is all that is written in no order for a new link,
 * and it is small: the request lies under its number, in the order of acceptance.
 *
 * The number stays when the request ends, where a mark stays: a page would be written for nothing else. So a number is
 * a hint, and the request under it says whether it is this id's (`live.ts`).
 *
 * A mark is a generation of the dupefilter that has claimed the table. Clearing it begins another, and what bears older
 * ones is swept bit by bit (`sweep.ts`). The entry without an id tells who has claimed it, and the last generation.
 */
import {
  blankKey,
  HEAD_BYTES,
  ID_BYTES,
  keyOf,
  NUMBER_BYTES,
  readUint53,
  SPACE_BYTES,
  Table,
  writeId,
  writeUint53,
} from './keys.js';
import { readLedger } from './ledger.js';
import type { Tables } from './tables.js';

/** Of one id, to be changed in place, then kept. */
export interface Known {
  readonly key: Buffer;
  /** 0 for no mark. */
  generation: number;
  /** 0 for none. */
  number: number;
  /** Bytes of its value in the store, 0 where it is not there. */
  readonly size: number;
  /** Its first bytes, to tell about where it lies among the others. */
  readonly order: number;
  isChanged: boolean;
}

/** The entries of one space, written once a transaction. */
export class KnownIds {
  readonly #tables: Tables;
  readonly #space: Buffer;
  /** What was changed, by id. */
  readonly #changed = new Map<string, Known>();
  /** The verbs ask several times in a row for the same id. */
  #lastId = '';
  #last: Known | undefined;

  constructor(tables: Tables, space: Buffer) {
    this.#tables = tables;
    this.#space = space;
  }

  /** What is known of an id (40 hex digits). Who changes it keeps it at once. */
  get(id: string): Known {
    if (this.#last !== undefined && this.#lastId === id) return this.#last;
    this.#last = this.#changed.get(id.toLowerCase()) ?? readKnown(this.#tables, this.#space, id);
    this.#lastId = id;
    return this.#last;
  }

  /** The entry, as the last `get` gave it for this id, is not what it was. */
  keep(id: string, known: Known): void {
    // The write itself comes later, but from here on the transaction is not what it was.
    this.#tables.writes += 1;
    if (known.isChanged) return;
    known.isChanged = true;
    this.#changed.set(id.toLowerCase(), known);
  }

  /** Write back what was changed, in the order of the file: neighbours lie on one page. */
  write(): void {
    if (this.#changed.size === 0) return;
    for (const known of [...this.#changed.values()].sort((a, b) => a.order - b.order)) {
      const { key, size } = known;
      if (known.generation !== 0 || known.number !== 0) this.#tables.put(key, encodeKnown(known), size);
      else if (size > 0) this.#tables.delete(key, size);
    }
    this.forget();
  }

  /** Forget what was read, as the store holds it now, or after the table itself was wiped. */
  forget(): void {
    this.#changed.clear();
    this.#last = undefined;
  }

  /** How many ids bear this mark. */
  countMarked(generation: number): number {
    this.write();
    let count = 0;
    for (const { key, value } of this.#tables.scan(Table.known, this.#space)) {
      if (key.length > HEAD_BYTES && decodeKnown(value).generation === generation) count += 1;
    }
    return count;
  }
}

/** What is known of an id, read from the store. */
export function readKnown(tables: Tables, space: Buffer, id: string): Known {
  const key = knownKey(space, id);
  const value = tables.get(key);
  const order = key.readUInt32BE(HEAD_BYTES);
  if (value === undefined) return { key, number: 0, generation: 0, size: 0, order, isChanged: false };
  return { key, ...decodeKnown(value), size: value.length, order, isChanged: false };
}

/** Where it lies. */
export function knownKey(space: Buffer, id: string): Buffer {
  const key = blankKey(Table.known, space, ID_BYTES);
  writeId(key, id, HEAD_BYTES);
  return key;
}

/** To bytes: the number, if any, and the mark in as few as hold it, so nearly always one. */
export function encodeKnown({ number, generation }: Pick<Known, 'number' | 'generation'>): Buffer {
  const markAt = number === 0 ? 0 : NUMBER_BYTES;
  const markBytes = generation === 0 ? 0 : generation < 0x100 ? 1 : generation < 0x1_0000 ? 2 : 4;
  const value = Buffer.allocUnsafe(markAt + markBytes);
  if (number !== 0) value.writeUIntBE(number, 0, NUMBER_BYTES);
  if (markBytes > 0) value.writeUIntBE(generation, markAt, markBytes);
  return value;
}

/** From bytes. */
export function decodeKnown(value: Buffer): Pick<Known, 'number' | 'generation'> {
  const hasNumber = value.length >= NUMBER_BYTES;
  const markAt = hasNumber ? NUMBER_BYTES : 0;
  return {
    number: hasNumber ? value.readUIntBE(0, NUMBER_BYTES) : 0,
    generation: value.length === markAt ? 0 : value.readUIntBE(markAt, value.length - markAt),
  };
}

/**
 * Claim a crawl's entries for the marks of a dupefilter that begins.
 * @returns its generation, used by no mark that may still be there; 0 where another dupefilter's marks lie there: one
 *   that the crawl had before its settings named this one.
 */
export function claimMarks(tables: Tables, space: Buffer, dupefilter: Buffer): number {
  const claim = readClaim(tables, space);
  if (claim !== null && readLedger(tables, claim.dupefilter)?.space.equals(space)) return 0;
  const generation = (claim?.generation ?? 0) + 1;
  keepClaim(tables, space, dupefilter, generation);
  return generation;
}

/** Write down whose marks lie in a space. */
export function keepClaim(tables: Tables, space: Buffer, dupefilter: Buffer, generation: number): void {
  const value = Buffer.allocUnsafe(SPACE_BYTES + 8);
  value.set(dupefilter, 0);
  writeUint53(value, generation, SPACE_BYTES);
  tables.put(claimKey(space), value, 0);
}

/** The generation whose marks hold in a space; 0 when none do. */
export function generationIn(tables: Tables, space: Buffer): number {
  const claim = readClaim(tables, space);
  const ledger = claim === null ? null : readLedger(tables, claim.dupefilter);
  return ledger?.space.equals(space) ? ledger.parts : 0;
}

/** Where it stands who has claimed the marks of a space: before all entries of ids. */
export function claimKey(space: Buffer): Buffer {
  return keyOf(Table.known, space);
}

function readClaim(tables: Tables, space: Buffer) {
  const value = tables.get(claimKey(space));
  if (value === undefined) return null;
  return { dupefilter: value.subarray(0, SPACE_BYTES), generation: readUint53(value, SPACE_BYTES) };
}
