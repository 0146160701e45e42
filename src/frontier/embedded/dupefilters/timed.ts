/** TimedRFPDupeFilter: each fingerprint with the instant at which it is forgotten. */
import type { Dupefilter, Ground } from './dupefilter.js';

/** A row of 34 bytes and its entry in the index by time, and the free part of their pages (measured). */
const ROW_BYTES = 77;

/** Clocks are set back by a little all the time. */
const CLOCK_SLACK_MS = 1_000;

/** Fingerprints counted at most that are due; a node deletes them every few seconds. */
const MOST_DUE = 10_000;

export class TimedDupefilter implements Dupefilter {
  readonly #ground: Ground;
  /** 0 is never. */
  readonly #expireMs: number;

  constructor(ground: Ground, expireMs: number) {
    this.#ground = ground;
    this.#expireMs = expireMs;
  }

  has(fingerprint: Uint8Array): boolean {
    const { sql, space, now } = this.#ground;
    const nowMs = now();
    const row = sql.get<{
      until: number;
    }>`SELECT until FROM seen_timed WHERE space = ${space} AND id = ${fingerprint}`;
    return row !== undefined && (row.until === 0 || row.until > nowMs);
  }

  /** Accepted again is renewed; a fingerprint whose time has come may still be there. */
  record(fingerprint: Uint8Array): void {
    const { sql, space, now } = this.#ground;
    const nowMs = now();
    const until = this.#expireMs === 0 ? 0 : nowMs + this.#expireMs;
    if (sql.run`UPDATE seen_timed SET until = ${until} WHERE space = ${space} AND id = ${fingerprint}` > 0)
      return;
    sql.run`INSERT INTO seen_timed (space, id, until) VALUES (${space}, ${fingerprint}, ${until})`;
    this.#ground.count += 1;
  }

  /** What has passed its time is not there any more, deleted or not. */
  forget(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    const isSeen = this.has(fingerprint);
    this.#ground.count -= sql.run`DELETE FROM seen_timed WHERE space = ${space} AND id = ${fingerprint}`;
    return isSeen;
  }

  bytes(): number {
    return this.#ground.count * ROW_BYTES;
  }

  recount(): number {
    const { sql, space } = this.#ground;
    return sql.get<{ n: number }>`SELECT count(*) AS n FROM seen_timed WHERE space = ${space}`!.n;
  }

  due(): number {
    const { sql, space, now } = this.#ground;
    const nowMs = now();
    return sql.get<{ n: number }>`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM seen_timed WHERE space = ${space} AND until > 0 AND until <= ${nowMs} LIMIT ${MOST_DUE})`!
      .n;
  }

  tidy(max: number): boolean {
    const { sql, space, now } = this.#ground;
    const nowMs = now();
    const forgotten = sql.run`
      DELETE FROM seen_timed WHERE space = ${space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${space} AND until > 0 AND until <= ${nowMs} LIMIT ${max})`;
    this.#ground.count -= forgotten;
    // The clock was set back: what is further off than any instant could be now is due no later than if it were new.
    const furthestMs = nowMs + this.#expireMs;
    const moved = sql.run`
      UPDATE seen_timed SET until = ${furthestMs} WHERE space = ${space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${space} AND until > ${furthestMs + CLOCK_SLACK_MS} LIMIT ${max})`;
    return forgotten + moved < max;
  }
}
