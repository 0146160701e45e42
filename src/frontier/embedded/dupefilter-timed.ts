/**
 * TimedRFPDupeFilter: each fingerprint with the instant at which it is forgotten. What one transaction records shares
 * an instant, so an index by time holds it in chunks, 26 bytes a fingerprint, and what has come due is found without a
 * search. A chunk is a hint: a fingerprint that was renewed or forgotten meanwhile has another instant, or none.
 */
import type { Desk, Dupefilter, SeenValue } from './dupefilter.js';
import { bytesOf, EntriesDupefilter } from './dupefilter-entries.js';
import { HEAD_BYTES, ID_BYTES, keyOf, numberedKey, readUint53, Table, writeUint53 } from './keys.js';

/**
 * Fingerprints of a chunk. Nine such chunks fit a page, and LMDB fills all but the last place of it when entries come
 * in order; of chunks of 80, which fit twice, it would leave half of each page empty.
 */
const CHUNK = 20;
const CHUNK_BYTES_EACH = 4096 / (8 * CHUNK);

/** Fingerprints looked after with each transaction that records some: more than most record. */
const TIDY_WHILE_RECORDING = 200;

/** Chunks read to tell how much is due: some 10,000 fingerprints, and a node has them deleted every few seconds. */
const DUE_CHUNKS = 500;

/** Clocks are set back by a little all the time. */
const CLOCK_SLACK_MS = 1_000;

export class TimedDupefilter extends EntriesDupefilter implements Dupefilter {
  protected override readonly valueBytes = 8;
  readonly #expireMs: number;
  readonly #fresh: Buffer[] = [];
  /** By the instant at which they are forgotten. */
  readonly #broughtBack = new Map<number, Buffer[]>();

  /** @param expireMs 0 is never. */
  constructor(desk: Desk, expireMs: number) {
    super(desk);
    this.#expireMs = expireMs;
  }

