/** RFPDupeFilter: an entry for each fingerprint as it is, exact. Classes that keep something beside it extend this. */
import type { Desk, Dupefilter, SeenValue } from './dupefilter.js';
import { entryBytes, HEAD_BYTES, ID_BYTES, keyOf, nothing, Table } from './keys.js';

export class RfpDupefilter implements Dupefilter {
  protected readonly desk: Desk;
  /** Size of the value beside each fingerprint. */
  protected readonly valueBytes: number = 0;

  constructor(desk: Desk) {
    this.desk = desk;
  }

  seenUntilMs(fingerprint: Buffer): number {
    return this.has(fingerprint) ? Number.POSITIVE_INFINITY : 0;
  }

  record(fingerprint: Buffer, isSeen: boolean): number {
    if (!isSeen) {
      this.put(fingerprint, nothing);
      this.desk.ledger.count += 1;
    }
    return Number.POSITIVE_INFINITY;
  }

  forget(fingerprint: Buffer): boolean {
    if (!this.has(fingerprint)) return false;
    this.drop(fingerprint);
    return true;
  }

  bytes(): number {
    return this.desk.ledger.count * entryBytes(HEAD_BYTES + ID_BYTES, this.valueBytes);
  }

  examine(): { count: number; breaches: string[] } {
    return { count: this.desk.tables.countEntries(Table.seen, this.desk.ledger.space), breaches: [] };
  }

  backUp(place: Buffer, _value: Buffer): SeenValue[] {
    return [{ fingerprint: place.toString('hex') }];
  }

  bringBack(fingerprint: Buffer, _value: SeenValue): void {
    this.record(fingerprint, this.has(fingerprint));
  }

  protected has(fingerprint: Buffer): boolean {
    return this.desk.tables.has(this.#key(fingerprint));
  }

  protected get(fingerprint: Buffer): Buffer | undefined {
    return this.desk.tables.get(this.#key(fingerprint));
  }

  protected put(fingerprint: Buffer, value: Buffer): void {
    this.desk.tables.put(this.#key(fingerprint), value, 0);
  }

  /** Delete an entry that is there. */
  protected drop(fingerprint: Buffer): void {
    this.desk.tables.delete(this.#key(fingerprint), 0);
    this.desk.ledger.count -= 1;
  }

  #key(fingerprint: Buffer): Buffer {
    return keyOf(Table.seen, this.desk.ledger.space, fingerprint);
  }
}
