/**
 * The dupefilter as the verbs of one transaction use it: whichever class it is, with its ledger read once and written
 * once, and with the memory of this client before it.
 */
import type { BackupEntry } from '../backup-entry.js';
import type { Dupefilter as Choice, RequestLife } from '../frontier.js';
import { type Desk, type Dupefilter, dupefilterOf, type LifeChange, type SeenValue } from './dupefilter.js';
import { keepPlaceOfMarks, placeOfMarks } from './dupefilter-rfp.js';
import { HEAD_BYTES, ID_BYTES, keyOf, Table } from './keys.js';
import { encodeLedger, newLedger, newVersion, readLedger } from './ledger.js';
import type { SeenCache } from './memory.js';
import type { Records } from './records.js';
import { sweepLater } from './sweep.js';
import type { Entry } from './tables.js';

/** Fingerprints looked after by one step of tidying. */
const TIDY_STEP = 5_000;

interface Open {
  readonly desk: Desk;
  readonly filter: Dupefilter;
  /** Whether what it has seen is marked among what is known of this crawl's ids. */
  readonly isAmongIds: boolean;
}

export class Seen {
  readonly #tables: Records;
  readonly #space: Buffer;
  readonly #nowMs: number;
  readonly #cache: SeenCache;
  /** What the crawl agreed on, if anything yet; throws where there is no crawl. */
  readonly #agreed: () => Choice | null;
  #open: Open | null | undefined;
  #isDirty = false;

  constructor(tables: Records, space: Buffer, nowMs: number, cache: SeenCache, agreed: () => Choice | null) {
    this.#tables = tables;
    this.#space = space;
    this.#nowMs = nowMs;
    this.#cache = cache;
    this.#agreed = agreed;
  }

  /** How many fingerprints count as seen. */
  count(): number {
    const open = this.#read();
    return open === null ? 0 : open.desk.ledger.count - (open.filter.due?.() ?? 0);
  }

  /** What the dupefilter takes in the store. */
  bytes(): number {
    const open = this.#read();
    return open === null || open.desk.ledger.count === 0 ? 0 : Math.round(open.filter.bytes());
  }

