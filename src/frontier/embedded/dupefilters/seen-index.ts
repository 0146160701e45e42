/** The dupefilter of a crawl, of any class. Its row is read once, and written once per transaction. */
import { type Dupefilter as Choice, classOf, type EmbeddedTable } from '../../dupefilter-classes.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import { storedJson } from '../file/stored-json.js';
import { BloomDupefilter } from './bloom.js';
import type { Dupefilter } from './dupefilter.js';
import { CompactDupefilter, RfpDupefilter, StateDupefilter, TimedDupefilter } from './rows-dupefilter.js';

/** Expired fingerprints deleted at most by one step of tidying, and by each transaction that records some. */
const TIDY_STEP = 5_000;
const TIDY_WHILE_RECORDING = 200;

const byTable: Readonly<Record<EmbeddedTable, new (...of: OpenArguments) => Dupefilter>> = {
  seen: RfpDupefilter,
  seen_timed: TimedDupefilter,
  seen_state: StateDupefilter,
  seen_bloom: BloomDupefilter,
  seen_compact: CompactDupefilter,
};

type OpenArguments = [crawl: OpenCrawl, space: number, choice: never, count: number];

export class SeenIndex {
  readonly #crawl: OpenCrawl;
  /** Null where nothing is recorded; undefined before it is read. */
  #open: Dupefilter | null | undefined;
  /** The count in the file; -1 when there is none. */
  #writtenCount = -1;
  #hasRecorded = false;

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** The number of fingerprints, without expired ones. */
  count(): number {
    const open = this.open();
    return open === null ? 0 : open.count - open.due();
  }

  /** Its size in the file, in bytes. */
  bytes(): number {
    const open = this.open();
    return open === null || open.count === 0 ? 0 : Math.round(open.bytes());
  }

  has(fingerprint: Uint8Array): boolean {
    return this.open()?.has(fingerprint) ?? false;
  }

  /** Record the fingerprint of a request that is being accepted. `isSeen` is the result of `has`. */
  record(fingerprint: Uint8Array, isSeen: boolean): void {
    this.begin().record(fingerprint, isSeen);
    this.#hasRecorded = true;
  }

  /**
   * Notice that somebody has deleted all fingerprints: the epoch rises, so that every node drops its cache of seen links, and
   * they are counted. One row is looked for. Rows that were deleted singly are found by `doctor --deep` alone: SQLite counts no
   * rows without reading them. A dupefilter that crawls share is not watched.
   */
  look(): void {
    const { spaces, hasCrawl } = this.#crawl;
    if (!hasCrawl || spaces.sharesDupefilter || this.#crawl.crawl.restoring !== null) return;
    const open = this.open();
    if (open !== null && open.count > 0 && open.isEmpty()) this.#noteCount(open, 0);
  }

  /** Count the fingerprints anew, and note those that vanished. @returns how many did. */
  recount(): number {
    const { spaces, crawl } = this.#crawl;
    const hasNone = spaces.dupefilter.id === 0 || (crawl.dupefilter ?? crawl.shape) === null;
    return this.open() === null && hasNone ? 0 : this.#noteCount(this.begin(), this.begin().recount());
  }

  #noteCount(open: Dupefilter, count: number): number {
    const { crawl, tally } = this.#crawl;
    const gone = Math.max(0, open.count - count);
    if (open.count === count) return 0;
    tally.seen_gone += gone;
    crawl.epoch += 1;
    if (count === 0) crawl.starts_again = 1;
    open.count = count;
    return gone;
  }

  /** Clear the dupefilter, in one small step. */
  clear(): void {
    this.#crawl.spaces.dupefilter.clear();
    this.#open = null;
    this.#writtenCount = -1;
  }

  /** Delete some expired fingerprints. @returns whether that was all. */
  tidy(max = TIDY_STEP): boolean {
    return this.open()?.tidy(max) ?? true;
  }

  /** Write the count if it has changed. */
  finish(): void {
    const open = this.#open ?? null;
    if (open === null) return;
    if (this.#hasRecorded) this.tidy(TIDY_WHILE_RECORDING);
    this.#hasRecorded = false;
    const { space, choice, count } = open;
    if (count === this.#writtenCount) return;
    this.#crawl.sql
      .run`REPLACE INTO dupefilter (space, choice, count) VALUES (${space}, ${JSON.stringify(choice)}, ${count})`;
    this.#writtenCount = count;
  }

  /** The dupefilter; null when nothing is recorded. */
  open(): Dupefilter | null {
    if (this.#open !== undefined) return this.#open;
    const { sql, spaces } = this.#crawl;
    const row = sql.get<{ choice: string; count: number }>`
      SELECT choice, count FROM dupefilter WHERE space = ${spaces.dupefilter.id}`;
    this.#writtenCount = row?.count ?? -1;
    this.#open =
      row === undefined
        ? null
        : this.#openAs(storedJson<Choice>(row.choice, 'dupefilter', 'choice'), row.count);
    return this.#open;
  }

  /** The dupefilter. When nothing is recorded, a new one of the agreed class. */
  begin(): Dupefilter {
    const open = this.open();
    if (open !== null) return open;
    const { dupefilter, shape } = this.#crawl.crawl;
    // Emptied under live nodes, a crawl goes on with the class that they have.
    const agreed = dupefilter ?? shape?.dupefilter;
    if (agreed === undefined) throw new Error('nothing is recorded before a dupefilter is agreed');
    this.#open = this.#openAs(agreed, 0);
    return this.#open;
  }

  #openAs(choice: Choice, count: number): Dupefilter {
    return new byTable[classOf(choice).table](
      this.#crawl,
      this.#crawl.spaces.dupefilter.need(),
      choice as never,
      count,
    );
  }
}
