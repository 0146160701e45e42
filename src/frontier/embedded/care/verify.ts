/**
 * The invariants I1–I8, checked over everything there is of a crawl. A sentence of breach is mostly one query: counters
 * against counts, domains against their requests. Each check is a transaction of its own.
 */
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import type { Database } from '../file/database.js';
import { damagedStore } from '../file/what-sqlite-says.js';
import type { DomainRow } from '../queue/domain-row.js';
import { updateState } from '../queue/domain-row.js';

/** @returns a sentence for each breach; none when all is well. */
type Check = (tx: Transaction) => string[];

/** Domains, and tables, of one transaction. */
const WINDOW = 1_000;

/** Examples of one kind of breach that are named; the rest are counted. */
const EXAMPLES = 20;

/**
 * @returns a sentence for each breach; none when all is well.
 * @throws DamagedStoreError when pages of the file are damaged, or do not agree with its indexes.
 */
export async function verify(batch: CommitBatch, database: Database): Promise<string[]> {
  for (const table of await batch.read(tablesOf))
    await batch.read((tx) => checkPages(tx, database.file, table));
  if (!(await batch.read(({ hasCrawl }) => hasCrawl))) return batch.read(checkLeftovers);
  if (!(await batch.read(hasCounters))) return ['I4: the counters are gone'];
  const breaches: string[] = [];
  for (const check of checks) breaches.push(...(await batch.read(check)));
  for (let after: string | null = ''; after !== null; ) {
    const from: string = after;
    const page = await batch.read((tx) => checkDomains(tx, from));
    breaches.push(...page.breaches);
    after = page.last;
  }
  return breaches;
}

const checks: readonly Check[] = [
  checkCounters,
  checkRecords,
  checkFailures,
  checkLeases,
  checkNodes,
  checkDomainsOfRequests,
  checkDupefilter,
  checkLists,
  checkRepair,
];

