/** The dupefilter of a crawl, whichever class it is: its row is read once, and written once a transaction. */
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import { dupefilterText } from '../../shape.js';
import { agreedDupefilter } from '../crawl/crawl-row.js';
import type { OpenCrawl } from '../crawl/open-crawl.js';
import { BloomDupefilter } from './bloom.js';
import type { Dupefilter, Ground, LifeChange } from './dupefilter.js';
import { compactTable, RowDupefilter, rfpTable } from './rows-dupefilter.js';
import { StateDupefilter } from './state.js';
import { TimedDupefilter } from './timed.js';

/** Fingerprints looked after by one step of tidying, and with each transaction that records some. */
const TIDY_STEP = 5_000;
const TIDY_WHILE_RECORDING = 200;

/** A dupefilter that holds something, or held it. */
export interface OpenDupefilter {
  readonly ground: Ground;
  readonly filter: Dupefilter;
}

export class Seen {
  readonly #crawl: OpenCrawl;
  #open: OpenDupefilter | null | undefined;
  /** The count as it stands in the file; -1 where it does not. */
  #writtenCount = -1;
  #hasRecorded = false;

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** How many fingerprints count as seen. */
  count(): number {
    const open = this.open();
    return open === null ? 0 : open.ground.count - (open.filter.due?.() ?? 0);
  }

  /** What the dupefilter takes in the file. */
  bytes(): number {
    const open = this.open();
    return open === null || open.ground.count === 0 ? 0 : Math.round(open.filter.bytes());
  }

  has(fingerprint: Uint8Array): boolean {
    return this.open()?.filter.has(fingerprint) ?? false;
  }

  /** Record the fingerprint of a request that is being accepted. `isSeen` is what `has` said. */
  record(fingerprint: Uint8Array, isSeen: boolean): void {
    this.begin().filter.record(fingerprint, isSeen);
    this.#hasRecorded = true;
  }

  /** Remove a fingerprint. @returns whether it was there. */
  forget(fingerprint: Uint8Array): boolean {
    return this.open()?.filter.forget(fingerprint) ?? false;
  }

  /** The request of a fingerprint moved on. */
  onLife(fingerprint: Uint8Array, change: LifeChange): void {
    this.open()?.filter.onLife?.(fingerprint, change);
  }

  /** What is known of the life of a fingerprint's request. */
  life(fingerprint: Uint8Array): RequestLife | null {
    return this.open()?.filter.life?.(fingerprint) ?? null;
  }

  /** Class and parameters of what is there; null when nothing is. */
  choice(): Choice | null {
    return this.open()?.ground.choice ?? null;
  }

  /** What a live node writes into after it was emptied is of the class that the nodes have, and no other may follow. */
  agree(): void {
    const { crawl } = this.#crawl;
    if (crawl.dupefilter !== null) return;
    const agreed = agreedDupefilter(crawl);
    if (agreed !== null) crawl.dupefilter = dupefilterText(agreed);
  }

  /** Forget all, in one small step. */
  clear(): void {
    this.#crawl.spaces.dupefilter.clear();
    this.#open = null;
    this.#writtenCount = -1;
  }

  /** Look after some of what has come due. @returns whether that was all. */
  tidy(max = TIDY_STEP): boolean {
    return this.open()?.filter.tidy?.(max) ?? true;
  }

  /** Write the count if it has changed. */
  finish(): void {
    if (this.#open === null || this.#open === undefined) return;
    if (this.#hasRecorded) this.tidy(TIDY_WHILE_RECORDING);
    this.#hasRecorded = false;
    const { space, choice, count } = this.#open.ground;
    if (count === this.#writtenCount) return;
    this.#crawl.sql
      .run`REPLACE INTO dupefilter (space, choice, count) VALUES (${space}, ${dupefilterText(choice)}, ${count})`;
    this.#writtenCount = count;
  }

  /** What is recorded, and its class; null when nothing is. */
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

  /** What is recorded; it begins with the class that the crawl has agreed on where nothing is. */
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
    const ground: Ground = { sql: crawl.sql, space, choice, count, now: () => crawl.nowMs };
    return { ground, filter: dupefilterOf(ground, choice) };
  }
}

function dupefilterOf(ground: Ground, choice: Choice): Dupefilter {
  switch (choice.class) {
    case 'RFPDupeFilter':
      return new RowDupefilter(ground, rfpTable);
    case 'TimedRFPDupeFilter':
      return new TimedDupefilter(ground, choice.expireMs);
    case 'StateDupeFilter':
      return new StateDupefilter(ground);
    case 'BloomDupeFilter':
      return new BloomDupefilter(ground, choice);
    case 'CompactDupeFilter':
      return new RowDupefilter(ground, compactTable);
  }
}
