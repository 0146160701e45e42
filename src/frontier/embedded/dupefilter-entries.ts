/** What the classes have in common that keep an entry with a value for each fingerprint, exact. */
import type { Desk, SeenValue } from './dupefilter.js';
import { entryBytes, HEAD_BYTES, ID_BYTES, keyOf, Table } from './keys.js';

export abstract class EntriesDupefilter {
  protected readonly desk: Desk;
  /** Size of the value beside each fingerprint. */
  protected abstract readonly valueBytes: number;

  constructor(desk: Desk) {
    this.desk = desk;
  }

  bytes(): number {
    return this.desk.ledger.count * entryBytes(HEAD_BYTES + ID_BYTES, this.valueBytes);
  }

  examine(): { count: number; breaches: string[] } {
    return { count: this.desk.tables.countEntries(Table.seen, this.desk.ledger.space), breaches: [] };
  }

  abstract backUp(place: Buffer, value: Buffer): SeenValue[];

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

export const bytesOf = (fingerprint: string): Buffer => Buffer.from(fingerprint, 'hex');
