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
import { Scratch } from './scratch.js';
import type { Tables } from './tables.js';

/** Of one id. */
export interface Known {
  /** 0 for no mark. */
  readonly generation: number;
  /** 0 for none. */
  readonly number: number;
}

/**
 * The entries of one space. The verbs ask several times in a row for the same id, so its entry is kept, and written when
 * they ask for another. (Rejected: all that were changed, written at the end in the order of the file. LMDB takes as long,
 * as it finds a page that was just read at once, and finding and sorting them took a twentieth of a new link.)
 */
export class KnownIds {
  readonly #tables: Tables;
  readonly #space: Buffer;
  /** Of the id last asked for; LMDB copies it at once. */
  readonly #key: Buffer;
  #id = '';
  #number = 0;
  #generation = 0;
  /** Bytes of its value in the store, 0 where it is not there. */
  #size = 0;
  #isChanged = false;

  constructor(tables: Tables, space: Buffer) {
    this.#tables = tables;
    this.#space = space;
    this.#key = blankKey(Table.known, space, ID_BYTES);
  }

  /** The number of the request of an id (40 hex digits); 0 for none. */
  numberOf(id: string): number {
    this.#find(id);
    return this.#number;
  }

  /** The mark of an id; 0 for none. */
  generationOf(id: string): number {
    this.#find(id);
    return this.#generation;
  }

  /** Have an id found under a number, or under none. */
  setNumber(id: string, number: number): void {
    this.#find(id);
    this.#number = number;
    this.#change();
  }

  /** Mark an id, or take its mark away. */
  setGeneration(id: string, generation: number): void {
    this.#find(id);
    this.#generation = generation;
    this.#change();
  }

  /** Write what was changed, and forget it. */
  write(): void {
    if (this.#isChanged) {
      const value = encodeKnown({ number: this.#number, generation: this.#generation });
      if (value.length > 0) this.#tables.put(this.#key, value, this.#size);
      else if (this.#size > 0) this.#tables.delete(this.#key, this.#size);
    }
    this.forget();
  }

  /** The table was wiped. */
  forget(): void {
    this.#id = '';
    this.#isChanged = false;
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

  #find(id: string): void {
    if (this.#id === id) return;
    this.write();
    writeId(this.#key, id, HEAD_BYTES);
    const value = this.#tables.glance(this.#key);
    const { number, generation } = value === undefined ? nothingKnown : decodeKnown(value);
    this.#id = id;
    this.#number = number;
    this.#generation = generation;
    this.#size = value?.length ?? 0;
  }

  #change(): void {
    // The write itself comes later, but from here on the transaction is not what it was.
    this.#tables.writes += 1;
    this.#isChanged = true;
  }
}

const nothingKnown: Known = { number: 0, generation: 0 };

const scratch = new Scratch(NUMBER_BYTES + 4);

/**
 * To bytes: the number, if any, and the mark in as few as hold it, so nearly always one. To be put at once: the next one is
 * written over it.
 */
export function encodeKnown({ number, generation }: Known): Buffer {
  const markAt = number === 0 ? 0 : NUMBER_BYTES;
  const markBytes = generation === 0 ? 0 : generation < 0x100 ? 1 : generation < 0x1_0000 ? 2 : 4;
  const value = scratch.first(markAt + markBytes);
  if (number !== 0) value.writeUIntBE(number, 0, NUMBER_BYTES);
  if (markBytes > 0) value.writeUIntBE(generation, markAt, markBytes);
  return value;
}

/** From bytes. */
export function decodeKnown(value: Buffer): Known {
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
