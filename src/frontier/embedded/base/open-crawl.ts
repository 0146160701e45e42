/** A crawl: its spaces and its two rows, read once, changed in place, and written once a transaction. */
import { FrontierGoneError } from '../../../errors.js';
import { dataFormats } from '../../data-format.js';
import type { FrontierKeys } from '../../open-options.js';
import { CLOCK_LEAP_MS } from '../../types/limits.js';
import { StoredRow } from '../file/rows.js';
import { ContradictingRows } from '../file/sqlite-errors.js';
import type { Statements } from '../file/statements.js';
import { crawlClock } from './crawl-clock.js';
import {
  type CrawlRow,
  type FirstShape,
  newTally,
  openWork,
  readCrawl,
  type TallyRow,
  writeNewCrawl,
} from './crawl-row.js';
import { Spaces } from './keyspaces.js';

export class OpenCrawl {
  readonly sql: Statements;
  /** The crawl's clock, which never goes back. */
  nowMs = 0;
  /** The clock of this machine: for what people see, and for expiries of cookies. Dupefilters forget by the clock of the crawl. */
  wallMs = 0;
  /** The clock has advanced so much since the last transaction that it was set forward, or that all processes stood still. */
  hasLeapt = false;
  /** When the crawl was changed last, by the clock of this machine, as it is stored; 0 before. */
  usedAtMs = 0;
  readonly spaces: Spaces;
  #crawl: StoredRow<CrawlRow> | null;
  #tally: StoredRow<TallyRow> | null;

  constructor(sql: Statements, keys: FrontierKeys) {
    this.sql = sql;
    this.spaces = new Spaces(sql, keys);
    if (this.space === 0 && sql.get`SELECT 1 FROM crawl WHERE name = ${keys.requests}` !== undefined)
      throw new ContradictingRows('a crawl is there without the name of its key');
    this.#crawl = storedRow(readCrawl(sql, this.space));
    this.#tally = storedRow(sql.get<TallyRow>`SELECT * FROM tally WHERE space = ${this.space}`);
    this.begin();
  }

  /** Begin a transaction; what was read before still holds. */
  begin(): void {
    this.wallMs = Date.now();
    this.nowMs = this.wallMs;
    if (this.#tally !== null) {
      const { row } = this.#tally;
      this.usedAtMs = row.clock_at - row.clock_ahead;
      const now = crawlClock({ lastMs: row.clock_at, aheadMs: row.clock_ahead }, this.wallMs);
      this.nowMs = now.atMs;
      this.hasLeapt = row.clock_at > 0 && this.#isLeap(now.atMs - row.clock_at);
      if (now.isToStore) Object.assign(row, { clock_at: now.atMs, clock_ahead: now.aheadMs });
    }
    this.#noteWork();
  }

  /** Whether there is a crawl; one of another data format is none that could be read. */
  get hasCrawl(): boolean {
    return this.#crawl !== null;
  }

  /** What the nodes share, to be changed in place. @throws FrontierGoneError when there is no crawl. */
  get crawl(): CrawlRow {
    if (this.#crawl === null) throw gone();
    return this.#crawl.row;
  }

  /** The crawl's counters, to be changed in place. @throws FrontierGoneError when there is no crawl. */
  get tally(): TallyRow {
    if (this.#tally === null)
      throw this.hasCrawl ? new ContradictingRows('the counters of a crawl are gone') : gone();
    return this.#tally.row;
  }

  /** The id of the crawl's space, which its rows bear; 0 when nothing is kept. */
  get space(): number {
    return this.spaces.crawl.id;
  }

  /** The data format the crawl is kept in; null where there is none. */
  get format(): number | null {
    return this.#crawl?.row.format ?? null;
  }

  /** Begin the counters at 0 where their row is gone. */
  replaceLostTally(): void {
    if (this.#crawl !== null) this.#tally ??= new StoredRow(newTally(this.space, this.nowMs), true);
  }

  /**
   * Make the crawl if there is none yet; one that has no request yet takes the shape of whoever comes.
   * @param isRepair the requests of a crawl whose own row is gone get a new one. Any other verb is refused: the counters would
   *   begin at 0, so the crawl would be over too early.
   */
  create(shape: FirstShape, isRepair = false): void {
    if (this.#crawl === null) {
      if (!isRepair && this.sql.get`SELECT 1 FROM request WHERE space = ${this.space}` !== undefined)
        throw new ContradictingRows('requests are there without the row of their crawl');
      const { name } = this.spaces.crawl;
      const space = this.spaces.crawl.need();
      this.spaces.list();
      writeNewCrawl(this.sql, { id: space, name }, shape, this.nowMs);
      this.#crawl = storedRow(readCrawl(this.sql, space));
      this.#tally = new StoredRow(newTally(space, this.nowMs), true);
      return;
    }
    const { crawl } = this;
    const { dupefilter } = shape;
    if (this.tally.accepted === 0 && crawl.shape === null && crawl.format === dataFormats.embedded) {
      crawl.queue_class = shape.queueClass;
      crawl.dupefilter = dupefilter;
    } else if (crawl.dupefilter === null && dupefilter !== null) {
      crawl.dupefilter = dupefilter;
      if (crawl.shape !== null) crawl.shape = { ...crawl.shape, dupefilter };
    }
  }

  /** Forget the crawl and all that lies in its space: a small step, after which `sweepSome` deletes the rows. */
  destroy(): void {
    this.sql.run`DELETE FROM crawl WHERE space = ${this.space}`;
    this.sql.run`DELETE FROM tally WHERE space = ${this.space}`;
    this.spaces.crawl.clear();
    this.#crawl = null;
    this.#tally = null;
  }

  /** A strictly increasing number in µs: a request's place among its equals. */
  takeArrival(): number {
    this.tally.last_arrival = Math.max(this.tally.last_arrival + 1, this.nowMs * 1000);
    return this.tally.last_arrival;
  }

  /** Write back what was changed. */
  finish(): void {
    this.#noteWork();
    this.#crawl?.write(this.sql, 'crawl', ['space']);
    this.#tally?.write(this.sql, 'tally', ['space']);
    this.spaces.finish();
  }

  #isLeap(stepMs: number): boolean {
    return stepMs > CLOCK_LEAP_MS && this.#crawl !== null && stepMs > this.crawl.tunables.nodeTimeoutMs / 2;
  }

  #noteWork(): void {
    if (this.#tally !== null && openWork(this.tally) > 0) this.tally.busy_at = this.nowMs;
  }
}

function storedRow<Row extends object>(row: Row | undefined): StoredRow<Row> | null {
  return row === undefined ? null : new StoredRow(row);
}

function gone(): FrontierGoneError {
  return new FrontierGoneError(
    'the records of this crawl are gone from its folder: somebody reset it or deleted the folder under a live node',
  );
}
