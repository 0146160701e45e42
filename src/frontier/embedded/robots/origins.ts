/** The rows of the robots table: what is known of the robots.txt of each origin. Columns are explained in `schema.sql`. */
import { MAX_ROBOTS_MS } from '../../robots/robots-state.js';
import type { Transaction } from '../base/transaction.js';
import { writeRow } from '../file/rows.js';

export interface RobotsRow {
  readonly space: number;
  readonly origin: string;
  state: 'claimed' | 'rules' | 'waiting' | 'unreachable';
  text: string | null;
  reason: string | null;
  until: number;
  kept_until: number;
  node: number;
  claim: number;
  claimed_at: number;
  url: string | null;
  hops: number;
  failures: number;
  delay_ms: number;
  rest_until: number;
}

/** Rows deleted with each write, at most. */
const SWEPT = 10;

/** The row of an origin, to be changed and written; null where nothing is known. */
export function readOrigin({ sql, space }: Transaction, origin: string): RobotsRow | null {
  return sql.get<RobotsRow>`SELECT * FROM robots WHERE space = ${space} AND origin = ${origin}` ?? null;
}

export function newOrigin(space: number, origin: string): RobotsRow {
  return {
    ...{
      space,
      origin,
      state: 'waiting',
      text: null,
      reason: null,
      until: 0,
      kept_until: 0,
      node: 0,
      claim: 0,
    },
    ...{ claimed_at: 0, url: null, hops: 0, failures: 0, delay_ms: 0, rest_until: 0 },
  };
}

/** Write a row, and delete a few that are not needed any more. A Crawl-delay is remembered for a day beyond its rules. */
export function writeOrigin({ sql, space, nowMs }: Transaction, row: RobotsRow): void {
  row.kept_until = Math.max(nowMs, row.until) + MAX_ROBOTS_MS;
  writeRow(sql, 'robots', row);
  sql.run`DELETE FROM robots WHERE rowid IN (
    SELECT rowid FROM robots WHERE space = ${space} AND kept_until <= ${nowMs} LIMIT ${SWEPT})`;
}

/** For how long a row is still valid; 0 when it is not. An instant more than a day ahead was stored before the clock was set back. */
export function validForMs({ nowMs }: Transaction, { until }: RobotsRow): number {
  const forMs = until - nowMs;
  return forMs > MAX_ROBOTS_MS ? 0 : Math.max(0, forMs);
}

/** Leave the domain of a request alone that waits for the rules. A longer pause, such as one that the site asked for, stays. */
export function rest({ domains, nowMs }: Transaction, name: string, row: RobotsRow, forMs: number): void {
  const untilMs = Math.ceil(nowMs + Math.min(forMs, MAX_ROBOTS_MS));
  const domain = domains.change(name);
  if (domain.blocked_until >= untilMs) return;
  const isOther = domain.blocked_until > nowMs && domain.blocked_until !== row.rest_until;
  domain.blocked_until = untilMs;
  row.rest_until = isOther ? 0 : untilMs;
}

/** End the rest of the domain that this row made. */
export function wake({ domains }: Transaction, name: string, row: RobotsRow): void {
  const domain = domains.find(name);
  if (row.rest_until > 0 && domain?.blocked_until === row.rest_until) domains.change(name).blocked_until = 0;
  row.rest_until = 0;
}
