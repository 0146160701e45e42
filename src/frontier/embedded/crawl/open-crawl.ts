/** A crawl: its spaces and its two rows, read once, changed in place, and written once a transaction. */
import { FrontierGoneError } from '../../../errors.js';
import { dataFormats } from '../../data-format.js';
import type { FrontierKeys } from '../../open-options.js';
import { dupefilterText } from '../../shared-settings/shape-differences.js';
import { differ, writeRow } from '../file/rows.js';
import type { Statements } from '../file/statements.js';
import {
  type CrawlRow,
  type FirstShape,
  newCrawl,
  newTally,
  openWork,
  shapeOf,
  type TallyRow,
} from './crawl-row.js';
import { Spaces } from './keyspaces.js';

export class OpenCrawl {
  readonly sql: Statements;
  nowMs = 0;
  readonly spaces: Spaces;
  #crawl: CrawlRow | null;
  #tally: TallyRow | null;
  /** As they stand in the file. */
  #written: { crawl: CrawlRow | null; tally: TallyRow | null };

  constructor(sql: Statements, keys: FrontierKeys) {
    this.sql = sql;
    this.spaces = new Spaces(sql, keys);
    const { id } = this.spaces.crawl;
    this.#crawl = sql.get<CrawlRow>`SELECT * FROM crawl WHERE space = ${id}` ?? null;
    this.#tally = sql.get<TallyRow>`SELECT * FROM tally WHERE space = ${id}` ?? null;
    this.#written = { crawl: copyOf(this.#crawl), tally: copyOf(this.#tally) };
    this.begin();
  }

  /** Begin a transaction; what was read before still holds. */
  begin(): void {
    this.nowMs = Date.now();
    if (this.#tally !== null && openWork(this.#tally) > 0) this.#tally.busy_at = this.nowMs;
  }

  /** Whether there is a crawl; one of another data format is none that could be read. */
  get hasCrawl(): boolean {
    return this.#crawl !== null;
  }

  /** What the nodes share, to be changed in place. @throws FrontierGoneError when there is no crawl. */
  get crawl(): CrawlRow {
    if (this.#crawl === null) throw gone();
    return this.#crawl;
  }

  /** The crawl's counters, to be changed in place. @throws FrontierGoneError when there is no crawl. */
  get tally(): TallyRow {
    if (this.#tally === null) throw gone();
    return this.#tally;
  }

  /** The id of the crawl's space, which its rows bear; 0 when nothing is kept. */
  get space(): number {
    return this.spaces.crawl.id;
  }

  /** The data format the crawl is kept in; null where there is none. */
  get format(): number | null {
    return this.#crawl?.format ?? null;
  }

  /** Begin the counters at 0 where their row is gone. */
  replaceLostTally(): void {
    if (this.#crawl !== null) this.#tally ??= newTally(this.space, this.nowMs);
  }

  /** Make the crawl if there is none yet; one that has no request yet takes the shape of whoever comes. */
  create(shape: FirstShape): void {
    if (this.#crawl === null) {
      const space = this.spaces.crawl.need();
      this.spaces.list();
      this.#crawl = newCrawl(space, shape, this.nowMs);
      this.#tally = newTally(space, this.nowMs);
      return;
    }
    const crawl = this.#crawl;
    const dupefilter = shape.dupefilter === null ? null : dupefilterText(shape.dupefilter);
    if (this.tally.accepted === 0 && crawl.shape === null && crawl.format === dataFormats.embedded) {
      crawl.queue_class = shape.queueClass;
      crawl.dupefilter = dupefilter;
    } else if (crawl.dupefilter === null && dupefilter !== null) {
      crawl.dupefilter = dupefilter;
      const agreed = shapeOf(crawl);
      if (agreed !== null) crawl.shape = JSON.stringify({ ...agreed, dupefilter: shape.dupefilter });
    }
  }

  /** Forget the crawl and all that lies in its space: a small step, after which `sweepSome` deletes the rows. */
  destroy(): void {
    this.sql.run`DELETE FROM crawl WHERE space = ${this.space}`;
    this.sql.run`DELETE FROM tally WHERE space = ${this.space}`;
    this.spaces.crawl.clear();
    this.#crawl = null;
    this.#tally = null;
    this.#written = { crawl: null, tally: null };
  }

  /** A strictly increasing number in µs: a request's place among its equals. */
  takeArrival(): number {
    this.tally.last_arrival = Math.max(this.tally.last_arrival + 1, this.nowMs * 1000);
    return this.tally.last_arrival;
  }

  /** Write back what was changed. */
  finish(): void {
    const { crawl, tally } = this.#written;
    if (this.#tally !== null && openWork(this.#tally) > 0) this.#tally.busy_at = this.nowMs;
    if (this.#crawl !== null && (crawl === null || differ(this.#crawl, crawl)))
      writeRow(this.sql, 'crawl', this.#crawl);
    if (this.#tally !== null && (tally === null || differ(this.#tally, tally)))
      writeRow(this.sql, 'tally', this.#tally);
    this.spaces.finish();
    this.#written = { crawl: copyOf(this.#crawl), tally: copyOf(this.#tally) };
  }
}

function copyOf<Row>(row: Row | null): Row | null {
  return row === null ? null : { ...row };
}

function gone(): FrontierGoneError {
  return new FrontierGoneError(
    'the records of this crawl are gone from its folder: somebody reset it or deleted the folder under a live node',
  );
}
