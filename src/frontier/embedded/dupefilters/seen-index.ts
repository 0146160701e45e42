/** The dupefilter of a crawl, of any class. Its row is read once, and written once per transaction. */
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import { agreedDupefilter } from '../crawl/crawl-row.js';
import type { OpenCrawl } from '../crawl/open-crawl.js';
import { BloomDupefilter } from './bloom.js';
import type { Dupefilter, DupefilterContext, LifeChange } from './dupefilter.js';
import { compactTable, RowDupefilter, rfpTable } from './rows-dupefilter.js';
import { StateDupefilter } from './state.js';
import { TimedDupefilter } from './timed.js';

/** Expired fingerprints deleted at most by one step of tidying, and by each transaction that records some. */
const TIDY_STEP = 5_000;
const TIDY_WHILE_RECORDING = 200;

/** A dupefilter with its class, which is decided when the first fingerprint is recorded. */
export interface OpenDupefilter {
  readonly context: DupefilterContext;
  readonly filter: Dupefilter;
}

export class SeenIndex {
  readonly #crawl: OpenCrawl;
  #open: OpenDupefilter | null | undefined;
  /** The count in the file; -1 when there is none. */
  #writtenCount = -1;
  #hasRecorded = false;

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** The number of fingerprints, without expired ones. */
  count(): number {
    const open = this.open();
    return open === null ? 0 : open.context.count - (open.filter.due?.() ?? 0);
  }

  /** Its size in the file, in bytes. */
  bytes(): number {
    const open = this.open();
    return open === null || open.context.count === 0 ? 0 : Math.round(open.filter.bytes());
  }

  has(fingerprint: Uint8Array): boolean {
    return this.open()?.filter.has(fingerprint) ?? false;
  }

  /** Record the fingerprint of a request that is being accepted. `isSeen` is the result of `has`. */
  record(fingerprint: Uint8Array, isSeen: boolean): void {
    this.begin().filter.record(fingerprint, isSeen);
    this.#hasRecorded = true;
  }

  /** Remove a fingerprint. @returns whether it was there. */
  forget(fingerprint: Uint8Array): boolean {
    return this.open()?.filter.forget(fingerprint) ?? false;
  }

  /** The request of a fingerprint changed its state. */
  onLife(fingerprint: Uint8Array, change: LifeChange): void {
    this.open()?.filter.onLife?.(fingerprint, change);
  }

  /** The recorded state of the request of a fingerprint; null when there is none. */
  life(fingerprint: Uint8Array): RequestLife | null {
    return this.open()?.filter.life?.(fingerprint) ?? null;
  }

  /** Class and parameters of the dupefilter; null when nothing is recorded. */
  choice(): Choice | null {
    return this.open()?.context.choice ?? null;
  }

  /** Set the class of the live nodes again, after the dupefilter was cleared. */
  agree(): void {
    const { crawl } = this.#crawl;
    crawl.dupefilter = agreedDupefilter(crawl);
  }

  /** Clear the dupefilter, in one small step. */
  clear(): void {
    this.#crawl.spaces.dupefilter.clear();
    this.#open = null;
    this.#writtenCount = -1;
  }

  /** Delete some expired fingerprints. @returns whether that was all. */
  tidy(max = TIDY_STEP): boolean {
    return this.open()?.filter.tidy?.(max) ?? true;
  }

  /** Write the count if it has changed. */
  finish(): void {
    if (this.#open === null || this.#open === undefined) return;
    if (this.#hasRecorded) this.tidy(TIDY_WHILE_RECORDING);
    this.#hasRecorded = false;
    const { space, choice, count } = this.#open.context;
    if (count === this.#writtenCount) return;
    this.#crawl.sql
      .run`REPLACE INTO dupefilter (space, choice, count) VALUES (${space}, ${JSON.stringify(choice)}, ${count})`;
    this.#writtenCount = count;
  }

  /** The dupefilter; null when nothing is recorded. */
  open(): OpenDupefilter | null {
    if (this.#open !== undefined) return this.#open;
    const { sql, spaces } = this.#crawl;
    const row = sql.get<{ choice: string; count: number }>`
      SELECT choice, count FROM dupefilter WHERE space = ${spaces.dupefilter.id}`;
    if (row === undefined) this.#open = null;
    else {
      this.#writtenCount = row.count;
      this.#open = this.#openWith(JSON.parse(row.choice) as Choice, row.count);
    }
    return this.#open;
  }

  /** The dupefilter. When nothing is recorded, a new one of the agreed class. */
  begin(): OpenDupefilter {
    const open = this.open();
    if (open !== null) return open;
    const agreed = agreedDupefilter(this.#crawl.crawl);
    if (agreed === null) throw new Error('nothing is recorded before a dupefilter is agreed');
    this.#open = this.#openWith(agreed, 0);
    return this.#open;
  }

  #openWith(choice: Choice, count: number): OpenDupefilter {
    const crawl = this.#crawl;
    const space = crawl.spaces.dupefilter.need();
    const context: DupefilterContext = { sql: crawl.sql, space, choice, count, now: () => crawl.nowMs };
    return { context, filter: dupefilterOf(context, choice) };
  }
}

function dupefilterOf(context: DupefilterContext, choice: Choice): Dupefilter {
  switch (choice.class) {
    case 'RFPDupeFilter':
      return new RowDupefilter(context, rfpTable);
    case 'TimedRFPDupeFilter':
      return new TimedDupefilter(context, choice.expireMs);
    case 'StateDupeFilter':
      return new StateDupefilter(context);
    case 'BloomDupeFilter':
      return new BloomDupefilter(context, choice);
    case 'CompactDupeFilter':
      return new RowDupefilter(context, compactTable);
  }
}
