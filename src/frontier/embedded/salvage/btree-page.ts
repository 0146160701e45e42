/** A page of a b-tree, decoded: its rows, or the pages below it. Format: https://sqlite.org/fileformat2.html, section 1.6. */
import { isUtf8 } from 'node:buffer';
import type { Value } from '../../../disk/sqlite.js';
import { PAGE_BYTES, type PageSource } from './page-source.js';

export interface Row {
  /** Null in an index, and in a table that has none. */
  readonly rowid: number | null;
  readonly values: readonly Value[];
}

export interface BtreePage {
  readonly rows: readonly Row[];
  /** Rows that could not be read. */
  readonly unreadable: number;
}

const INDEX_INTERIOR = 2;
const TABLE_INTERIOR = 5;
const INDEX_LEAF = 10;
const TABLE_LEAF = 13;

/** Bytes of a payload that its page holds: at most, and at least when the rest is in overflow pages. */
const MOST_IN_TABLE = PAGE_BYTES - 35;
const MOST_IN_INDEX = Math.floor(((PAGE_BYTES - 12) * 64) / 255) - 23;
const LEAST = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;

/** The rows of a page; null where it is not a page of a b-tree. */
export function decodePage(number: number, pages: PageSource): BtreePage | null {
  const found = openPage(number, pages);
  if (found === null) return null;
  const { page, type, cells } = found;
  const rows: Row[] = [];
  let unreadable = 0;
  if (type === TABLE_INTERIOR) return { rows, unreadable };
  for (const cell of cells) {
    try {
      const at = page.readUInt16BE(cell) + (type === INDEX_INTERIOR ? 4 : 0);
      rows.push(readRow(new Reader(page, at), type === TABLE_LEAF, pages));
    } catch {
      unreadable += 1;
    }
  }
  return { rows, unreadable };
}

/** The pages right below a page; none below a leaf. */
export function childrenOf(number: number, pages: PageSource): number[] {
  const found = openPage(number, pages);
  if (found === null || found.type === TABLE_LEAF || found.type === INDEX_LEAF) return [];
  const { page, head, cells } = found;
  const below = cells.flatMap((cell) => {
    const at = page.readUInt16BE(cell);
    return at + 4 > PAGE_BYTES ? [] : [page.readUInt32BE(at)];
  });
  return [...below, page.readUInt32BE(head + 8)];
}

interface OpenPage {
  readonly page: Buffer;
  readonly type: number;
  readonly head: number;
  /** Where the pointers to the cells are. */
  readonly cells: readonly number[];
}

function openPage(number: number, pages: PageSource): OpenPage | null {
  const page = pages.page(number);
  if (page === null) return null;
  // The first page begins with the header of the file.
  const head = number === 1 ? 100 : 0;
  const type = page[head]!;
  const isInterior = type === INDEX_INTERIOR || type === TABLE_INTERIOR;
  if (!isInterior && type !== INDEX_LEAF && type !== TABLE_LEAF) return null;
  const first = head + (isInterior ? 12 : 8);
  const count = page.readUInt16BE(head + 3);
  if (first + 2 * count > PAGE_BYTES) return null;
  return { page, type, head, cells: Array.from({ length: count }, (_, n) => first + 2 * n) };
}

function readRow(cell: Reader, isTable: boolean, pages: PageSource): Row {
  const bytes = cell.varint();
  const rowid = isTable ? cell.varint() : null;
  const payload = readPayload(cell, bytes, isTable ? MOST_IN_TABLE : MOST_IN_INDEX, pages);
  return { rowid, values: readRecord(payload) };
}

function readPayload(cell: Reader, bytes: number, most: number, pages: PageSource): Buffer {
  if (bytes > pages.count * PAGE_BYTES) throw new RangeError('a payload larger than the file');
  if (bytes <= most) return cell.bytes(bytes);
  const wanted = LEAST + ((bytes - LEAST) % (PAGE_BYTES - 4));
  const parts = [cell.bytes(wanted <= most ? wanted : LEAST)];
  let left = bytes - parts[0]!.length;
  for (let next = cell.bytes(4).readUInt32BE(0); left > 0; ) {
    const page = pages.page(next);
    if (page === null) throw new RangeError('an overflow page is gone');
    const part = page.subarray(4, 4 + Math.min(left, PAGE_BYTES - 4));
    parts.push(part);
    left -= part.length;
    next = page.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function readRecord(payload: Buffer): Value[] {
  const header = new Reader(payload, 0);
  const headerBytes = header.varint();
  const body = new Reader(payload, headerBytes);
  const values: Value[] = [];
  while (header.at < headerBytes) values.push(readValue(body, header.varint()));
  if (body.at !== payload.length) throw new RangeError('a record of another size');
  return values;
}

/** The bytes of integers, by serial type. */
const integerBytes = [0, 1, 2, 3, 4, 6, 8];

function readValue(body: Reader, type: number): Value {
  if (type === 0) return null;
  if (type <= 6) return body.integer(integerBytes[type]!);
  if (type === 7) return body.bytes(8).readDoubleBE(0);
  if (type === 8 || type === 9) return type - 8;
  if (type < 12) throw new RangeError('no serial type');
  const bytes = body.bytes((type - (type % 2 === 0 ? 12 : 13)) / 2);
  if (type % 2 === 0) return bytes;
  if (!isUtf8(bytes)) throw new RangeError('no text');
  return bytes.toString();
}

/** Reads values one after the other. @throws RangeError beyond the end. */
class Reader {
  readonly #from: Buffer;
  at: number;

  constructor(from: Buffer, at: number) {
    this.#from = from;
    this.at = at;
  }

  /** A number where that is exact, else a bigint. */
  integer(bytes: number): number | bigint {
    const from = this.bytes(bytes);
    if (bytes <= 6) return from.readIntBE(0, bytes);
    const value = from.readBigInt64BE(0);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  /** A size or a row number; those never take more than eight bytes. */
  varint(): number {
    let value = 0;
    for (let n = 0; n < 8; n += 1) {
      this.at += 1;
      const byte = this.#from.readUInt8(this.at - 1);
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number that is too large');
  }

  bytes(count: number): Buffer {
    const end = this.at + count;
    if (!(count >= 0) || end > this.#from.length) throw new RangeError('beyond the end');
    const bytes = this.#from.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}