function tablesOf({ sql }: Transaction): string[] {
  const rows = sql.all<{
    name: string;
  }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`;
  return rows.map(({ name }) => name);
}

/** SQLite's own check: sound pages, rows that fit their columns, indexes that hold what their table holds. */
function checkPages({ sql }: Transaction, file: string, table: string): void {
  const rows = sql.of(`PRAGMA integrity_check(${table})`).all() as { integrity_check: string }[];
  const [first] = rows.map(({ integrity_check }) => integrity_check);
  if (first !== undefined && first !== 'ok') throw damagedStore(file, first);
}

/** Whether the crawl has its row of counters, without which hardly a verb works. */
export function hasCounters({ sql, space }: Transaction): boolean {
  return sql.get`SELECT 1 FROM tally WHERE space = ${space}` !== undefined;
}

/** I1, I4: the counters are what a count of the requests gives. */
function checkCounters({ sql, space, tally }: Transaction): string[] {
  const counts = new Map(
    sql.all<{
      state: string;
      n: number;
    }>`SELECT state, count(*) AS n FROM request WHERE space = ${space} GROUP BY state`.map(({ state, n }) => [
      state,
      n,
    ]),
  );
  const counters = {
    ...{ pending: tally.pending, suspect: tally.suspects, delayed: tally.delayed },
    ...{ leased: tally.leased, failed: tally.failed },
  };
  const breaches: string[] = [];
  let live = 0;
  for (const [state, counter] of Object.entries(counters)) {
    const n = counts.get(state) ?? 0;
    counts.delete(state);
    live += n;
    if (n !== counter) breaches.push(`I4: ${n} requests are ${state} but the counter says ${counter}`);
  }
  for (const [state, n] of counts)
    breaches.push(`I1: ${n} requests are in the state "${state}", which there is not`);
  const total = live + tally.done + tally.removed;
  if (tally.accepted !== total) {
    breaches.push(
      `I4: ${tally.accepted} were accepted but ${total} are pending, delayed, leased, done, failed or removed`,
    );
  }
  return breaches;
}

/** I1: a live request has its record. (A failed one beyond the limit has none.) */
function checkRecords({ sql, space, tally }: Transaction): string[] {
  const bare = sql.all<{ id: string; state: string }>`
    SELECT lower(hex(id)) AS id, state FROM request LEFT JOIN record USING (n)
    WHERE space = ${space} AND state <> 'failed' AND record.n IS NULL`;
  const records = sql.get<{ n: number }>`
    SELECT count(*) AS n FROM failure JOIN record USING (n) WHERE failure.space = ${space}`!.n;
  const lone = sql.get<{ n: number }>`
    SELECT count(*) AS n FROM record LEFT JOIN request USING (n) WHERE request.n IS NULL`!.n;
  return [
    ...listed(bare.map(({ id, state }) => `I1: ${id} is ${state} but has no record`)),
    ...(records === tally.failed_records
      ? []
      : [`I4: ${records} failed records are kept, not ${tally.failed_records}`]),
    ...(lone === 0 ? [] : [`I1: ${lone} records have no request`]),
  ];
}

/** I1: what failed stands in the failed list once, and nothing else does. */
function checkFailures({ sql, space }: Transaction): string[] {
  const unlisted = sql.all<{ id: string }>`
    SELECT lower(hex(id)) AS id FROM request LEFT JOIN failure USING (n)
    WHERE request.space = ${space} AND state = 'failed' AND failure.n IS NULL`;
  const lone = sql.get<{ n: number }>`
    SELECT count(*) AS n FROM failure LEFT JOIN request ON request.n = failure.n AND request.space = failure.space
    WHERE failure.space = ${space} AND (request.n IS NULL OR state <> 'failed')`!.n;
  return [
    ...listed(unlisted.map(({ id }) => `I1: ${id} failed but is not in the failed list`)),
    ...(lone === 0 ? [] : [`I1: ${lone} entries of the failed list have no failed request`]),
  ];
}

/** I1, I3: what is leased is held by a node of this crawl under a token, and nothing else is. */
function checkLeases({ sql, space }: Transaction): string[] {
  const unheld = sql.all<{ id: string }>`
    SELECT lower(hex(request.id)) AS id FROM request LEFT JOIN node ON number = node AND node.space = request.space
    WHERE request.space = ${space} AND state = 'leased' AND (number IS NULL OR token IS NULL)`;
  const held = sql.all<{ id: string; state: string }>`
    SELECT lower(hex(id)) AS id, state FROM request
    WHERE space = ${space} AND state <> 'leased' AND (node IS NOT NULL OR token IS NOT NULL)`;
  const undue = sql.all<{ id: string }>`
    SELECT lower(hex(id)) AS id FROM request WHERE space = ${space} AND state = 'delayed' AND due IS NULL`;
  return [
    ...listed(unheld.map(({ id }) => `I3: ${id} is leased to nobody that is registered`)),
    ...listed(held.map(({ id, state }) => `I1: ${id} is ${state} and leased too`)),
    ...listed(undue.map(({ id }) => `I1: ${id} is delayed, but until no time`)),
  ];
}

/** I3: a node holds as many leases as it says. */
function checkNodes({ sql, space, tally }: Transaction): string[] {
  const wrong = sql.all<{ id: string; leased: number; n: number }>`
    SELECT id, leased, n FROM (
      SELECT id, leased, (SELECT count(*) FROM request WHERE request.node = number AND state = 'leased') AS n
      FROM node WHERE space = ${space})
    WHERE leased <> n`;
  const alive = sql.get<{ n: number }>`SELECT count(*) AS n FROM node WHERE space = ${space} AND is_dead = 0`!
    .n;
  return [
    ...listed(wrong.map(({ id, leased, n }) => `I3: ${id} holds ${n} leases, not ${leased}`)),
    ...(alive === tally.alive ? [] : [`I3: ${alive} nodes are registered, the counter says ${tally.alive}`]),
  ];
}

/** I6, I7: a domain with pending or leased requests has a row, which says how many are leased. */
function checkDomainsOfRequests({ sql, space, tally }: Transaction): string[] {
  const without = sql.all<{ domain: string }>`
    SELECT DISTINCT domain FROM request WHERE space = ${space} AND state IN ('pending', 'leased')
    AND NOT EXISTS (SELECT 1 FROM domain WHERE domain.space = ${space} AND name = request.domain)`;
  const active = sql.all<{ name: string; active: number; n: number }>`
    SELECT name, active, coalesce(n, 0) AS n FROM domain LEFT JOIN (
      SELECT domain, count(*) AS n FROM request WHERE space = ${space} AND state = 'leased' GROUP BY domain) ON domain = name
    WHERE space = ${space} AND active <> coalesce(n, 0)`;
  const domains = sql.get<{ n: number }>`SELECT count(*) AS n FROM domain WHERE space = ${space}`!.n;
  return [
    ...listed(without.map(({ domain }) => `I7: ${domain} has requests but no record`)),
    ...listed(active.map(({ name, active, n }) => `I6: ${name} has ${n} leased, not ${active}`)),
    ...(domains === tally.domains
      ? []
      : [`I4: there are ${domains} domains, the counter says ${tally.domains}`]),
  ];
}

/** I7: each domain names its first pending request, and its state follows from this and its delay timer. */
function checkDomains(
  { sql, space, crawl }: Transaction,
  after: string,
): { breaches: string[]; last: string | null } {
  const rows = sql.all<DomainRow & { rank: number | null; arrival: number | null }>`
    SELECT domain.*, request.rank, request.arrival FROM domain LEFT JOIN request ON request.n = (
      SELECT n FROM request WHERE space = ${space} AND domain = name AND state = 'pending' ORDER BY rank, arrival LIMIT 1)
    WHERE domain.space = ${space} AND name > ${after} ORDER BY name LIMIT ${WINDOW}`;
  const breaches = rows.flatMap(({ rank, arrival: first, ...domain }) => {
    if (rank !== domain.head_rank || first !== domain.head_arrival) {
      return [`I7: ${domain.name} has another first request than it says`];
    }
    const wrong = misplacement(domain, crawl);
    return wrong === null ? [] : [`I7: ${domain.name} ${wrong}`];
  });
  return { breaches: listed(breaches), last: rows.length < WINDOW ? null : rows.at(-1)!.name };
}

/** A delay timer that has run out is found by the next lease. A waiting domain without a timer never would be. */
function misplacement(domain: DomainRow, crawl: Transaction['crawl']): string | null {
  const { state, until } = domain;
  const right = { ...domain };
  updateState(right, crawl, 0);
  if (state === 'waiting' && until === null) return 'waits, but until no time';
  if (state === 'full' && domain.active === 0) return 'is full with nothing leased';
  const isSound = state === right.state || (state === 'ready' && right.state === 'waiting');
  return isSound ? null : `is ${state}, but should be ${right.state}`;
}

/** I2: so many fingerprints are recorded as the dupefilter says, and one for each live request that was filtered. */
function checkDupefilter(tx: Transaction): string[] {
  const open = tx.dupefilter.open();
  if (open === null) return [];
  const { count } = open.ground;
  const n = open.filter.recount();
  return n === count ? [] : [`I2: ${n} fingerprints are recorded but the counter says ${count}`];
}

/** I4: lists are as long as they say. */
function checkLists({ sql, spaces }: Transaction): string[] {
  const lists = [
    { table: 'item', noun: 'items', space: spaces.items },
    { table: 'counter', noun: 'counters', space: spaces.stats },
    ...spaces.startUrls.map(({ good }) => ({ table: 'seed', noun: 'seeds', space: good })),
    ...spaces.startUrls.map(({ bad }) => ({ table: 'bad_seed', noun: 'bad seeds', space: bad })),
  ];
  return lists.flatMap(({ table, noun, space }) => {
    const { n } = sql.of(`SELECT count(*) AS n FROM ${table} WHERE space = ?`).get(space.id) as { n: number };
    return n === space.entries
      ? []
      : [`I4: there are ${n} ${noun} in ${space.name}, the counter says ${space.entries}`];
  });
}

function checkRepair({ crawl }: Transaction): string[] {
  return crawl.repairing === null ? [] : ['a repair broke off: repair again'];
}

/** I1: where there is no crawl, no request, domain or node is left that no sweep would find. */
function checkLeftovers({ sql, space }: Transaction): string[] {
  return ['request', 'domain', 'node', 'failure'].flatMap((table) => {
    const { n } = sql
      .of(`SELECT count(*) AS n FROM ${table} WHERE space = ? OR space NOT IN (SELECT id FROM space)`)
      .get(space) as { n: number };
    return n === 0 ? [] : [`I1: ${n} rows of the table ${table} are of a crawl that is not there`];
  });
}

function listed(breaches: readonly string[]): string[] {
  const more = breaches.length - EXAMPLES;
  return [...breaches.slice(0, EXAMPLES), ...(more > 0 ? [`and ${more} more like the last`] : [])];
}
