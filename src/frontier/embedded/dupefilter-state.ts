/** StateDupeFilter: each fingerprint with the last thing that happened to its request, exact. */
import type { RequestLife } from '../frontier.js';
import type { Dupefilter, LifeChange, SeenValue } from './dupefilter.js';
import { bytesOf, EntriesDupefilter } from './dupefilter-entries.js';
import { readUint53, writeUint53 } from './keys.js';

const states: readonly RequestLife['state'][] = ['pending', 'leased', 'delayed', 'done', 'failed'];

/** State (1), HTTP status (2, 0 for none), attempts (4), when (8). */
const LIFE_BYTES = 15;

export class StateDupefilter extends EntriesDupefilter implements Dupefilter {
  protected override readonly valueBytes = LIFE_BYTES;

  seenUntilMs(fingerprint: string): number {
    return this.has(bytesOf(fingerprint)) ? Number.POSITIVE_INFINITY : 0;
  }

  record(fingerprint: string, isSeen: boolean): void {
    this.#write(bytesOf(fingerprint), {
      state: 'pending',
      atMs: this.desk.nowMs,
      status: null,
      attempts: 0,
    });
    if (!isSeen) this.desk.ledger.count += 1;
  }

  forget(digits: string): boolean {
    const fingerprint = bytesOf(digits);
    if (!this.has(fingerprint)) return false;
    this.drop(fingerprint);
    return true;
  }

  /** A fingerprint that was forgotten meanwhile stays so. */
  onLife(fingerprint: string, change: LifeChange): void {
    const before = this.life(fingerprint);
    if (before !== null) this.#write(bytesOf(fingerprint), { ...before, ...change, atMs: this.desk.nowMs });
  }

  life(fingerprint: string): RequestLife | null {
    const value = this.get(bytesOf(fingerprint));
    return value === undefined ? null : lifeOf(value);
  }

  override backUp(place: Buffer, value: Buffer): SeenValue[] {
    return [{ fingerprint: place.toString('hex'), life: lifeOf(value) }];
  }

  /** Of what another class has seen only so much is known: that it was met. */
  bringBack(digits: string, { life }: SeenValue): void {
    const fingerprint = bytesOf(digits);
    if (this.has(fingerprint)) return;
    this.#write(fingerprint, life ?? { state: 'done', atMs: this.desk.nowMs, status: null, attempts: 0 });
    this.desk.ledger.count += 1;
  }

  #write(fingerprint: Buffer, { state, status, attempts, atMs }: RequestLife): void {
    const value = Buffer.allocUnsafe(LIFE_BYTES);
    value[0] = states.indexOf(state);
    value.writeUInt16LE(status ?? 0, 1);
    value.writeUInt32LE(attempts, 3);
    writeUint53(value, atMs, 7);
    this.put(fingerprint, value);
  }
}

function lifeOf(value: Buffer): RequestLife {
  return {
    state: states[value[0] ?? 0] ?? 'pending',
    status: value.readUInt16LE(1) || null,
    attempts: value.readUInt32LE(3),
    atMs: readUint53(value, 7),
  };
}
