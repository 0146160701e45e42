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
  const sum = new Checksum(log, (magic & 1) === 1);
  sum.add(0, 24);
  if (!sum.isAt(24)) return committed;
  const salts = log.subarray(16, 24);
  const pending = new Map<number, number>();
  const frameBytes = FRAME_HEADER_BYTES + PAGE_BYTES;
  for (let at = LOG_HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    sum.add(at, at + 8);
    sum.add(at + FRAME_HEADER_BYTES, at + frameBytes);
    if (!log.subarray(at + 8, at + 16).equals(salts) || !sum.isAt(at + 16)) break;
    pending.set(log.readUInt32BE(at), at + FRAME_HEADER_BYTES);
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const [page, offset] of pending) committed.set(page, offset);
    pending.clear();
  }
  return committed;
}

/** The running checksum of a log. */
class Checksum {
  readonly #log: Buffer;
  readonly #isBigEndian: boolean;
  #a = 0;
  #b = 0;

  constructor(log: Buffer, isBigEndian: boolean) {
    this.#log = log;
    this.#isBigEndian = isBigEndian;
  }

  add(from: number, to: number): void {
    for (let at = from; at < to; at += 8) {
      this.#a = (this.#a + this.#word(at) + this.#b) >>> 0;
      this.#b = (this.#b + this.#word(at + 4) + this.#a) >>> 0;
    }
  }

  isAt(at: number): boolean {
    return this.#log.readUInt32BE(at) === this.#a && this.#log.readUInt32BE(at + 4) === this.#b;
  }

  #word(at: number): number {
    return this.#isBigEndian ? this.#log.readUInt32BE(at) : this.#log.readUInt32LE(at);
  }
}
