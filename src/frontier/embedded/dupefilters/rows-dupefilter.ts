/** Dupefilters whose table has one row for each fingerprint. */
import type { Value } from '../../../disk/sqlite.js';
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import { bufferOf, Dupefilter, type LifeChange } from './dupefilter.js';

abstract class RowDupefilter<C extends Choice = Choice> extends Dupefilter<C> {
  protected abstract readonly table: string;
  /** Bytes of a row with its indexes and the free part of their pages, as measured. */
  protected abstract readonly rowBytes: number;
  /** The column that holds the fingerprint, or what stands for it. */
  protected readonly key: string = 'id';

  protected keyOf(fingerprint: Uint8Array): Value {
    return fingerprint;
  }

  has(fingerprint: Uint8Array): boolean {
    const found = this.#of(`SELECT 1 FROM ${this.table} WHERE space = ? AND ${this.key} = ?`);
    return found.get(this.space, this.keyOf(fingerprint)) !== undefined;
  }

  record(fingerprint: Uint8Array, isSeen: boolean): void {
    if (isSeen) return;
    this.#of(`INSERT INTO ${this.table} (space, ${this.key}) VALUES (?, ?)`).run(
      this.space,
      this.keyOf(fingerprint),
    );
    this.count += 1;
  }

  forget(fingerprint: Uint8Array): boolean {
    const deletion = this.#of(`DELETE FROM ${this.table} WHERE space = ? AND ${this.key} = ?`);
    const deleted = Number(deletion.run(this.space, this.keyOf(fingerprint)).changes);
    this.count -= deleted;
    return deleted > 0;
  }

  bytes(): number {
    return this.count * this.rowBytes;
  }

  recount(): number {
    return (
      this.#of(`SELECT count(*) AS n FROM ${this.table} WHERE space = ?`).get(this.space) as { n: number }
    ).n;
  }

  #of(text: string) {
    return this.crawl.sql.of(text);
  }
}

/** RFPDupeFilter: each fingerprint as it is, exact. */
export class RfpDupefilter extends RowDupefilter {
  protected readonly table = 'seen';
  protected readonly rowBytes = 31;
}

/**
 * CompactDupeFilter: the first 64 bits of each fingerprint, signed as SQLite's integers are. Two URLs are confused when
 * those bits agree: among n URLs a new one is wrongly taken for seen with probability n / 2⁶⁴ (5·10⁻¹³ at 10⁷). This holds
 * for SHA-1; a spider with fingerprints of its own must make their first 64 bits differ.
 */
export class CompactDupefilter extends RowDupefilter {
  protected readonly table = 'seen_compact';
  protected readonly rowBytes = 18;
  protected override readonly key = 'hash';

  protected override keyOf(fingerprint: Uint8Array): bigint {
    return bufferOf(fingerprint).readBigInt64BE(0);
  }
}

/** StateDupeFilter: each fingerprint with the last thing that happened to its request, exact. */
export class StateDupefilter extends RowDupefilter {
  protected readonly table = 'seen_state';
  protected readonly rowBytes = 51;

  override record(fingerprint: Uint8Array, isSeen: boolean): void {
    const { sql, nowMs } = this.crawl;
    sql.run`REPLACE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${this.space}, ${fingerprint}, 'pending', ${nowMs}, NULL, 0)`;
    if (!isSeen) this.count += 1;
  }

  /** A fingerprint that was forgotten meanwhile stays so. */
  override onLife(fingerprint: Uint8Array, { state, status, attempts }: LifeChange): void {
    const { sql, nowMs } = this.crawl;
    if (status === undefined || attempts === undefined) {
      sql.run`UPDATE seen_state SET state = ${state}, at = ${nowMs} WHERE space = ${this.space} AND id = ${fingerprint}`;
    } else {
      sql.run`UPDATE seen_state SET state = ${state}, at = ${nowMs}, status = ${status}, attempts = ${attempts}
        WHERE space = ${this.space} AND id = ${fingerprint}`;
    }
  }

  override life(fingerprint: Uint8Array): RequestLife | null {
    const life = this.crawl.sql.get<RequestLife>`
      SELECT state, at AS atMs, status, attempts FROM seen_state WHERE space = ${this.space} AND id = ${fingerprint}`;
    return life ?? null;
  }
}

/** Small corrections of the system clock are no reason to change anything. */
const CLOCK_SLACK_MS = 1_000;

/** Expired fingerprints counted at most; a node deletes them every few seconds. */
const MOST_DUE = 10_000;

/** TimedRFPDupeFilter: each fingerprint with the instant at which it is forgotten. */
export class TimedDupefilter extends RowDupefilter<Extract<Choice, { class: 'TimedRFPDupeFilter' }>> {
  protected readonly table = 'seen_timed';
  protected readonly rowBytes = 77;

  override has(fingerprint: Uint8Array): boolean {
    const { sql, nowMs } = this.crawl;
    const row = sql.get`SELECT 1 FROM seen_timed
      WHERE space = ${this.space} AND id = ${fingerprint} AND (until = 0 OR until > ${nowMs})`;
    return row !== undefined;
  }

  /** A fingerprint that is accepted again is renewed. One that has expired may still be in the table. */
  override record(fingerprint: Uint8Array): void {
    const { sql, nowMs } = this.crawl;
    const { expireMs } = this.choice;
    super.forget(fingerprint);
    sql.run`INSERT INTO seen_timed (space, id, until) VALUES (${this.space}, ${fingerprint}, ${expireMs === 0 ? 0 : nowMs + expireMs})`;
    this.count += 1;
  }

  /** @returns false for one that has expired, although it may still be in the table. */
  override forget(fingerprint: Uint8Array): boolean {
    const isSeen = this.has(fingerprint);
    super.forget(fingerprint);
    return isSeen;
  }

  override due(): number {
    const { sql, nowMs } = this.crawl;
    return sql.get<{ n: number }>`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM seen_timed WHERE space = ${this.space} AND until > 0 AND until <= ${nowMs} LIMIT ${MOST_DUE})`!
      .n;
  }

  override tidy(max: number): boolean {
    const { sql, nowMs } = this.crawl;
    const forgotten = sql.run`
      DELETE FROM seen_timed WHERE space = ${this.space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${this.space} AND until > 0 AND until <= ${nowMs} LIMIT ${max})`;
    this.count -= forgotten;
    // The clock was set back: no instant may be further ahead than that of a fingerprint recorded now.
    const furthestMs = nowMs + this.choice.expireMs;
    const moved = sql.run`
      UPDATE seen_timed SET until = ${furthestMs} WHERE space = ${this.space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${this.space} AND until > ${furthestMs + CLOCK_SLACK_MS} LIMIT ${max})`;
    return forgotten + moved < max;
  }
}
