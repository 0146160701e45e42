/**
 * What a class of dupefilter does, in the tables that are its own. What is common to all (the agreed class, the count,
 * clearing) is in `seen.ts`. Fingerprints come as 20 bytes.
 */
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import type { Statements } from '../statements.js';
import type { LifeChange } from './life.js';

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

export interface Dupefilter {
  has(fingerprint: Uint8Array): boolean;
  /** Record a fingerprint whose request is accepted; also one that was seen already, and is accepted all the same. */
  record(fingerprint: Uint8Array, isSeen: boolean): void;
  /** @returns whether it was there. @throws RefusedError `cannot_forget` where the class cannot. */
  forget(fingerprint: Uint8Array): boolean;
  /** Bytes of the file that it takes, indexes included. */
  bytes(): number;
  /** How many fingerprints there are, by looking. */
  recount(): number;
  /** The request of a recorded fingerprint moved on. */
  onLife?(fingerprint: Uint8Array, change: LifeChange): void;
  life?(fingerprint: Uint8Array): RequestLife | null;
  /** Fingerprints whose time has come, of those that are counted; bounded work, so there may be more. */
  due?(): number;
  /** Look after at most `max` fingerprints whose time has come. @returns whether that was all. */
  tidy?(max: number): boolean;
}

/** Bytes as a Buffer, without a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
