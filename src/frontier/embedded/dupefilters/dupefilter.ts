/**
 * What each class of dupefilter does with its table. The parts that all classes share (the agreed class, writing the count,
 * clearing) are in `seen-index.ts`. Fingerprints are 20 bytes.
 */
import type { Value } from '../../../disk/sqlite.js';
import type { BackupEntry } from '../../backup/entry.js';
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import type { OpenCrawl } from '../base/open-crawl.js';

/** A change of the state that a StateDupeFilter records for a request. Omitted fields are unchanged. */
export type LifeChange = Pick<RequestLife, 'state'> & Partial<Pick<RequestLife, 'status' | 'attempts'>>;

/** What a backup knows of a fingerprint; `untilMs` null is never, and undefined not known. */
export interface BackedUp {
  readonly untilMs: number | null | undefined;
  readonly life: RequestLife | undefined;
}

/** How the rows of a table are read for a backup, in windows: see `rowsInWindows`. */
export interface BackupQuery {
  readonly first: Value;
  readonly query: string;
  /** Characters of a row in the backup. */
  readonly rowChars: number;
}

/** A row of a `BackupQuery`. */
export interface BackupRow {
  /** The fingerprint in hex; of a block of bits its slice and number: `1.17`. */
  readonly value: string;
  readonly untilMs?: number | null;
  /** A `RequestLife` as JSON. */
  readonly life?: string;
  readonly bits?: Uint8Array;
}

export abstract class Dupefilter<C extends Choice = Choice> {
  protected readonly crawl: OpenCrawl;
  /** The space of its rows. */
  readonly space: number;
  readonly choice: C;
  /** The number of recorded fingerprints; changed in place. */
  count: number;

  constructor(crawl: OpenCrawl, space: number, choice: C, count: number) {
    this.crawl = crawl;
    this.space = space;
    this.choice = choice;
    this.count = count;
  }

  abstract has(fingerprint: Uint8Array): boolean;
  /** Record the fingerprint of an accepted request. `isSeen`: it is recorded already, which happens with seeds. */
  abstract record(fingerprint: Uint8Array, isSeen: boolean): void;
  /** @returns whether it was there. Not called where the class cannot forget. */
  abstract forget(fingerprint: Uint8Array): boolean;
  /** Its size in the file in bytes, including indexes. */
  abstract bytes(): number;
  /** Whether its table has no row of it. */
  abstract isEmpty(): boolean;
  /** Count the fingerprints in the table. */
  abstract recount(): number;

  abstract readonly backupQuery: BackupQuery;

  /** Whether a row has expired and only waits for its deletion: no backup takes it. */
  hasExpired(_row: BackupRow): boolean {
    return false;
  }

  abstract toBackup(rows: readonly BackupRow[]): BackupEntry;

  /** The layout of its bits, for the backup; null where complete fingerprints, or parts of them, are stored. */
  backupIndex(): readonly number[] | null {
    return null;
  }

  /** Record a fingerprint of a backup, possibly of another class. One that is recorded already stays as it is. */
  fromBackup(fingerprint: Uint8Array, _of: BackedUp): void {
    if (!this.has(fingerprint)) this.record(fingerprint, false);
  }

  /** The request of a recorded fingerprint changed its state. */
  onLife(_fingerprint: Uint8Array, _change: LifeChange): void {}

  /** The recorded state of the request of a fingerprint; null when there is none. */
  life(_fingerprint: Uint8Array): RequestLife | null {
    return null;
  }

  /** How many of the counted fingerprints have expired. The work is bounded, so there may be more. */
  due(): number {
    return 0;
  }

  /** Delete at most `max` expired fingerprints. @returns whether that was all. */
  tidy(_max: number): boolean {
    return true;
  }
}

/** Bytes as a Buffer, without a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
