/**
 * The dupefilter of the embedded engine: one interface, a file for each class of DESIGN §6. A class says how
 * fingerprints lie in its space of the store; what is common to all (the count, the memory of clients, clearing) is
 * in `seen.ts`, which makes one of these for each transaction.
 */
import type { RequestLife } from '../frontier.js';
import { BloomDupefilter } from './dupefilter-bloom.js';
import { CompactDupefilter } from './dupefilter-compact.js';
import { RfpDupefilter } from './dupefilter-rfp.js';
import { StateDupefilter } from './dupefilter-state.js';
import { TimedDupefilter } from './dupefilter-timed.js';
import type { Table } from './keys.js';
import type { Ledger } from './ledger.js';
import type { Records } from './records.js';

/** What a class works on, for one transaction. */
export interface Desk {
  readonly tables: Records;
  /** Changed in place; `seen.ts` writes it back. */
  readonly ledger: Ledger;
  readonly nowMs: number;
}

/** What happened to a request; what is left out stays as it was. */
export type LifeChange = Pick<RequestLife, 'state'> & Partial<Pick<RequestLife, 'status' | 'attempts'>>;

/** A fingerprint as a backup has it, with what else its class knows of it. */
export interface SeenValue {
  /** Hex. */
  readonly fingerprint: string;
  /** null is never. */
  readonly untilMs?: number | null;
  readonly life?: RequestLife;
}

/** Fingerprints come as 40 hex digits. */
export interface Dupefilter {
  /** Until when a fingerprint counts as seen: 0 for one that does not, Infinity for good. */
  seenUntilMs(fingerprint: string): number;
  /** Record a fingerprint whose request was accepted; also when it was seen already, and accepted all the same. */
  record(fingerprint: string, isSeen: boolean): void;
  /** @returns whether it was there. @throws RefusedError `cannot_forget` where the class cannot. */
  forget(fingerprint: string): boolean;
  /** What it takes in the store, bookkeeping included. */
  bytes(): number;
  /** Read everything. @returns how many fingerprints there are, and a sentence for each breach. */
  examine(): { readonly count: number; readonly breaches: readonly string[] };
  /** The request of a recorded fingerprint moved on. */
  onLife?(fingerprint: string, change: LifeChange): void;
  life?(fingerprint: string): RequestLife | null;
  /** Fingerprints whose time has come, of those that are counted; bounded work, so there may be more. */
  due?(): number;
  /** The table whose entries `backUp` understands, `seen` unless told. */
  readonly backUpTable?: Table;
  /** The fingerprints of an entry; `place` is its key without what all have in common. */
  backUp(place: Buffer, value: Buffer): readonly SeenValue[];
  /** Record a fingerprint of a backup, with what is known of it there; what is known here stays. */
  bringBack(fingerprint: string, value: SeenValue): void;
  /** Look after at most `max` fingerprints whose time has come. @returns whether that was all. */
  tidy?(max: number): boolean;
  /** The transaction ends: write what was gathered. */
  finish?(): void;
}

/** The dupefilter of the ledger's class. */
export function dupefilterOf(desk: Desk): Dupefilter {
  const { choice } = desk.ledger;
  switch (choice.class) {
    case 'RFPDupeFilter':
      return new RfpDupefilter(desk);
    case 'TimedRFPDupeFilter':
      return new TimedDupefilter(desk, choice.expireMs);
    case 'StateDupeFilter':
      return new StateDupefilter(desk);
    case 'BloomDupeFilter':
      return new BloomDupefilter(desk, choice);
    case 'CompactDupeFilter':
      return new CompactDupefilter(desk);
  }
}
