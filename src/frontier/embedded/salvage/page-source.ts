/**
 * Reads the pages of a database file that SQLite cannot open any more, in the documented format
 * (https://sqlite.org/fileformat2.html). It gives the newest committed state: pages of the log come before those of the file.
 *
 * This is the one place that opens the database file through `fs`, which drops this process' locks on it. No connection of
 * this process has it open then.
 */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** Our files have SQLite's default page size, and no bytes of a page are reserved. */
export const PAGE_BYTES = 4096;

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** A header that says more than this (160 GB) is damaged. */
const MOST_PAGES = 40_000_000;

export interface PageSource {
  /** Pages are numbered from 1 to this. */
  readonly count: number;
  /** Null where there is none, or nothing but zeros. */
  page(number: number): Buffer | null;
  close(): void;
}

/** Open the file and its log. */
export function openPages(file: string): PageSource {
  const descriptor = openSync(file, 'r');
  const filePages = Math.floor(fstatSync(descriptor).size / PAGE_BYTES);
  const log = existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : Buffer.alloc(0);
  const offsets = committedFrames(log);
  const page = (number: number): Buffer | null => {
    const offset = offsets.get(number);
    const bytes =
      offset === undefined ? readPage(descriptor, number) : log.subarray(offset, offset + PAGE_BYTES);
    return bytes === null || isZero(bytes) ? null : bytes;
  };
  // A file that was cut off says in its header how many pages it had.
  const header = page(1);
  const once = header?.toString('latin1', 0, 15) === 'SQLite format 3' ? header.readUInt32BE(28) : 0;
  const cutOff = once <= MOST_PAGES ? once : 0;
  return { count: Math.max(filePages, cutOff, ...offsets.keys()), page, close: () => closeSync(descriptor) };
}

function readPage(descriptor: number, number: number): Buffer | null {
  const page = Buffer.alloc(PAGE_BYTES);
  try {
    return readSync(descriptor, page, 0, PAGE_BYTES, (number - 1) * PAGE_BYTES) === PAGE_BYTES ? page : null;
  } catch {
    // A bad sector.
    return null;
  }
}

const zeros = Buffer.alloc(PAGE_BYTES);
const isZero = (page: Buffer): boolean => page.equals(zeros);

/** Where in the log the newest copy of each page is: up to the last commit before the first frame that is damaged. */
function committedFrames(log: Buffer): Map<number, number> {
  const committed = new Map<number, number>();
  if (log.length < LOG_HEADER_BYTES) return committed;
  const magic = log.readUInt32BE(0);
  if (magic >>> 1 !== 0x377f0682 >>> 1 || log.readUInt32BE(8) !== PAGE_BYTES) return committed;
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  const isLittleEndian = (magic & 1) === 0;
  let sum = checksum(view, 0, 24, isLittleEndian, [0, 0]);
  if (!isSumAt(view, 24, sum)) return committed;
  const salts = log.subarray(16, 24);
  const pending = new Map<number, number>();
  const frameBytes = FRAME_HEADER_BYTES + PAGE_BYTES;
  for (let at = LOG_HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    sum = checksum(view, at, at + 8, isLittleEndian, sum);
    sum = checksum(view, at + FRAME_HEADER_BYTES, at + frameBytes, isLittleEndian, sum);
    if (!log.subarray(at + 8, at + 16).equals(salts) || !isSumAt(view, at + 16, sum)) break;
    pending.set(log.readUInt32BE(at), at + FRAME_HEADER_BYTES);
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const [page, offset] of pending) committed.set(page, offset);
    pending.clear();
  }
  return committed;
}

type Sum = readonly [number, number];

/** The running checksum of a log, from the sum of what is before. */
function checksum(log: DataView, from: number, to: number, isLittleEndian: boolean, before: Sum): Sum {
  let [a, b] = before;
  for (let at = from; at < to; at += 8) {
    a = (a + log.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + log.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}

const isSumAt = (log: DataView, at: number, [a, b]: Sum): boolean =>
  log.getUint32(at) === a && log.getUint32(at + 4) === b;
