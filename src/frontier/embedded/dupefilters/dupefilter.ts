/**
 * The interface of a dupefilter class to its table. The parts that all classes share (the agreed class, the count,
 * clearing) are in `seen-index.ts`. Fingerprints are 20 bytes.
 */
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import type { Statements } from '../file/statements.js';

/** The data that a dupefilter class works on. */
export interface DupefilterContext {
  readonly sql: Statements;
  /** The space of its rows. */
  readonly space: number;
  /** The instant of the transaction. */
  readonly now: () => number;
  readonly choice: Choice;
  /** The number of recorded fingerprints; changed in place. */
  count: number;
}

/** A change of the state that a StateDupeFilter records for a request. Omitted fields are unchanged. */
export type LifeChange = Pick<RequestLife, 'state'> & Partial<Pick<RequestLife, 'status' | 'attempts'>>;

export interface Dupefilter {
  has(fingerprint: Uint8Array): boolean;
  /** Record the fingerprint of an accepted request. `isSeen`: it is recorded already, which happens with seeds. */
  record(fingerprint: Uint8Array, isSeen: boolean): void;
  /** @returns whether it was there. @throws RefusedError `cannot_forget` where the class cannot. */
  forget(fingerprint: Uint8Array): boolean;
  /** Its size in the file in bytes, including indexes. */
  bytes(): number;
  /** Count the fingerprints in the table. */
  recount(): number;
  /** The request of a recorded fingerprint changed its state. */
  onLife?(fingerprint: Uint8Array, change: LifeChange): void;
  life?(fingerprint: Uint8Array): RequestLife | null;
  /** How many of the counted fingerprints have expired. The work is bounded, so there may be more. */
  due?(): number;
  /** Delete at most `max` expired fingerprints. @returns whether that was all. */
  tidy?(max: number): boolean;
}

/** Bytes as a Buffer, without a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
