/** StateDupeFilter: each fingerprint with the last thing that happened to its request, exact. */
import type { RequestLife } from '../../frontier.js';
import type { Dupefilter, Ground } from './dupefilter.js';
import type { LifeChange } from './life.js';

/** A row of 46 bytes, and the free part of its page (measured). */
const ROW_BYTES = 51;

export class StateDupefilter implements Dupefilter {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  has(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    return sql.get`SELECT 1 FROM seen_state WHERE space = ${space} AND id = ${fingerprint}` !== undefined;
  }

  record(fingerprint: Uint8Array, isSeen: boolean): void {
    const { sql, space, now } = this.#ground;
    const nowMs = now();
    sql.run`REPLACE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${space}, ${fingerprint}, 'pending', ${nowMs}, NULL, 0)`;
    if (!isSeen) this.#ground.count += 1;
  }

  forget(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    const forgotten = sql.run`DELETE FROM seen_state WHERE space = ${space} AND id = ${fingerprint}`;
    this.#ground.count -= forgotten;
    return forgotten > 0;
  }

  bytes(): number {
    return this.#ground.count * ROW_BYTES;
  }

  recount(): number {
    const { sql, space } = this.#ground;
    return sql.get<{ n: number }>`SELECT count(*) AS n FROM seen_state WHERE space = ${space}`!.n;
  }

  /** A fingerprint that was forgotten meanwhile stays so. */
  onLife(fingerprint: Uint8Array, { state, status, attempts }: LifeChange): void {
    const { sql, space, now } = this.#ground;
    const nowMs = now();
    if (status === undefined || attempts === undefined) {
      sql.run`UPDATE seen_state SET state = ${state}, at = ${nowMs} WHERE space = ${space} AND id = ${fingerprint}`;
      return;
    }
    sql.run`UPDATE seen_state SET state = ${state}, at = ${nowMs}, status = ${status}, attempts = ${attempts}
      WHERE space = ${space} AND id = ${fingerprint}`;
  }

  life(fingerprint: Uint8Array): RequestLife | null {
    const { sql, space } = this.#ground;
    const row = sql.get<RequestLife>`
      SELECT state, at AS atMs, status, attempts FROM seen_state WHERE space = ${space} AND id = ${fingerprint}`;
    return row === undefined ? null : { ...row };
  }
}
