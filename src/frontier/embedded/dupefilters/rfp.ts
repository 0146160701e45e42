/** RFPDupeFilter: each fingerprint as it is, exact. */
import type { Dupefilter, Ground } from './dupefilter.js';

/** A row of 27 bytes, and the free part of its page (measured). */
const ROW_BYTES = 31;

export class RfpDupefilter implements Dupefilter {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  has(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    return sql.get`SELECT 1 FROM seen WHERE space = ${space} AND id = ${fingerprint}` !== undefined;
  }

  record(fingerprint: Uint8Array, isSeen: boolean): void {
    if (isSeen) return;
    const { sql, space } = this.#ground;
    sql.run`INSERT INTO seen (space, id) VALUES (${space}, ${fingerprint})`;
    this.#ground.count += 1;
  }

  forget(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    const forgotten = sql.run`DELETE FROM seen WHERE space = ${space} AND id = ${fingerprint}`;
    this.#ground.count -= forgotten;
    return forgotten > 0;
  }

  bytes(): number {
    return this.#ground.count * ROW_BYTES;
  }

  recount(): number {
    const { sql, space } = this.#ground;
    return sql.get<{ n: number }>`SELECT count(*) AS n FROM seen WHERE space = ${space}`!.n;
  }
}