  seenUntilMs(fingerprint: string): number {
    const untilMs = this.#untilMs(bytesOf(fingerprint));
    if (untilMs === undefined) return 0;
    if (untilMs === 0) return Number.POSITIVE_INFINITY;
    // An instant further off than any could be now was written by a clock that has been set back since.
    return untilMs <= this.desk.nowMs ? 0 : Math.min(untilMs, this.desk.nowMs + this.#expireMs);
  }

  /** Accepted again is renewed; a fingerprint whose time has come may still be there. */
  record(digits: string, isSeen: boolean): void {
    const fingerprint = bytesOf(digits);
    if (!isSeen && !this.has(fingerprint)) this.desk.ledger.count += 1;
    const untilMs = this.#expireMs === 0 ? 0 : this.desk.nowMs + this.#expireMs;
    this.#expireAt(fingerprint, untilMs);
    if (untilMs > 0) this.#fresh.push(fingerprint);
  }

  /** What has passed its time is not there any more, deleted or not. */
  forget(digits: string): boolean {
    const isSeen = this.seenUntilMs(digits) > 0;
    const fingerprint = bytesOf(digits);
    if (this.has(fingerprint)) this.drop(fingerprint);
    return isSeen;
  }

  override bytes(): number {
    return super.bytes() + (this.#expireMs === 0 ? 0 : this.desk.ledger.count * CHUNK_BYTES_EACH);
  }

  due(): number {
    const { tables, ledger, nowMs } = this.desk;
    if (ledger.earliestMs === 0 || ledger.earliestMs > nowMs) return 0;
    let due = 0;
    for (const { key, value } of tables.entries(keyOf(Table.expiry, ledger.space), DUE_CHUNKS)) {
      const dueMs = instantOf(key);
      if (dueMs > nowMs) break;
      for (const fingerprint of fingerprintsOf(value)) if (this.#untilMs(fingerprint) === dueMs) due += 1;
    }
    return due;
  }

  finish(): void {
    for (const [untilMs, fingerprints] of this.#broughtBack) this.#index(fingerprints, untilMs);
    this.#broughtBack.clear();
    if (this.#fresh.length === 0) return;
    this.#index(this.#fresh.splice(0), this.desk.nowMs + this.#expireMs);
    this.tidy(TIDY_WHILE_RECORDING);
  }

  tidy(max: number): boolean {
    const { ledger, nowMs } = this.desk;
    let left = max;
    while (left > 0 && ledger.earliestMs !== 0 && ledger.earliestMs <= nowMs) left -= this.#expireFirst();
    const furthestMs = nowMs + this.#expireMs;
    while (left > 0 && ledger.latestMs > furthestMs + CLOCK_SLACK_MS) left -= this.#bringForward(furthestMs);
    return left > 0;
  }

  /** By time, so that what is forgotten together comes together; without an expiry there is no such index. */
  get backUpTable(): Table {
    return this.#expireMs === 0 ? Table.seen : Table.expiry;
  }

  override backUp(place: Buffer, value: Buffer): SeenValue[] {
    if (this.#expireMs === 0) return [{ fingerprint: place.toString('hex'), untilMs: null }];
    const untilMs = readUint53(place, 0);
    return fingerprintsOf(value)
      .filter((fingerprint) => this.#untilMs(fingerprint) === untilMs)
      .map((fingerprint) => ({ fingerprint: fingerprint.toString('hex'), untilMs }));
  }

  /** The later instant stays. What never was to be forgotten is from now on, where fingerprints are. */
  bringBack(digits: string, { untilMs }: SeenValue): void {
    const fingerprint = bytesOf(digits);
    const known = this.#untilMs(fingerprint);
    if (this.#expireMs === 0 || untilMs === undefined || untilMs === null) {
      if (known === undefined) this.record(digits, false);
      return;
    }
    if (untilMs <= Math.max(this.desk.nowMs, known ?? 0)) return;
    if (known === undefined) this.desk.ledger.count += 1;
    this.#expireAt(fingerprint, untilMs);
    const together = this.#broughtBack.get(untilMs) ?? [];
    together.push(fingerprint);
    this.#broughtBack.set(untilMs, together);
  }

  override examine(): { count: number; breaches: string[] } {
    const { tables, ledger } = this.desk;
    let indexed = 0;
    for (const { key, value } of tables.scan(Table.expiry, ledger.space)) {
      for (const fingerprint of fingerprintsOf(value)) {
        if (this.#untilMs(fingerprint) === instantOf(key)) indexed += 1;
      }
    }
    const { count } = super.examine();
    const isWhole = this.#expireMs === 0 || indexed >= count;
    return {
      count,
      breaches: isWhole ? [] : [`I2: ${count - indexed} fingerprints would never be forgotten`],
    };
  }

  /** Forget what a first chunk names and is still due. @returns how many it named. */
  #expireFirst(): number {
    const { tables, ledger } = this.desk;
    const prefix = keyOf(Table.expiry, ledger.space);
    const [chunk, next] = tables.entries(prefix, 2);
    ledger.earliestMs = next === undefined ? 0 : instantOf(next.key);
    if (chunk === undefined) return 0;
    const dueMs = instantOf(chunk.key);
    const fingerprints = fingerprintsOf(chunk.value);
    for (const fingerprint of fingerprints) {
      if (this.#untilMs(fingerprint) === dueMs) this.drop(fingerprint);
    }
    tables.delete(chunk.key, 0);
    if (next === undefined) ledger.latestMs = 0;
    return fingerprints.length;
  }

  /** The clock was set back: what a last chunk names is due no later than if it were recorded now. */
  #bringForward(furthestMs: number): number {
    const { tables, ledger } = this.desk;
    const prefix = keyOf(Table.expiry, ledger.space);
    const [last, before] = tables.lastKeys(prefix, 2);
    ledger.latestMs = before === undefined ? 0 : instantOf(before);
    if (last === undefined) return 0;
    const value = tables.get(last);
    const fingerprints = value === undefined ? [] : fingerprintsOf(value);
    const moved = fingerprints.filter((fingerprint) => this.#untilMs(fingerprint) === instantOf(last));
    tables.delete(last, 0);
    for (const fingerprint of moved) this.#expireAt(fingerprint, furthestMs);
    this.#index(moved, furthestMs);
    return fingerprints.length;
  }

  #index(fingerprints: readonly Buffer[], untilMs: number): void {
    const { tables, ledger } = this.desk;
    for (let at = 0; at < fingerprints.length; at += CHUNK) {
      ledger.parts += 1;
      const number = Buffer.allocUnsafe(8);
      writeUint53(number, ledger.parts, 0);
      const chunk = Buffer.concat(fingerprints.slice(at, at + CHUNK));
      tables.put(numberedKey(Table.expiry, ledger.space, untilMs, number), chunk, 0);
    }
    if (fingerprints.length === 0) return;
    ledger.earliestMs = ledger.earliestMs === 0 ? untilMs : Math.min(ledger.earliestMs, untilMs);
    ledger.latestMs = Math.max(ledger.latestMs, untilMs);
  }

  #expireAt(fingerprint: Buffer, untilMs: number): void {
    const value = Buffer.allocUnsafe(8);
    writeUint53(value, untilMs, 0);
    this.put(fingerprint, value);
  }

  /** 0 for one that stays; undefined for one that is not there. */
  #untilMs(fingerprint: Buffer): number | undefined {
    const value = this.get(fingerprint);
    return value === undefined ? undefined : readUint53(value, 0);
  }
}

const instantOf = (key: Buffer): number => readUint53(key, HEAD_BYTES);

function fingerprintsOf(chunk: Buffer): Buffer[] {
  const fingerprints: Buffer[] = [];
  for (let at = 0; at < chunk.length; at += ID_BYTES) fingerprints.push(chunk.subarray(at, at + ID_BYTES));
  return fingerprints;
}
