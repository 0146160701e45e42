/** A node that joined: one incarnation. Columns are explained in `schema.sql`. */
import { randomBytes } from 'node:crypto';
import type { JoinOptions } from '../../frontier.js';
import type { Flag } from '../base/crawl-row.js';

export interface NodeRow {
  readonly number: number;
  readonly space: number;
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly process_start: string | null;
  readonly started_at: number;
  beat_at: number;
  settled: number;
  pages_per_second: number;
  leased: number;
  is_dead: Flag;
}

/** Who a client is once it has joined. */
export interface JoinedNode {
  readonly number: number;
  /** Tells the crawl joined from one of the same name after a reset. */
  readonly crawl: string;
  readonly options: JoinOptions;
}

/** A number no other incarnation has; never 0. */
export function newIncarnationNumber(): number {
  return randomBytes(4).readUInt32BE(0) || 1;
}

/** Node id and random number, as in the `Frontier` interface. */
export function incarnationName(id: string, number: number): string {
  return `${id}:${number.toString(16).padStart(8, '0')}`;
}

/** The number in an incarnation's name; 0 when it is none of ours. */
export function incarnationNumber(name: string): number {
  const hex = /:([0-9a-f]{8})$/.exec(name)?.[1];
  return hex === undefined ? 0 : Number.parseInt(hex, 16);
}