  /** Whether a fingerprint (40 hex digits) is seen. */
  has(fingerprint: string): boolean {
    const open = this.#read();
    if (open === null) return false;
    const { version } = open.desk.ledger;
    if (this.#cache.has(version, fingerprint, this.#nowMs)) return true;
    const untilMs = open.filter.seenUntilMs(fingerprint);
    if (untilMs > 0) this.#cache.add(version, fingerprint, untilMs);
    return untilMs > 0;
  }

  /** Record the fingerprint of a request that is being accepted. `isSeen` is what `has` said. */
  record(fingerprint: string, isSeen: boolean): void {
    this.#write().filter.record(fingerprint, isSeen);
  }

  /**
   * Changes whenever any fingerprint is forgotten. While it is the same, an id recorded under it bears its mark beside
   * the number of its request; 0 where fingerprints are recorded elsewhere.
   */
  stamp(): number {
    const open = this.#read();
    return open?.isAmongIds ? open.desk.ledger.version % 2 ** 32 : 0;
  }

  /** The request of a fingerprint moved on. */
  onLife(fingerprint: string, change: LifeChange): void {
    // Asked with each step of each request: the other classes need not even be opened for it.
    if (this.#agreed()?.class === 'StateDupeFilter') this.#read()?.filter.onLife?.(fingerprint, change);
  }

  /** What is known of the life of a fingerprint's request. */
  life(fingerprint: string): RequestLife | null {
    return this.#read()?.filter.life?.(fingerprint) ?? null;
  }

  /** Remove a fingerprint. @returns whether it was there. */
  forget(fingerprint: string): boolean {
    const open = this.#read();
    if (open === null || !open.filter.forget(fingerprint)) return false;
    this.#isDirty = true;
    this.#void(open);
    return true;
  }

  /** Forget all: a small step, after which `sweepSome` deletes what is left, bit by bit. */
  clear(): void {
    const open = this.#read();
    if (open === null) return;
    sweepLater(this.#tables, open.desk.ledger.space);
    this.#tables.delete(keyOf(Table.ledger, this.#space), 0);
    this.#isDirty = false;
    this.#open = null;
    this.#tables.kept.ledger = null;
  }

  /** Look after some of what has come due. @returns whether that was all. */
  tidy(): boolean {
    const open = this.#read();
    if (open?.filter.tidy === undefined) return true;
    this.#isDirty = true;
    return open.filter.tidy(TIDY_STEP);
  }

  /** I2: what is recorded is what the counter says. */
  examine(): readonly string[] {
    const open = this.#read();
    if (open === null) return [];
    const { count, breaches } = open.filter.examine();
    const { ledger } = open.desk;
    if (count === ledger.count) return breaches;
    return [...breaches, `I2: ${count} fingerprints are recorded but the counter says ${ledger.count}`];
  }

  /** Class and parameters of what is there; undefined when nothing is. */
  choice(): Choice | undefined {
    return this.#read()?.desk.ledger.choice;
  }

  /** Whether what is there was recorded in data format 3, which we cannot read. */
  isOfFormat3(): boolean {
    const ledger = this.#read()?.desk.ledger;
    return ledger?.choice.class === 'RFPDupeFilter' && ledger.parts === 0;
  }

  /** How a backup reads it; null when nothing is recorded. `index` is of a class whose entries go as they are. */
  layout(): { choice: Choice; table: Table; space: Buffer; index: readonly number[] | null } | null {
    const open = this.#read();
    if (open === null || open.desk.ledger.count === 0) return null;
    const { choice, space, count, bytes, parts } = open.desk.ledger;
    const index = choice.class === 'BloomDupeFilter' ? [count, bytes, parts] : null;
    return { choice, table: open.filter.backUpTable ?? Table.seen, space, index };
  }

  /** The fingerprints of some entries. */
  backUp(entries: readonly Entry[]): SeenValue[] {
    const filter = this.#read()?.filter;
    return entries.flatMap(({ key, value }) => filter?.backUp(key.subarray(HEAD_BYTES), value) ?? []);
  }

  /** Record fingerprints of a backup. What is none, as a Redis that others write to may hold, matches no request. */
  bringBack({ values, untilMs, lives }: Extract<BackupEntry, { kind: 'seen' }>): void {
    const { filter } = this.#write();
    for (const [n, value] of values.entries()) {
      if (!/^[0-9a-f]{16}([0-9a-f]{24})?$/i.test(value)) continue;
      const life = lives?.[n];
      filter.bringBack(value.padEnd(2 * ID_BYTES, '0'), {
        fingerprint: value,
        ...(untilMs === undefined ? {} : { untilMs: untilMs[n] ?? null }),
        ...(life === undefined ? {} : { life }),
      });
    }
  }

  /** A filter whose bits follow (`bringBackBits`); nothing is recorded yet. */
  bringBackIndex([count = 0, bytes = 0, parts = 0]: readonly number[]): void {
    Object.assign(this.#write().desk.ledger, { count, bytes, parts });
  }

  bringBackBits(values: readonly (readonly [place: string, bits: string])[]): void {
    const { space } = this.#write().desk.ledger;
    for (const [place, bits] of values) {
      const key = keyOf(Table.seen, space, Buffer.from(place, 'hex'));
      this.#tables.put(key, Buffer.from(bits, 'base64'), 0);
    }
  }

  /** Have the counter say what is recorded. */
  recount(): void {
    const open = this.#read();
    if (open === null) return;
    keepPlaceOfMarks(open.desk);
    const { count } = open.filter.examine();
    if (count === open.desk.ledger.count) return;
    open.desk.ledger.count = count;
    this.#isDirty = true;
    this.#void(open);
  }

  /** Write back what was changed. */
  finish(): void {
    if (this.#open === null || this.#open === undefined) return;
    this.#open.filter.finish?.();
    this.writeLedger();
  }

  /** Have the store say what is known of the dupefilter as a whole. */
  writeLedger(): void {
    if (!this.#isDirty || this.#open === null || this.#open === undefined) return;
    this.#tables.put(keyOf(Table.ledger, this.#space), encodeLedger(this.#open.desk.ledger), 0);
  }

  /** What clients remember is void from now on. */
  #void(open: Open): void {
    open.desk.ledger.version = newVersion();
  }

  #read(): Open | null {
    if (this.#open !== undefined) return this.#open;
    const { kept } = this.#tables;
    if (kept.ledger === undefined) kept.ledger = readLedger(this.#tables, this.#space);
    this.#open = kept.ledger === null ? null : this.#openWith(kept.ledger);
    return this.#open;
  }

  #write(): Open {
    const open = this.#read() ?? this.#begin();
    this.#open = open;
    this.#isDirty = true;
    return open;
  }

  #begin(): Open {
    const agreed = this.#agreed();
    if (agreed === null) throw new Error('nothing is recorded before a dupefilter is agreed');
    const place = agreed.class === 'RFPDupeFilter' ? placeOfMarks(this.#tables) : {};
    const ledger = newLedger(agreed, place);
    this.#tables.kept.ledger = ledger;
    return this.#openWith(ledger);
  }

  #openWith(ledger: Desk['ledger']): Open {
    const desk = { tables: this.#tables, ledger, nowMs: this.#nowMs };
    const isAmongIds =
      ledger.choice.class === 'RFPDupeFilter' && ledger.space.equals(this.#tables.spaces.crawl);
    return { desk, filter: dupefilterOf(desk), isAmongIds };
  }
}
