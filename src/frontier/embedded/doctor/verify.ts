/** Verification: checks all data of a crawl against the invariants. Each check is a separate transaction. */
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import type { DomainRow } from '../domains/domain-row.js';
import { updateState } from '../domains/domain-state.js';
import { outboxBreaches } from '../feeds/damaged-outboxes.js';
import type { Database } from '../file/database.js';
import { damagedStore } from '../file/sqlite-errors.js';
import { invariants } from './invariants.js';

/** Domains or tables checked in one transaction. */
const WINDOW = 1_000;

/** Breaches of one kind that are listed; the others are only counted. */
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
  for (const query of invariants) breaches.push(...(await batch.read((tx) => sentencesOf(tx, query))));
  for (let after: string | null = ''; after !== null; ) {
    const from: string = after;
    const page = await batch.read((tx) => checkDomains(tx, from));
    breaches.push(...page.breaches);
    after = page.last;
  }
  for (const check of [checkDupefilter, checkLists, checkOutboxes])
    breaches.push(...(await batch.read(check)));
  return breaches;
}

function sentencesOf({ sql, space }: Transaction, query: string): string[] {
  return listed(sql.column<string>(query, space));
}

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

/** Its delay timer may have run out or not: the next lease looks. It would never find a waiting domain without a timer. */
function misplacement(domain: DomainRow, crawl: Transaction['crawl']): string | null {
  const { state, until } = domain;
  if (state === 'waiting' && until === null) return 'waits, but until no time';
  if (state === 'full' && domain.active === 0) return 'is full with nothing leased';
  const rights = [Number.MAX_SAFE_INTEGER, 0].map((nowMs) => {
    const right = { ...domain };
    updateState(right, crawl, nowMs);
    return right.state;
  });
  return rights.includes(state) ? null : `is ${state}, but should be ${rights[0]}`;
}

/** I2: the count of fingerprints is right, and each live filtered request has one. */
function checkDupefilter(tx: Transaction): string[] {
  const open = tx.dupefilter.open();
  if (open === null && tx.spaces.dupefilter.id !== 0)
    return ['I2: fingerprints are recorded, but not of which class they are'];
  if (open === null) return [];
  const { count } = open;
  const n = open.recount();
  return n === count ? [] : [`I2: ${n} fingerprints are recorded but the counter says ${count}`];
}

/** I4: the stored length of each list is right. */
function checkLists({ sql, spaces }: Transaction): string[] {
  return spaces.lists.flatMap(({ table, id, name, entries }) => {
    const n = sql.count(table, id);
    const noun = `${table.replace('_', ' ')}s`;
    return n === entries ? [] : [`I4: there are ${n} ${noun} in ${name}, the counter says ${entries}`];
  });
}

/** I4: the records of feeds say how many items wait for each. */
function checkOutboxes({ sql, spaces }: Transaction): string[] {
  return outboxBreaches(sql, spaces.feeds.id);
}

/** I1: a crawl that does not exist has no requests, domains or nodes, since no sweep would delete them. */
function checkLeftovers({ sql, space }: Transaction): string[] {
  return ['request', 'domain', 'node', 'failure', 'robots'].flatMap((table) => {
    const query = `SELECT count(*) FROM ${table} WHERE space = ? OR space NOT IN (SELECT id FROM space)`;
    const [n] = sql.column<number>(query, space);
    return n === 0 ? [] : [`I1: ${n} rows of the table ${table} are of a crawl that is not there`];
  });
}

function listed(breaches: readonly string[]): string[] {
  const more = breaches.length - EXAMPLES;
  return [...breaches.slice(0, EXAMPLES), ...(more > 0 ? [`and ${more} more like the last`] : [])];
}
