/** Dupefilters whose table has one row for each fingerprint. */
import type { Value } from '../../../disk/sqlite.js';
import { type BackupEntry, hasExpired } from '../../backup/entry.js';
import { expiresAt } from '../../dupefilter-classes.js';
import type { RequestLife } from '../../frontier.js';
import {
  type BackedUp,
  type BackupQuery,
  type BackupRow,
  bufferOf,
  Dupefilter,
  type LifeChange,
} from './dupefilter.js';

abstract class RowDupefilter extends Dupefilter {
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

  isEmpty(): boolean {
    return this.#of(`SELECT 1 FROM ${this.table} WHERE space = ? LIMIT 1`).get(this.space) === undefined;
  }

  recount(): number {
    return (
      this.#of(`SELECT count(*) AS n FROM ${this.table} WHERE space = ?`).get(this.space) as { n: number }
    ).n;
  }

  get backupQuery(): BackupQuery {
    return rowsById(`lower(hex(id)) AS value FROM ${this.table}`);
  }

  toBackup(rows: readonly BackupRow[]): BackupEntry {
    return { kind: 'seen', values: rows.map(({ value }) => value) };
  }

  #of(text: string) {
    return this.crawl.sql.of(text);
  }
}

/** For a table with the key `id`. */
function rowsById(columns: string): BackupQuery {
  const query = `SELECT id AS key, ${columns} WHERE space = ? AND id > ? ORDER BY id LIMIT ?`;
  return { first: Buffer.alloc(0), query, rowChars: HEX_CHARS };
}

const HEX_CHARS = 40;

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

  /** The key is read as a text: a number of JavaScript would not hold its 64 bits. */
  override get backupQuery(): BackupQuery {
    return {
      first: '-1e19',
      query: `SELECT CAST(hash AS TEXT) AS key, printf('%016x', hash) AS value FROM seen_compact
        WHERE space = ? AND hash > ? ORDER BY hash LIMIT ?`,
      rowChars: HEX_CHARS,
    };
  }

  protected override keyOf(fingerprint: Uint8Array): bigint {
    return bufferOf(fingerprint).readBigInt64BE(0);
  }
}

/** StateDupeFilter: each fingerprint with the last thing that happened to its request, exact. */
export class StateDupefilter extends RowDupefilter {
  protected readonly table = 'seen_state';
  protected readonly rowBytes = 51;

  override record(fingerprint: Uint8Array, isSeen: boolean): void {
    const { sql, wallMs } = this.crawl;
    sql.run`REPLACE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${this.space}, ${fingerprint}, 'pending', ${wallMs}, NULL, 0)`;
    if (!isSeen) this.count += 1;
  }

  override get backupQuery(): BackupQuery {
    return rowsById(`lower(hex(id)) AS value,
      json_object('state', state, 'atMs', at, 'status', status, 'attempts', attempts) AS life FROM seen_state`);
  }

  override toBackup(rows: readonly BackupRow[]): BackupEntry {
    const lives = rows.map(({ life }) => JSON.parse(life!) as RequestLife);
    return { kind: 'seen', values: rows.map(({ value }) => value), lives };
  }

  override fromBackup(fingerprint: Uint8Array, { life }: BackedUp): void {
    const { sql, wallMs } = this.crawl;
    // Another class has recorded no more than that the fingerprint was seen.
    const done: RequestLife = { state: 'done', atMs: wallMs, status: null, attempts: 0 };
    const { state, atMs, status, attempts } = life ?? done;
    this.count += sql.run`INSERT OR IGNORE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${this.space}, ${fingerprint}, ${state}, ${atMs}, ${status}, ${attempts})`;
  }

  /** A fingerprint that was forgotten meanwhile stays so. */
  override onLife(fingerprint: Uint8Array, { state, status, attempts }: LifeChange): void {
    const { sql, wallMs } = this.crawl;
    if (status === undefined || attempts === undefined) {
      sql.run`UPDATE seen_state SET state = ${state}, at = ${wallMs} WHERE space = ${this.space} AND id = ${fingerprint}`;
    } else {
      sql.run`UPDATE seen_state SET state = ${state}, at = ${wallMs}, status = ${status}, attempts = ${attempts}
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

/** Each fingerprint with the instant at which it is forgotten (`expiresAt` of its class). */
export class TimedDupefilter extends RowDupefilter {
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
    const until = expiresAt(this.choice, nowMs) ?? 0;
    super.forget(fingerprint);
    sql.run`INSERT INTO seen_timed (space, id, until) VALUES (${this.space}, ${fingerprint}, ${until})`;
    this.count += 1;
  }

  /** @returns false for one that has expired, although it may still be in the table. */
  override forget(fingerprint: Uint8Array): boolean {
    const isSeen = this.has(fingerprint);
    super.forget(fingerprint);
    return isSeen;
  }

  override get backupQuery(): BackupQuery {
    return rowsById('lower(hex(id)) AS value, nullif(until, 0) AS untilMs FROM seen_timed');
  }

  override toBackup(rows: readonly BackupRow[]): BackupEntry {
    const untilMs = rows.map((row) => row.untilMs ?? null);
    return { kind: 'seen', values: rows.map(({ value }) => value), untilMs };
  }

  override hasExpired({ untilMs }: BackupRow): boolean {
    return hasExpired(untilMs, this.crawl.nowMs);
  }

  /**
   * Of two instants the later one stays. None is later than that of a fingerprint recorded now, since the backup may be of
   * a class or of settings that remember for longer.
   */
  override fromBackup(fingerprint: Uint8Array, of: BackedUp): void {
    const { sql, nowMs } = this.crawl;
    const latestMs = expiresAt(this.choice, nowMs);
    if (latestMs === null) {
      super.fromBackup(fingerprint, of);
      return;
    }
    const untilMs = Math.min(of.untilMs ?? latestMs, latestMs);
    const isNew = sql.run`INSERT OR IGNORE INTO seen_timed (space, id, until) VALUES (${this.space}, ${fingerprint}, ${untilMs})`;
    if (isNew === 0) {
      sql.run`UPDATE seen_timed SET until = max(until, ${untilMs}) WHERE space = ${this.space} AND id = ${fingerprint} AND until > 0`;
    }
    this.count += isNew;
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
    const furthestMs = expiresAt(this.choice, nowMs);
    if (furthestMs === null) return forgotten < max;
    const moved = sql.run`
      UPDATE seen_timed SET until = ${furthestMs} WHERE space = ${this.space} AND id IN (
        SELECT id FROM seen_timed WHERE space = ${this.space} AND until > ${furthestMs + CLOCK_SLACK_MS} LIMIT ${max})`;
    return forgotten + moved < max;
  }
}
