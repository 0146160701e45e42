/** Dupefilters whose table has one row for each fingerprint. RFP and Compact need nothing else. */
import type { Value } from '../../../disk/sqlite.js';
import { bufferOf, type Dupefilter, type DupefilterContext } from './dupefilter.js';

/** The table of a class. */
export interface RowTable {
  readonly table: string;
  /** The column that holds the fingerprint, or what stands for it. */
  readonly key: string;
  /** Bytes of a row with its indexes and the free part of their pages, as measured. */
  readonly rowBytes: number;
  keyOf?(fingerprint: Uint8Array): Value;
}

/** RFPDupeFilter: each fingerprint as it is, exact. */
export const rfpTable: RowTable = { table: 'seen', key: 'id', rowBytes: 31 };

/**
 * CompactDupeFilter: the first 64 bits of each fingerprint, signed as SQLite's integers are. Two URLs are confused when
 * those bits agree: among n URLs a new one is wrongly taken for seen with probability n / 2⁶⁴ (5·10⁻¹³ at 10⁷). This holds
 * for SHA-1; a spider with fingerprints of its own must make their first 64 bits differ.
 */
export const compactTable: RowTable = {
  table: 'seen_compact',
  key: 'hash',
  rowBytes: 18,
  keyOf: (fingerprint) => bufferOf(fingerprint).readBigInt64BE(0),
};

export class RowDupefilter implements Dupefilter {
  protected readonly context: DupefilterContext;
  readonly #table: RowTable;
  readonly #where: string;

  constructor(context: DupefilterContext, table: RowTable) {
    this.context = context;
    this.#table = table;
    this.#where = `FROM ${table.table} WHERE space = ? AND ${table.key} = ?`;
  }

  has(fingerprint: Uint8Array): boolean {
    return this.#of(`SELECT 1 ${this.#where}`).get(...this.#keyOf(fingerprint)) !== undefined;
  }

  record(fingerprint: Uint8Array, isSeen: boolean): void {
    if (isSeen) return;
    const { table, key } = this.#table;
    this.#of(`INSERT INTO ${table} (space, ${key}) VALUES (?, ?)`).run(...this.#keyOf(fingerprint));
    this.context.count += 1;
  }

  forget(fingerprint: Uint8Array): boolean {
    const { changes } = this.#of(`DELETE ${this.#where}`).run(...this.#keyOf(fingerprint));
    this.context.count -= Number(changes);
    return Number(changes) > 0;
  }

  bytes(): number {
    return this.context.count * this.#table.rowBytes;
  }

  recount(): number {
    const row = this.#of(`SELECT count(*) AS n FROM ${this.#table.table} WHERE space = ?`);
    return (row.get(this.context.space) as { n: number }).n;
  }

  #of(text: string) {
    return this.context.sql.of(text);
  }

  #keyOf(fingerprint: Uint8Array): readonly Value[] {
    return [this.context.space, this.#table.keyOf?.(fingerprint) ?? fingerprint];
  }
}
