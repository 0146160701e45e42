/** The verbs of robots.txt: what is known of an origin, who fetches it, and what came of that. */
import { randomInt } from 'node:crypto';
import {
  LEAST_ROBOTS_REST_MS,
  MAX_ROBOTS_MS,
  MOST_ROBOTS_REST_MS,
  type RobotsAnswer,
  type RobotsClaim,
  type RobotsResult,
} from '../../robots/robots-state.js';
import type { Transaction } from '../base/transaction.js';
import { plainText } from '../file/statements.js';
import type { JoinedNode } from '../nodes/node-row.js';
import { newOrigin, type RobotsRow, readOrigin, rest, validForMs, wake, writeOrigin } from './origins.js';

/** What is known of the robots.txt of an origin. Where nothing is, the node is to fetch it. */
export function robots(
  tx: Transaction,
  { number: node }: JoinedNode,
  origin: string,
  domain: string,
  isFetching: boolean,
): RobotsAnswer {
  tx.nodes.requireAlive(node);
  const row = readOrigin(tx, origin) ?? newOrigin(tx.space, origin);
  const forMs = validForMs(tx, row);
  if (row.state === 'rules' && forMs > 0) return { kind: 'rules', text: row.text ?? '', forMs };
  if (row.state === 'unreachable' && forMs > 0) {
    return { kind: 'unreachable', reason: row.reason ?? 'robots_unreachable', why: row.text ?? '', forMs };
  }
  const waitMs = waitFor(tx, row, node, isFetching);
  if (waitMs === null) return claim(tx, row, node, domain);
  rest(tx, domain, row, waitMs);
  writeOrigin(tx, row);
  return { kind: 'wait', forMs: waitMs };
}

/** End a claim with what came of its fetch. @returns false where the claim was lost. */
export function storeRobots(
  tx: Transaction,
  { number: node }: JoinedNode,
  { origin, domain, token }: RobotsClaim,
  result: RobotsResult,
  stats: Readonly<Record<string, number>>,
): boolean {
  tx.nodes.requireAlive(node);
  const row = readOrigin(tx, origin);
  if (row === null || row.state !== 'claimed' || row.node !== node || String(row.claim) !== token)
    return false;
  wake(tx, domain, row);
  apply(tx, row, result);
  if ('afterMs' in result && result.afterMs > 0) rest(tx, domain, row, result.afterMs);
  tx.counters.add(stats);
  writeOrigin(tx, row);
  return true;
}

/** How long a request must wait; null when the node is to fetch. */
function waitFor(tx: Transaction, row: RobotsRow, node: number, isFetching: boolean): number | null {
  if (isFetched(tx, row, node, isFetching)) {
    // Twice the time that the fetch has taken so far: a slow one costs few further leases.
    const tookMs = Math.round(tx.nowMs - row.claimed_at);
    return Math.min(MOST_ROBOTS_REST_MS, Math.max(LEAST_ROBOTS_REST_MS, tookMs));
  }
  const forMs = row.state === 'waiting' ? validForMs(tx, row) : 0;
  return forMs > 0 ? forMs : null;
}

function isFetched(tx: Transaction, row: RobotsRow, node: number, isFetching: boolean): boolean {
  if (row.state !== 'claimed') return false;
  if (row.node === node) return isFetching;
  return tx.nodes.findAlive(row.node) !== null;
}

function claim(tx: Transaction, row: RobotsRow, node: number, domain: string): RobotsAnswer {
  // The first fetch of a new round: the rules before have expired, or were given up.
  if (row.state === 'rules' || row.state === 'unreachable') row.failures = 0;
  if (row.url === null) row.hops = 0;
  const number = randomInt(1, 2 ** 47);
  Object.assign(row, { state: 'claimed', node, claim: number, claimed_at: tx.nowMs, text: null, until: 0 });
  rest(tx, domain, row, LEAST_ROBOTS_REST_MS);
  writeOrigin(tx, row);
  const { origin, url, hops, failures, delay_ms: delayMs } = row;
  return { kind: 'fetch', claim: { origin, domain, token: String(number), url, hops, failures, delayMs } };
}

function apply({ nowMs }: Transaction, row: RobotsRow, result: RobotsResult): void {
  const untilAfter = (ms: number): number => Math.ceil(nowMs + Math.min(ms, MAX_ROBOTS_MS));
  switch (result.kind) {
    case 'rules':
      Object.assign(row, {
        ...{ state: 'rules', text: plainText(result.text), until: untilAfter(result.forMs) },
        ...{ delay_ms: Math.round(result.delayMs), url: null, failures: 0 },
      });
      return;
    case 'unreachable':
      Object.assign(row, {
        state: 'unreachable',
        text: plainText(result.why),
        reason: plainText(result.reason),
      });
      Object.assign(row, { until: untilAfter(result.forMs), url: null, failures: 0 });
      return;
    case 'failed':
      Object.assign(row, { state: 'waiting', until: untilAfter(result.afterMs), url: null });
      row.failures += 1;
      return;
    case 'later':
      Object.assign(row, { state: 'waiting', until: untilAfter(result.afterMs) });
      Object.assign(row, { url: result.url, hops: result.hops });
  }
}
