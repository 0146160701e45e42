/** What a crawl in a folder offers to verify and repair (`care/`). Each read is one snapshot. */
import {
  BROKEN_RESTORE,
  type CareStore,
  type DomainView,
  type Examined,
  idText,
  type NodeView,
  type Suspect,
  type Totals,
} from '../../care/care-store.js';
import type { CommitBatch } from '../base/commit-batch.js';
import type { FirstShape } from '../base/crawl-row.js';
import { inWindows, WINDOW, type Windowed } from '../base/in-windows.js';
import { namelessSpaces } from '../base/nameless-spaces.js';
import type { Transaction } from '../base/transaction.js';
import { sweepSome } from '../crawl/sweep.js';
import { waitsTooLong } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import { feedViews } from '../feeds/damaged-outboxes.js';
import type { Database } from '../file/database.js';
import { damagedStore } from '../file/sqlite-errors.js';
import { isRebuilding } from '../leases/stall.js';
import type { RequestState } from '../queue/requests.js';
import {
  beginRebuild,
  beginRepair,
  endRepair,
  failedRecords,
  putRequest,
  type RecordRow,
} from './rebuild.js';

const NO_COUNTERS = 'I4: the counters are gone';

export function embeddedCare(
  batch: CommitBatch,
  database: Database,
  shape: FirstShape,
): CareStore<RecordRow> {
  return {
    async unexaminable() {
      // All is read once, in order: a large cache would only fill.
      await batch.read(({ sql }) => sql.connection.exec('PRAGMA cache_size = -8192'));
      for (const table of await batch.read(tablesOf))
        await batch.read((tx) => checkPages(tx, database.file, table));
      if (!(await batch.read(({ hasCrawl }) => hasCrawl))) return batch.read(leftovers);
      return (await batch.read(hasCounters)) ? null : [NO_COUNTERS];
    },
    counts: () => batch.read(counts),
    records: () => inWindows(batch, 0, recordsAfter),
    entries: () => inWindows<number, Examined>(batch, 0, examineRequests),
    async *examine() {
      yield* inWindows<string, Examined>(batch, '', examineDomains);
      yield await batch.read(examineCrawl);
    },
    // No request is in two queues: their ids are unique.
    unexplained: (suspects) =>
      batch.read(({ sql, space }) => {
        const isNowhere = ({ id, n = 0 }: Suspect) =>
          sql.get`SELECT 1 FROM record WHERE n = ${n} AND space = ${space} AND id = ${id}
            AND NOT EXISTS (SELECT 1 FROM request WHERE space = ${space} AND id = ${id})` !== undefined;
        return suspects.filter(isNowhere);
      }),

    beginRepair: (force) => batch.write((tx) => beginRepair(tx, shape, force)),
    beginRebuild: () => batch.write(beginRebuild),
    put: (records) =>
      batch.write((tx) => {
        for (const record of records) putRequest(tx, record);
      }),
    async endRepair() {
      const rebuilt = await endRepair(batch);
      while (!(await batch.write(sweepSome)));
      return rebuilt;
    },
  };
}

/** How many requests are looked at for records, in the order of their ids, which is as good as a random one. */
const SOME_REQUESTS = 20_000;

function counts(tx: Transaction): Examined {
  const { sql, space, hasCrawl } = tx;
  if (!hasCrawl) return {};
  if (!hasCounters(tx)) return { breaches: [NO_COUNTERS] };
  const broken = restoreBreaches(tx);
  if (broken.length > 0) return { breaches: broken };
  const [bare] = sql.column<number>(
    `SELECT count(*) FROM (SELECT n, state FROM request WHERE space = ? ORDER BY id LIMIT ${SOME_REQUESTS}) AS some
     WHERE state <> 'failed' AND NOT EXISTS (SELECT 1 FROM record WHERE record.n = some.n)`,
    space,
  );
  return {
    totals: totalsOf(tx),
    breaches: bare! > 0 ? [`I1: at least ${bare} requests have no record`] : [],
  };
}

const restoreBreaches = ({ crawl }: Transaction): string[] =>
  crawl.restoring === null ? [] : [BROKEN_RESTORE];

/** The records of the crawl. A window is one of all crawls of the folder, so that its work is bounded. */
function recordsAfter({ sql, space }: Transaction, after: number): Windowed<number, RecordRow[]> {
  const rows = sql.all<RecordRow & { readonly space: number; readonly state: RequestState | null }>`
    SELECT n, space, id, text AS record, (SELECT state FROM request WHERE request.n = record.n) AS state
    FROM record WHERE n > ${after} ORDER BY n LIMIT ${WINDOW}`;
  const found = rows.filter((row) => row.space === space);
  return {
    found: found.map((row) => ({ ...row, isWaiting: row.state !== 'leased' && row.state !== 'failed' })),
    last: rows.at(WINDOW - 1)?.n,
  };
}

interface EntryRow {
  readonly n: number;
  readonly space: number;
  readonly id: Uint8Array;
  readonly state: string;
  readonly due: number | null;
  readonly node: number | null;
  readonly token: number | null;
  readonly hasRecord: 0 | 1;
  readonly hasFailure: 0 | 1;
  readonly hasNode: 0 | 1;
}

