/**
 * What a class of dupefilter does with its table. What all classes share (the agreed class, the count, clearing) is in
 * `seen.ts`. Fingerprints are 20 bytes.
 */
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import type { Statements } from '../file/statements.js';

/** What a class works on. */
export interface Ground {
  readonly sql: Statements;
  /** Which rows are its own. */
  readonly space: number;
  /** The instant of the transaction. */
  readonly now: () => number;
  readonly choice: Choice;
  /** Fingerprints recorded; changed in place. */
  count: number;
}

/** What happens to a request, as a StateDupeFilter records it; what is left out stays as it was. */
export type LifeChange = Pick<RequestLife, 'state'> & Partial<Pick<RequestLife, 'status' | 'attempts'>>;

export interface Dupefilter {
  has(fingerprint: Uint8Array): boolean;
  /** Record a fingerprint whose request is accepted; also one that was seen already, and is accepted all the same. */
  record(fingerprint: Uint8Array, isSeen: boolean): void;
  /** @returns whether it was there. @throws RefusedError `cannot_forget` where the class cannot. */
  forget(fingerprint: Uint8Array): boolean;
  /** Bytes of the file that it takes, indexes included. */
  bytes(): number;
  /** Count the fingerprints anew. */
  recount(): number;
  /** The request of a recorded fingerprint moved on. */
  onLife?(fingerprint: Uint8Array, change: LifeChange): void;
  life?(fingerprint: Uint8Array): RequestLife | null;
  /** How many of the counted fingerprints have expired; bounded work, so there may be more. */
  due?(): number;
  /** Delete at most `max` expired fingerprints. @returns whether that was all. */
  tidy?(max: number): boolean;
}

/** Bytes as a Buffer, without a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
