/** TimedRFPDupeFilter: each fingerprint with the instant at which it is forgotten. */
import type { DupefilterContext } from './dupefilter.js';
import { RowDupefilter } from './rows-dupefilter.js';

/** Small corrections of the system clock are no reason to change anything. */
const CLOCK_SLACK_MS = 1_000;

/** Expired fingerprints counted at most; a node deletes them every few seconds. */
const MOST_DUE = 10_000;

export class TimedDupefilter extends RowDupefilter {
  /** 0 is never. */
  readonly #expireMs: number;

  constructor(context: DupefilterContext, expireMs: number) {
    super(context, { table: 'seen_timed', key: 'id', rowBytes: 77 });
    this.#expireMs = expireMs;
  }

  override has(fingerprint: Uint8Array): boolean {
    const { sql, space, now } = this.context;
    const row = sql.get`SELECT 1 FROM seen_timed
      WHERE space = ${space} AND id = ${fingerprint} AND (until = 0 OR until > ${now()})`;
    return row !== undefined;
  }

  /** A fingerprint that is accepted again is renewed. One that has expired may still be in the table. */
  override record(fingerprint: Uint8Array): void {
    const { sql, space, now } = this.context;
    const until = this.#expireMs === 0 ? 0 : now() + this.#expireMs;
    if (sql.run`UPDATE seen_timed SET until = ${until} WHERE space = ${space} AND id = ${fingerprint}` > 0)
      return;
    sql.run`INSERT INTO seen_timed (space, id, until) VALUES (${space}, ${fingerprint}, ${until})`;
    this.context.count += 1;
  }

  /** @returns false for one that has expired, although it may still be in the table. */
  override forget(fingerprint: Uint8Array): boolean {
    const isSeen = this.has(fingerprint);
    super.forget(fingerprint);
    return isSeen;
  }

  due(): number {
    const { sql, space, now } = this.context;
    return sql.get<{ n: number }>`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM seen_timed WHERE space = ${space} AND until > 0 AND until <= ${now()} LIMIT ${MOST_DUE})`!
      .n;
  }

  tidy(max: number): boolean {
    const { sql, space, now } = this.context;
    const forgotten = sql.run`
      DELETE FROM seen_timed WHERE space = ${space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${space} AND until > 0 AND until <= ${now()} LIMIT ${max})`;
    this.context.count -= forgotten;
    // The clock was set back: no instant may be further ahead than that of a fingerprint recorded now.
    const furthestMs = now() + this.#expireMs;
    const moved = sql.run`
      UPDATE seen_timed SET until = ${furthestMs} WHERE space = ${space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${space} AND until > ${furthestMs + CLOCK_SLACK_MS} LIMIT ${max})`;
    return forgotten + moved < max;
  }
}