const stateNames: Readonly<Record<string, string>> = {
  ...{ pending: 'pending', suspect: 'pending', delayed: 'delayed', leased: 'leased', failed: 'failed' },
};

/** In the order of row numbers, in which their records lie too. A window is one of all crawls of the folder. */
function examineRequests({ sql, space }: Transaction, after: number): Windowed<number, Examined> {
  const all = sql.all<EntryRow>`
    SELECT n, space, id, state, due, node, token, EXISTS (SELECT 1 FROM record WHERE record.n = request.n) AS hasRecord,
      EXISTS (SELECT 1 FROM failure WHERE failure.n = request.n) AS hasFailure,
      EXISTS (SELECT 1 FROM node WHERE number = request.node AND node.space = request.space) AS hasNode
    FROM request WHERE n > ${after} ORDER BY n LIMIT ${WINDOW}`;
  const rows = all.filter((row) => row.space === space);
  const odd = rows.flatMap(({ id, state, node, token, hasRecord }) => {
    const isLeasedToo = state !== 'leased' && (node !== null || token !== null);
    if (hasRecord === 1 && !isLeasedToo) return [];
    const states = [stateNames[state] ?? state, ...(isLeasedToo ? ['leased'] : [])];
    return [{ id, states, hasRecord: hasRecord === 1 }];
  });
  const waiting = rows.filter(({ state }) => state !== 'leased' && state !== 'failed');
  const found = { entries: { ids: waiting.map(({ id }) => id) }, odd, breaches: rows.flatMap(rowBreaches) };
  return { found, last: all.at(WINDOW - 1)?.n };
}

/** What makes a row contradict itself. */
function rowBreaches({ id, state, due, node, token, hasFailure, hasNode }: EntryRow): string[] {
  const name = idText(id);
  if (stateNames[state] === undefined)
    return [`I1: request ${name} is in the state "${state}", which there is not`];
  if (state === 'delayed' && due === null) return [`I1: request ${name} is delayed, but until no time`];
  if (state === 'failed' && hasFailure === 0)
    return [`I1: request ${name} failed but is not in the failed list`];
  if (state === 'leased' && (hasNode === 0 || token === null))
    return [`I3: request ${name} is leased to ${node ?? 'nobody'}, which is not registered`];
  return [];
}

type DomainFound = DomainRow & { readonly rank: number | null; readonly arrival: number | null };

function examineDomains(
  { sql, space, crawl, nowMs }: Transaction,
  after: string,
): Windowed<string, Examined> {
  const rows = sql.all<DomainFound>`
    SELECT domain.*, request.rank, request.arrival FROM domain LEFT JOIN request ON request.n = (
      SELECT n FROM request WHERE space = ${space} AND domain = name AND state = 'pending' ORDER BY rank, arrival LIMIT 1)
    WHERE domain.space = ${space} AND name > ${after} ORDER BY name LIMIT ${WINDOW}`;
  const counts = sql.all<{ domain: string; count: number }>`
    SELECT domain, count(*) AS count FROM request WHERE space = ${space} AND state = 'leased' GROUP BY domain`;
  const leased = new Map(counts.map(({ domain, count }) => [domain, count]));
  const domains = rows.map((row): DomainView => {
    const { name, state, until, active, rank, arrival, head_rank, head_arrival } = row;
    return {
      ...{ name, state, active, leased: leased.get(name) ?? 0, pending: rank === null ? 0 : 1 },
      knowsFirst: rank === head_rank && arrival === head_arrival,
      isReady: state === 'ready',
      wakes: state === 'waiting' && until !== null ? 'in time' : 'never',
      waitsTooLong: waitsTooLong(row, crawl, nowMs),
    };
  });
  return { found: { domains }, last: rows.at(WINDOW - 1)?.name };
}

/** What is compared at one instant: counters, nodes, feeds, fingerprints, and domains without a row. */
function examineCrawl(tx: Transaction): Examined {
  const { sql, space } = tx;
  const missing = sql.all<DomainView>`
    SELECT domain AS name, sum(state = 'pending') AS pending, sum(state = 'leased') AS leased FROM request
    WHERE space = ${space} AND state IN ('pending', 'leased')
      AND NOT EXISTS (SELECT 1 FROM domain WHERE domain.space = ${space} AND name = request.domain) GROUP BY domain`;
  const nodes = sql.all<NodeView>`
    SELECT id AS name, leased AS held, (SELECT count(*) FROM request WHERE request.node = number AND state = 'leased') AS leased
    FROM node WHERE space = ${space}`;
  const [strays] = sql.column<number>(
    `SELECT count(*) FROM failure LEFT JOIN request ON request.n = failure.n AND request.space = failure.space
     WHERE failure.space = ? AND (request.n IS NULL OR state <> 'failed')`,
    space,
  );
  return {
    domains: missing.map((domain) => ({ ...domain, isMissing: true })),
    nodes,
    feeds: feedViews(tx),
    totals: totalsOf(tx),
    breaches: [
      ...(strays! > 0 ? [`I1: ${strays} entries of the failed list have no failed request`] : []),
      ...restoreBreaches(tx),
      ...namelessSpaces(sql),
      ...fingerprintBreaches(tx),
      ...sql.column<string>(JAR_CHECK, space),
    ],
  };
}

