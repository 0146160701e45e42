/**
 * BloomDupeFilter: bits instead of fingerprints, at a stated rate of error (`bloom-sizing.ts` says how many).
 *
 * A slice is cut into blocks, and all bits of a fingerprint lie in one block: a look-up is one get, and recording
 * writes one page. With the bits anywhere in the slice it would be ten of each (at a rate of 0.001), and LMDB copies
 * a page of 4 KB for each. Blocks are filled unevenly by chance, which raises the rate of error by some 4 %, less than the
 * margin of the sizing lowers it (measured at a capacity of 10⁶ and a rate of 0.001: 0.00072, in 1.97 bytes a URL).
 *
 * Four blocks fit a page. They are written in groups, the first time that one of a group is needed, so that LMDB fills
 * its pages to the brim, and not to two thirds as with entries that come in no order.
 */
import { bloomSizing, bloomSlice } from '../bloom-sizing.js';
import type { Dupefilter as Choice } from '../frontier.js';
import { cannotForget } from '../shape.js';
import type { Desk, Dupefilter, SeenValue } from './dupefilter.js';
import { keyOf, Table } from './keys.js';

/** Four of them, with keys and bookkeeping, fit a page of 4 KB. */
const BLOCK_BYTES = 994;
const BLOCKS_A_PAGE = 4;
const BLOCK_BITS = BLOCK_BYTES * 8;
/** Blocks written at once: 32 pages, and between two groups one more that stays half empty. */
const GROUP = 128;
/** A quarter of a page, and its share of those between groups and of the tree above (measured). */
const BLOCK_SHARE_BYTES = 1024 * 1.025;

interface Slice {
  /** From 1. */
  readonly index: number;
  readonly blocks: number;
  readonly hashes: number;
}

export class BloomDupefilter implements Dupefilter {
  readonly #desk: Desk;
  readonly #capacity: number;
  readonly #sliceAt: (index: number) => Slice;

  constructor(desk: Desk, choice: Extract<Choice, { class: 'BloomDupeFilter' }>) {
    this.#desk = desk;
    this.#capacity = choice.capacity;
    this.#sliceAt = slicesOf(choice);
  }

  seenUntilMs(digits: string): number {
    const fingerprint = Buffer.from(digits, 'hex');
    const opened = Math.ceil(this.#desk.ledger.count / this.#capacity);
    for (let index = opened; index > 0; index -= 1) {
      const slice = this.#sliceAt(index);
      const block = this.#desk.tables.get(this.#key(slice, blockOf(fingerprint, slice)));
      if (block !== undefined && hasBits(block, fingerprint, slice.hashes)) return Number.POSITIVE_INFINITY;
    }
    return 0;
  }

  record(digits: string, isSeen: boolean): void {
    if (isSeen) return;
    const fingerprint = Buffer.from(digits, 'hex');
    const { tables, ledger } = this.#desk;
    const slice = this.#sliceAt(Math.floor(ledger.count / this.#capacity) + 1);
    const number = blockOf(fingerprint, slice);
    const key = this.#key(slice, number);
    const block = tables.get(key) ?? this.#openGroup(slice, number);
    setBits(block, fingerprint, slice.hashes);
    tables.put(key, block, BLOCK_BYTES);
    ledger.count += 1;
  }

  forget(): boolean {
    throw cannotForget();
  }

  bytes(): number {
    return this.#desk.ledger.parts * BLOCK_SHARE_BYTES;
  }

  /** The bits do not tell how many fingerprints made them. */
  examine(): { count: number; breaches: string[] } {
    const { tables, ledger } = this.#desk;
    const blocks = tables.countEntries(Table.seen, ledger.space);
    const breaches =
      blocks === ledger.parts
        ? []
        : [`I2: the dupefilter has ${blocks} blocks but the counter says ${ledger.parts}`];
    return { count: ledger.count, breaches };
  }

  /** Its entries are blocks of bits, and go into a backup as they are. */
  backUp(): SeenValue[] {
    return [];
  }

  /** Fingerprints of another class. */
  bringBack(fingerprint: string): void {
    this.record(fingerprint, this.seenUntilMs(fingerprint) > 0);
  }

  /**
   * Write the group of a block, all empty. The last of each four comes after all others: a page that is full gives
   * its last block away when the next one is added behind it, which leaves a hole for exactly one.
   * @returns the block.
   */
  #openGroup(slice: Slice, number: number): Buffer {
    const { tables, ledger } = this.#desk;
    const first = number - (number % GROUP);
    const end = Math.min(first + GROUP, slice.blocks);
    const empty = Buffer.alloc(BLOCK_BYTES);
    for (const isLast of [false, true]) {
      for (let at = first; at < end; at += 1) {
        if ((at % BLOCKS_A_PAGE === BLOCKS_A_PAGE - 1) === isLast) tables.put(this.#key(slice, at), empty, 0);
      }
    }
    ledger.parts += end - first;
    return empty;
  }

  #key({ index }: Slice, block: number): Buffer {
    const place = Buffer.allocUnsafe(6);
    place.writeUInt16BE(index, 0);
    place.writeUInt32BE(block, 2);
    return keyOf(Table.seen, this.#desk.ledger.space, place);
  }
}

let lastSlices: { readonly choice: Choice; readonly slices: Map<number, Slice> } | undefined;

/** The slices of a choice, reckoned once. */
function slicesOf(choice: Extract<Choice, { class: 'BloomDupeFilter' }>): (index: number) => Slice {
  if (lastSlices?.choice !== choice) lastSlices = { choice, slices: new Map() };
  const { slices } = lastSlices;
  return (index) => {
    let slice = slices.get(index);
    if (slice === undefined) {
      const { bits, hashes } = bloomSlice(bloomSizing(choice), index);
      slice = { index, blocks: Math.ceil(bits / BLOCK_BITS), hashes };
      slices.set(index, slice);
    }
    return slice;
  };
}

/** By the first 48 bits. */
const blockOf = (fingerprint: Buffer, { blocks }: Slice): number => fingerprint.readUIntBE(0, 6) % blocks;

function hasBits(block: Buffer, fingerprint: Buffer, hashes: number): boolean {
  return everyBit(fingerprint, hashes, (byte, bit) => ((block[byte] ?? 0) & bit) !== 0);
}

function setBits(block: Buffer, fingerprint: Buffer, hashes: number): void {
  everyBit(fingerprint, hashes, (byte, bit) => {
    block[byte] = (block[byte] ?? 0) | bit;
    return true;
  });
}

/**
 * The places of a fingerprint within its block, from its last 96 bits by enhanced double hashing (Dillinger and
 * Manolios, 2004): in so small a space plain double hashing would repeat whole patterns too often.
 */
function everyBit(
  fingerprint: Buffer,
  hashes: number,
  visit: (byte: number, bit: number) => boolean,
): boolean {
  let at = fingerprint.readUInt32BE(8);
  let step = fingerprint.readUInt32BE(12);
  const bend = fingerprint.readUInt32BE(16);
  for (let n = 0; n < hashes; n += 1) {
    const place = Math.floor((at / 0x1_0000_0000) * BLOCK_BITS);
    if (!visit(place >>> 3, 1 << (place & 7))) return false;
    at = (at + step) >>> 0;
    step = (step + bend) >>> 0;
  }
  return true;
}
