/** Where one request stands. */
import type { FrontierRequest, Inspection } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { dueAtOf } from '../domains/delay-timer.js';
import { failureOf } from '../failed/failed-list.js';
import { incarnationName } from '../nodes/node-row.js';
import { bytesOf, type RequestState } from '../queue/requests.js';

interface FoundRequest {
  readonly n: number;
  readonly state: RequestState;
  readonly domain: string;
  readonly due: number | null;
  readonly crashes: number;
  readonly node: number | null;
  readonly leased_at: number | null;
  readonly text: string | null;
}

export function inspectRequest(tx: Transaction, request: FrontierRequest): Inspection {
  const fingerprint = bytesOf(request.fingerprint);
  const seen = tx.dupefilter.has(fingerprint);
  const life = request.dontFilter ? null : (tx.dupefilter.open()?.life(fingerprint) ?? null);
  const row = tx.sql.get<FoundRequest>`
    SELECT n, state, domain, due, crashes, node, leased_at, text FROM request LEFT JOIN record USING (n, space, id)
    WHERE space = ${tx.space} AND id = ${bytesOf(request.id)}`;
  if (row === undefined) {
    const nothing = { record: null, crashes: 0, owner: null, leasedAtMs: null, dueAtMs: null, failure: null };
    return { state: seen ? 'seen' : 'unknown', seen, ...nothing, life };
  }
  const holder = row.node === null ? null : tx.nodes.find(row.node);
  return {
    state: row.state === 'suspect' ? 'pending' : row.state,
    seen,
    record: row.text,
    crashes: row.crashes,
    owner: holder === null ? null : incarnationName(holder.id, holder.number),
    leasedAtMs: wallClock(tx, row.leased_at),
    dueAtMs: wallClock(tx, dueAtOfRequest(tx, row)),
    failure: row.state === 'failed' ? failureOf(tx, row.n) : null,
    life,
  };
}

/** An instant of the crawl's clock by the clock of the machine. */
function wallClock({ nowMs, wallMs }: Transaction, atMs: number | null): number | null {
  return atMs === null ? null : atMs - (nowMs - wallMs);
}

function dueAtOfRequest(tx: Transaction, { state, due, domain: name }: FoundRequest): number | null {
  if (due !== null) return Math.ceil(due / 1000);
  const domain = state === 'pending' || state === 'suspect' ? tx.domains.find(name) : null;
  const opensAtMs = domain === null ? 0 : dueAtOf(domain, tx.nowMs);
  return opensAtMs > tx.nowMs ? opensAtMs : null;
}