const FAILED_REQUESTS = `SELECT count(*) FROM failure JOIN request USING (n) WHERE failure.space = ? AND state = 'failed'`;

function totalsOf(tx: Transaction): Totals {
  const { sql, space, spaces, tally, crawl, nodes } = tx;
  // Each state but failed has an index of its own.
  const of = (state: RequestState) =>
    state === 'failed'
      ? sql.column<number>(FAILED_REQUESTS, space)[0]!
      : sql.column<number>(
          `SELECT count(*) FROM request INDEXED BY request_${state} WHERE space = ? AND state = '${state}'`,
          space,
        )[0]!;
  const pairs: [noun: string, size: number, stored: number][] = [
    ['pending requests', of('pending'), tally.pending],
    ['suspects', of('suspect'), tally.suspects],
    ['delayed requests', of('delayed'), tally.delayed],
    ['leased requests', of('leased'), tally.leased],
    ['failed requests', of('failed'), tally.failed],
    ['records of failed requests', failedRecords(sql, space), tally.failed_records],
    ['domains', sql.count('domain', space), tally.domains],
    ...spaces.lists.map(({ table, id, name, entries }): [string, number, number] => [
      ...([`${table.replace('_', ' ')}s in ${name}`, sql.count(table, id), entries] as const),
    ]),
  ];
  return {
    pending: of('pending') + of('suspect'),
    ...{ delayed: of('delayed'), leased: of('leased'), failed: of('failed') },
    ...{ done: tally.done, removed: tally.removed, lost: tally.lost, accepted: tally.accepted },
    isRepairing: crawl.repairing !== null,
    isRebuilding: isRebuilding(tx) && nodes.findAlive(tally.stall_owner) !== null,
    stored: pairs.map(([noun, size, stored]) => ({ noun, size, stored })),
  };
}

/** I2: the count of fingerprints is right. */
function fingerprintBreaches({ dupefilter, spaces }: Transaction): string[] {
  const open = dupefilter.open();
  if (open === null)
    return spaces.dupefilter.id === 0
      ? []
      : ['I2: fingerprints are recorded, but not of which class they are'];
  const n = open.recount();
  return n === open.count ? [] : [`I2: ${n} fingerprints are recorded but the counter says ${open.count}`];
}

/** I4: a jar has as many cookies as it says. `?1` is the space of the crawl. */
const JAR_CHECK = `
  SELECT 'I4: the cookie jar "' || name || '" is said to have ' || coalesce(said, 0) || ' cookies and has ' || coalesce(n, 0)
  FROM (SELECT name, count AS said FROM cookie_jar WHERE space = ?1)
    FULL JOIN (SELECT jar AS name, sum(count) AS n FROM cookie_set WHERE space = ?1 AND count > 0 GROUP BY jar) USING (name)
  WHERE said IS NOT n`;

function tablesOf({ sql }: Transaction): string[] {
  return sql.column(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`);
}

/**
 * SQLite's own check: sound pages, rows that fit their columns, indexes that hold what their table holds. As of SQLite 3.53 it
 * does not notice that a partial index holds more.
 */
function checkPages({ sql }: Transaction, file: string, table: string): void {
  const [first] = sql.column<string>(`PRAGMA integrity_check(${table})`);
  if (first !== undefined && first !== 'ok') throw damagedStore(file, first);
  const partial = sql.all<{ name: string; condition: string }>`
    SELECT name, substr(sql, instr(sql, ' WHERE ')) AS condition FROM sqlite_schema
    WHERE type = 'index' AND tbl_name = ${table} AND instr(sql, ' WHERE ') > 0`;
  for (const { name, condition } of partial) {
    const [indexed] = sql.column<number>(`SELECT count(*) FROM ${table} INDEXED BY ${name} ${condition}`);
    const [stored] = sql.column<number>(`SELECT count(*) FROM ${table} NOT INDEXED ${condition}`);
    if (indexed !== stored)
      throw damagedStore(file, `the index ${name} holds ${indexed} entries for ${stored} rows`);
  }
}

/** Whether the crawl has its row of counters, which nearly every verb needs. */
function hasCounters({ sql, space }: Transaction): boolean {
  return sql.get`SELECT 1 FROM tally WHERE space = ${space}` !== undefined;
}

/** I1: a crawl that does not exist has no requests, domains or nodes, since no sweep would delete them. */
export function leftovers({ sql, space }: Transaction): string[] {
  const found = ['request', 'domain', 'node', 'failure', 'robots'].flatMap((table) => {
    const n = sql.count(table, space);
    return n === 0 ? [] : [`I1: ${n} rows of the table ${table} are of a crawl that is not there`];
  });
  return [...found, ...namelessSpaces(sql)];
}
