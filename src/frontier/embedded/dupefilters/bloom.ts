/**
 * BloomDupeFilter: bits instead of fingerprints, at a stated rate of error (`bloom-sizing.ts` computes how many bits).
 *
 * A slice is cut into blocks, and all bits of a fingerprint lie in one block: a look-up reads one row, and recording
 * writes one page. Some blocks fill faster than others by chance. The margin of the sizing makes up for that.
 */
import type { BackupEntry } from '../../backup/entry.js';
import { bloomSizing, bloomSlice } from '../../bloom-sizing.js';
import type { Dupefilter as Choice } from '../../frontier.js';
import { type BackupRow, bufferOf, Dupefilter } from './dupefilter.js';

/** With the rest of its row it fits a page of 4 KB: a larger one would take two. */
export const BLOCK_BYTES = 4_000;
const BLOCK_BITS = BLOCK_BYTES * 8;
/** A page, and its share of the index. */
const ROW_BYTES = 4_120;

interface Slice {
  /** From 1. */
  readonly index: number;
  readonly blocks: number;
  readonly hashes: number;
}

type BloomChoice = Extract<Choice, { class: 'BloomDupeFilter' }>;

export class BloomDupefilter extends Dupefilter<BloomChoice> {
  has(bytes: Uint8Array): boolean {
    const fingerprint = bufferOf(bytes);
    for (let index = Math.ceil(this.count / this.choice.capacity); index > 0; index -= 1) {
      const slice = sliceOf(this.choice, index);
      const block = this.#read(slice, blockOf(fingerprint, slice));
      if (block !== undefined && hasBits(block.bits, fingerprint, slice.hashes)) return true;
    }
    return false;
  }

  record(bytes: Uint8Array, isSeen: boolean): void {
    if (isSeen) return;
    const { space } = this;
    const { sql } = this.crawl;
    const fingerprint = bufferOf(bytes);
    const slice = sliceOf(this.choice, Math.floor(this.count / this.choice.capacity) + 1);
    const number = blockOf(fingerprint, slice);
    const block = this.#read(slice, number);
    const bits = block?.bits ?? new Uint8Array(BLOCK_BYTES);
    setBits(bits, fingerprint, slice.hashes);
    if (block !== undefined) sql.run`UPDATE seen_bloom SET bits = ${bits} WHERE rowid = ${block.row}`;
    else {
      sql.run`INSERT INTO seen_bloom (space, slice, block, bits) VALUES (${space}, ${slice.index}, ${number}, ${bits})`;
    }
    this.count += 1;
  }

  forget(): boolean {
    return false;
  }

  bytes(): number {
    const { sql } = this.crawl;
    return (
      ROW_BYTES * sql.get<{ n: number }>`SELECT count(*) AS n FROM seen_bloom WHERE space = ${this.space}`!.n
    );
  }

  isEmpty(): boolean {
    return this.crawl.sql.get`SELECT 1 FROM seen_bloom WHERE space = ${this.space} LIMIT 1` === undefined;
  }

  /** The bits do not tell how many fingerprints made them. */
  recount(): number {
    return this.count;
  }

  override readonly backupQuery = {
    first: 0,
    query: `SELECT rowid AS key, slice || '.' || block AS value, bits FROM seen_bloom
      WHERE space = ? AND rowid > ? ORDER BY rowid LIMIT ?`,
    rowChars: (BLOCK_BYTES / 3) * 4,
  };

  override toBackup(rows: readonly BackupRow[]): BackupEntry {
    const values = rows.map(({ value, bits }) => [value, bufferOf(bits!).toString('base64')] as const);
    return { kind: 'bits', values };
  }

  override backupIndex(): readonly number[] {
    return [this.count];
  }

  #read(slice: Slice, block: number): { readonly row: number; readonly bits: Uint8Array } | undefined {
    return this.crawl.sql.get`
      SELECT rowid AS row, bits FROM seen_bloom WHERE space = ${this.space} AND slice = ${slice.index} AND block = ${block}`;
  }
}

function sliceOf(choice: BloomChoice, index: number): Slice {
  const { bits, hashes } = bloomSlice(bloomSizing(choice), index);
  return { index, blocks: Math.ceil(bits / BLOCK_BITS), hashes };
}

/** By the first 48 bits. */
const blockOf = (fingerprint: Buffer, { blocks }: Slice): number => fingerprint.readUIntBE(0, 6) % blocks;

function hasBits(block: Uint8Array, fingerprint: Buffer, hashes: number): boolean {
  for (const place of placesOf(fingerprint, hashes)) {
    if ((block[place >>> 3]! & (1 << (place & 7))) === 0) return false;
  }
  return true;
}

function setBits(block: Uint8Array, fingerprint: Buffer, hashes: number): void {
  for (const place of placesOf(fingerprint, hashes)) block[place >>> 3]! |= 1 << (place & 7);
}

/**
 * The places of a fingerprint within its block, from its last 96 bits by enhanced double hashing (Dillinger and
 * Manolios, 2004): in so small a space plain double hashing would repeat whole patterns too often.
 */
function* placesOf(fingerprint: Buffer, hashes: number): Iterable<number> {
  let at = fingerprint.readUInt32BE(8);
  let step = fingerprint.readUInt32BE(12);
  const bend = fingerprint.readUInt32BE(16);
  for (let n = 0; n < hashes; n += 1) {
    yield Math.floor((at / 0x1_0000_0000) * BLOCK_BITS);
    at = (at + step) >>> 0;
    step = (step + bend) >>> 0;
  }
}
