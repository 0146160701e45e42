/**
 * CompactDupeFilter: the first 64 bits of each fingerprint. Two URLs are taken for one when those bits agree: among n URLs
 * a new one is wrongly taken for seen with probability n / 2⁶⁴, which is 5·10⁻¹³ at 10⁷, and any such mistake at all by the
 * time of n URLs has probability n² / 2⁶⁵: 3·10⁻⁶ at 10⁷. (That holds for SHA-1. A spider with fingerprints of its own sees
 * to it that their first 64 bits differ.)
 */
import { bufferOf, type Dupefilter, type Ground } from './dupefilter.js';

/** A row of 15 bytes, and the free part of its page (measured). */
const ROW_BYTES = 18;

export class CompactDupefilter implements Dupefilter {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  has(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    return (
      sql.get`SELECT 1 FROM seen_compact WHERE space = ${space} AND hash = ${hashOf(fingerprint)}` !==
      undefined
    );
  }

  record(fingerprint: Uint8Array, isSeen: boolean): void {
    if (isSeen) return;
    const { sql, space } = this.#ground;
    sql.run`INSERT INTO seen_compact (space, hash) VALUES (${space}, ${hashOf(fingerprint)})`;
    this.#ground.count += 1;
  }

  forget(fingerprint: Uint8Array): boolean {
    const { sql, space } = this.#ground;
    const forgotten = sql.run`DELETE FROM seen_compact WHERE space = ${space} AND hash = ${hashOf(fingerprint)}`;
    this.#ground.count -= forgotten;
    return forgotten > 0;
  }

  bytes(): number {
    return this.#ground.count * ROW_BYTES;
  }

  recount(): number {
    const { sql, space } = this.#ground;
    return sql.get<{ n: number }>`SELECT count(*) AS n FROM seen_compact WHERE space = ${space}`!.n;
  }
}

/** Signed, as SQLite's integers are: a number would be rounded, and an unsigned one is refused. */
const hashOf = (fingerprint: Uint8Array): bigint => bufferOf(fingerprint).readBigInt64BE(0);
