/**
 * Some records of the file are compared with their requests and domains at each heartbeat of a node, in turn. So requests whose
 * rows in `request` or `domain` were deleted are found again also while other domains keep the nodes busy, and `stall.ts` sees
 * nothing. `redis/lua/care/domains-in-turn.lua` does the same.
 */
import type { Transaction } from '../base/transaction.js';
import { startDelayTimer } from '../domains/delay-timer.js';
import type { Order } from '../queue/order.js';

/** Records of all crawls in the file that one heartbeat looks at. */
const AT_ONCE = 200;

interface Looked {
  readonly n: number;
  readonly space: number;
  readonly hasRequest: 0 | 1;
  /** Where no lease would find this pending request: its domain. */
  readonly lost: string | null;
}

/** At most AT_ONCE rows of each table are read, by their keys. */
export function lookAtRecords(tx: Transaction): void {
  const { crawl, tally, sql, space, domains } = tx;
  if (crawl.restoring !== null || crawl.repairing !== null) return;
  domains.finish();
  const rows = sql.all<Looked>`
    SELECT record.n, record.space, request.n IS NOT NULL AS hasRequest,
      iif(request.state = 'pending' AND (head_rank IS NULL OR (head_rank, head_arrival) > (request.rank, request.arrival)),
        request.domain, NULL) AS lost
    FROM record LEFT JOIN request USING (n) LEFT JOIN domain ON domain.space = request.space AND domain.name = request.domain
    WHERE record.n > ${tally.records_looked} ORDER BY record.n LIMIT ${AT_ONCE}`;
  const isRound = rows.length < AT_ONCE;
  tally.records_looked = isRound ? 0 : rows.at(-1)!.n;
  // A row that was deleted stays counted until then.
  if (isRound) tally.domains = sql.count('domain', space);
  const own = rows.filter((row) => row.space === space);
  for (const domain of new Set(own.flatMap(({ lost }) => lost ?? []))) findAgain(tx, domain);
  // Nothing more is leased until no request is leased: then a node rebuilds the rows (`stall.ts`).
  if (own.some(({ hasRequest }) => hasRequest === 0)) tally.stall_drains = 1;
}

/** Its row is made anew where it is gone, and begins with a full delay; its head is the first of its pending requests. */
function findAgain({ sql, space, crawl, domains, nowMs }: Transaction, name: string): void {
  const isGone = domains.find(name) === null;
  const domain = domains.change(name);
  if (isGone) {
    startDelayTimer(domain, crawl, nowMs);
    domain.active = sql.get<{ count: number }>`SELECT count(*) AS count FROM request INDEXED BY request_leased
      WHERE state = 'leased' AND space = ${space} AND domain = ${name}`!.count;
    // Its robots.txt is read again, as that may ask for a longer delay.
    sql.run`DELETE FROM robots WHERE space = ${space} AND instr(origin, ${name}) > 0`;
  }
  const first = sql.get<Order>`SELECT rank, arrival FROM request
    WHERE space = ${space} AND domain = ${name} AND state = 'pending' ORDER BY rank, arrival LIMIT 1`;
  domain.head_rank = first?.rank ?? null;
  domain.head_arrival = first?.arrival ?? null;
}
