/**
 * The one place that judges stored values. Others can write to the file, so a value may be anything its column's type allows.
 * What no verb has written is replaced or removed here, table by table, so that the verbs read only what they can use:
 * counters are counted anew from the rows, a lease that does not read is pending again, a domain is rebuilt from its queue and
 * starts with a full delay, and any other row is removed. It runs when a client opens the file, and when a verb meets such a
 * value (`commit-batch.ts`), and on the rows that a repair saves.
 */
import type { FrontierKeys } from '../../open-options.js';
import { settingsDelayOf } from '../domains/delay-timer.js';
import { newDomain } from '../domains/domain-row.js';
import { writeRow } from '../file/rows.js';
import type { Statements } from '../file/statements.js';
import { cautiousTunables, MAX_NAME_BYTES, readCrawl } from './crawl-row.js';
import { Spaces } from './keyspaces.js';
import { nameSpaces } from './nameless-spaces.js';
import { Transaction } from './transaction.js';

/** Tables with few rows, which each client looks at as it opens the file. */
const small = ['space', 'crawl', 'tally', 'node', 'dupefilter', 'feed'];
/** And the others that a verb reads numbers or JSON from. */
const large = [
  ...['request', 'record', 'failure', 'domain', 'robots', 'seen_timed', 'seen_state', 'cookie_set'],
  ...['cookie_jar', 'validator', 'domain_accepted', 'counter', 'outbox', 'ignored_page'],
];

/** Whose rows are removed; in other tables the value is replaced. */
const removed = new Set([
  ...['node', 'domain', 'robots', 'cookie_set', 'cookie_jar', 'validator', 'counter', 'ignored_page'],
]);

/** JSON of an object with fields of these types. */
const object = (column: string, fields: Readonly<Record<string, string>> = {}): string =>
  [
    `json_type(${column}) = 'object'`,
    ...Object.entries(fields).map(
      ([path, types]) => `coalesce(json_type(${column}, '$.${path}'), '') IN (${types})`,
    ),
  ].join(' AND ');
const json = (column: string, condition: string): string =>
  `CASE WHEN json_valid(${column}) THEN ${condition} ELSE 0 END`;
const oneOf = (column: string, values: string): string =>
  `${column} IN (${values
    .split(' ')
    .map((value) => `'${value}'`)
    .join(', ')})`;
const [TEXT, NUMBER, FLAG, OBJECT] = ["'text'", "'integer', 'real'", "'true', 'false'", "'object'"];
const MAYBE_OBJECT = "'object', 'null', ''";
const ANY_SIGN = 'true';
const COUNTED = ['item', 'seed', 'bad_seed', 'counter'];

/** A counter may not say 0 of rows that are there; of a crawl not while its requests are rebuilt. */
const isThere = (table: string, condition: string): string =>
  `EXISTS (SELECT 1 FROM ${table} WHERE ${condition})`;
const isShort = (name: string): string => `octet_length(${name}) <= ${MAX_NAME_BYTES}`;
const OF_FEED = 'outbox.space = feed.space AND outbox.feed = feed.feed';
const counts = (column: string, state: string): string =>
  `${column} > 0 OR NOT ${isThere(`request INDEXED BY request_${state}`, `space = tally.space AND state = '${state}'`)}
    OR ${isThere('crawl', 'crawl.space = tally.space AND repairing IS NOT NULL')}`;

/** What a column holds beside numbers within bounds. */
const holds: Readonly<Record<string, string>> = {
  'space.entries': `entries > 0 OR NOT (${COUNTED.map((table) => isThere(table, `space = space.id`)).join(' OR ')})`,
  'tally.pending': counts('pending', 'pending'),
  'tally.suspects': counts('suspects', 'suspect'),
  'tally.delayed': counts('delayed', 'delayed'),
  'tally.leased': counts('leased', 'leased'),
  'space.name': isShort('name'),
  'crawl.name': isShort('name'),
  'crawl.shape': json(
    'shape',
    object('shape', { queueClass: TEXT, fingerprinter: TEXT, domainKey: TEXT, dupefilter: MAYBE_OBJECT }),
  ),
  'crawl.dupefilter': json('dupefilter', object('dupefilter', { class: TEXT })),
  'crawl.control': oneOf('control', 'running paused stopping'),
  'crawl.repairing': oneOf('repairing', 'running paused stopping'),
  'crawl.tunables': json(
    'tunables',
    object('tunables', {
      ...{ delayMs: NUMBER, concurrencyPerDomain: NUMBER, nodeTimeoutMs: NUMBER, failedLimit: NUMBER },
      ...{ queueLimit: NUMBER, memoryLimit: NUMBER, pagesPerDomain: NUMBER, randomizeDelay: FLAG },
      ...{ slots: MAYBE_OBJECT, autothrottle: MAYBE_OBJECT },
    }),
  ),
  'crawl.starts': json('starts', object('starts')),
  'crawl.run': json(
    'run',
    object('run', {
      ...{ id: TEXT, args: OBJECT, startedAtMs: NUMBER, budgets: OBJECT, counters: OBJECT },
      ...{ 'budgets.maxPages': NUMBER, 'budgets.maxItems': NUMBER, 'budgets.maxErrors': NUMBER },
      'budgets.maxRunMs': NUMBER,
      ...{ closing: MAYBE_OBJECT, closed: MAYBE_OBJECT, asking: MAYBE_OBJECT, asked: MAYBE_OBJECT },
    }),
  ),
  'crawl.feeds': json('feeds', "json_type(feeds) = 'array'"),
  // A checkpoint deletes what it covers, and no item comes behind the last one.
  'feed.last': `NOT ${isThere('outbox', `${OF_FEED} AND sequence > feed.last`)}`,
  'feed.written': `NOT ${isThere('outbox', `${OF_FEED} AND sequence <= feed.written`)}`,
  'domain.state': oneOf('state', 'full waiting ready idle'),
  'request.state': oneOf('state', 'pending suspect delayed leased failed'),
  'robots.state': oneOf('state', 'claimed rules waiting unreachable'),
  'seen_state.state': oneOf('state', 'pending leased delayed done failed'),
  'cookie_set.cookies': json('cookies', "json_type(cookies) = 'array'"),
  'validator.text': json('text', "json_type(text) = 'array'"),
  ...Object.fromEntries(
    ['request.rank', 'request.arrival', 'request.priority', 'domain.head_rank', 'domain.head_arrival'].map(
      (name) => [name, ANY_SIGN],
    ),
  ),
  'counter.value': `typeof(value) = 'integer' AND value BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}
    OR name LIKE 'custom/%' AND typeof(value) IN ('text', 'real')`,
};

const NOW_MS = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const countOf = (table: string, condition: string): string =>
  `(SELECT count(*) FROM ${table} WHERE ${condition})`;
const requests = (state: string): string => countOf('request', `space = tally.space AND state = '${state}'`);

/** What takes the place of a value, where it is neither 0 nor NULL. */
const replacements: Readonly<Record<string, string>> = {
  'space.entries': COUNTED.map((table) => countOf(table, 'space = space.id')).join(' + '),
  'space.is_crawl': countOf('crawl', 'space = space.id'),
  'space.name': `(SELECT coalesce(max(crawl.name), 'unnamed:' || space.id) FROM crawl WHERE crawl.space = space.id)`,
  'crawl.name': '(SELECT space.name FROM space WHERE id = crawl.space)',
  'crawl.control': "'running'",
  'crawl.tunables': `'${JSON.stringify(cautiousTunables)}'`,
  'crawl.starts': "'{}'",
  'crawl.feeds': "'[]'",
  'crawl.epoch': 'abs(random()) % (1 << 47)',
  ...{ 'crawl.began_at': NOW_MS, 'crawl.seen_since': NOW_MS },
  'tally.pending': requests('pending'),
  'tally.suspects': requests('suspect'),
  'tally.delayed': requests('delayed'),
  'tally.leased': requests('leased'),
  'tally.failed': requests('failed'),
  'tally.failed_records': countOf('failure JOIN record USING (n)', 'failure.space = tally.space'),
  'tally.domains': countOf('domain', 'space = tally.space'),
  'tally.tokens': '(SELECT coalesce(max(token), 0) + 1000000 FROM request WHERE space = tally.space)',
  'tally.cookie_version': '(SELECT coalesce(max(version), 0) + 1 FROM cookie_set WHERE space = tally.space)',
  'tally.busy_at': NOW_MS,
  'request.state': "'pending'",
  'request.arrival': `${NOW_MS} * 1000`,
  'record.arrived': `${NOW_MS} * 1000`,
  'seen_state.state': "'done'",
  ...{ 'failure.failed_at': NOW_MS, 'seen_state.at': NOW_MS },
  'dupefilter.count': ['seen', 'seen_timed', 'seen_state', 'seen_compact']
    .map((table) => countOf(table, `${table}.space = dupefilter.space`))
    .join(' + '),
  'feed.last': `(SELECT coalesce(max(sequence), max(feed.written, 0)) FROM outbox WHERE ${OF_FEED})`,
  'feed.written': `(SELECT coalesce(min(sequence) - 1, feed.last) FROM outbox WHERE ${OF_FEED})`,
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: 0 | 1;
  readonly pk: number;
}

/** The condition that a value no verb has written meets; null where any will do. */
function unreadable(table: string, { name, type, notnull }: Column): string | null {
  const held = holds[`${table}.${name}`];
  const isNumber = type === 'INTEGER' || type === 'REAL';
  if (!isNumber && held === undefined) return null;
  const least = held === ANY_SIGN ? Number.MIN_SAFE_INTEGER : 0;
  const bounds = `${name} BETWEEN ${least} AND ${Number.MAX_SAFE_INTEGER}`;
  const isGood = [...(isNumber ? [bounds] : []), ...(held === undefined ? [] : [held])].join(') AND (');
  const isBad = `NOT coalesce((${isGood}), 0)`;
  return notnull === 1 ? isBad : `${name} IS NOT NULL AND ${isBad}`;
}

function columnsOf(sql: Statements, table: string): (Column & { readonly isBad: string })[] {
  const columns = sql.all<Column>`SELECT name, type, "notnull", pk FROM pragma_table_info(${table}, 'main')`;
  return columns.flatMap((column) => {
    const isBad = column.pk > 0 ? null : unreadable(table, column);
    return isBad === null ? [] : [{ ...column, isBad }];
  });
}

/** A lease that no node can settle or give back. */
const STRAY =
  "state = 'leased' AND (token IS NULL OR leased_at IS NULL OR node IS NULL OR node NOT IN (SELECT number FROM node))";

/** Whether a small table holds a value that no verb has written, or a lease is nobody's. */
export function hasUnreadable(sql: Statements): boolean {
  if (sql.column(`SELECT 1 FROM request WHERE ${STRAY} LIMIT 1`).length > 0) return true;
  return small.some((table) => hasUnreadableIn(sql, table));
}

/** Whether a table does. */
export function hasUnreadableIn(sql: Statements, table: string): boolean {
  const conditions = columnsOf(sql, table).map(({ isBad }) => `(${isBad})`);
  return sql.column(`SELECT 1 FROM ${table} WHERE ${conditions.join(' OR ')} LIMIT 1`).length > 0;
}

/** Replace or remove all that no verb has written, and count it in the stats of the crawl with these keys. */
export function mendUnreadable(sql: Statements, keys: FrontierKeys): number {
  sql.of(`DELETE FROM space WHERE NOT ${isShort('name')}`).run();
  const mended = nameSpaces(sql, new Spaces(sql, keys)) + mendTables(sql);
  if (mended > 0) {
    const tx = new Transaction(sql, keys);
    tx.counters.add({ 'store/unreadable': mended });
    tx.counters.finish();
    tx.spaces.finish();
  }
  return mended;
}

/** The same without a count, in a file whose crawls are not known. */
export function mendTables(sql: Statements): number {
  // The rows that others are counted from come first.
  const counts = [...large, ...small].map((table) => [table, mendTable(sql, table)] as const);
  const mended = new Map(counts.filter(([, count]) => count > 0));
  const strays = sql.column<number>(`SELECT count(*) FROM request WHERE ${STRAY}`)[0]!;
  const has = (...tables: readonly string[]) => tables.some((table) => mended.has(table));
  if (strays > 0 || has('request', 'node')) returnLeases(sql);
  if (strays > 0 || has('request', 'node', 'domain')) rebuildDomains(sql);
  if (has('cookie_set', 'cookie_jar')) recountJars(sql);
  return counts.reduce((sum, [, count]) => sum + count, strays);
}

function mendTable(sql: Statements, table: string): number {
  const columns = columnsOf(sql, table);
  if (removed.has(table)) {
    const isBad = columns.map((column) => `(${column.isBad})`).join(' OR ');
    return isBad === '' ? 0 : Number(sql.of(`DELETE FROM ${table} WHERE ${isBad}`).run().changes);
  }
  let mended = 0;
  for (const { name, notnull, isBad } of columns) {
    const value = replacements[`${table}.${name}`] ?? (notnull === 1 ? '0' : 'NULL');
    mended += Number(sql.of(`UPDATE ${table} SET ${name} = ${value} WHERE ${isBad}`).run().changes);
  }
  return mended;
}

/** A lease without its node or its number is none. */
function returnLeases(sql: Statements): void {
  sql.connection.exec(`
    UPDATE request SET state = iif(crashes > 0, 'suspect', 'pending'), node = NULL, token = NULL, leased_at = NULL
      WHERE ${STRAY};
    UPDATE request SET state = 'failed' WHERE state <> 'failed' AND n IN (SELECT n FROM failure);
    UPDATE request SET due = ${NOW_MS} * 1000 WHERE state = 'delayed' AND due IS NULL;
    UPDATE node SET leased = ${countOf('request', "node = number AND state = 'leased'")};
    UPDATE tally SET pending = ${requests('pending')}, suspects = ${requests('suspect')}, delayed = ${requests('delayed')},
      leased = ${requests('leased')}, failed = ${requests('failed')}`);
}

/** Each domain with requests has a row, and its queue and leases are those of its requests. A new row waits for a full delay. */
function rebuildDomains(sql: Statements): void {
  const nowMs = Date.now();
  const missing = sql.all<{ space: number; domain: string }>`
    SELECT DISTINCT space, domain FROM request WHERE state IN ('pending', 'leased')
      AND NOT EXISTS (SELECT 1 FROM domain WHERE domain.space = request.space AND name = request.domain)`;
  for (const { space, domain } of missing) {
    const crawl = readCrawl(sql, space);
    if (crawl === undefined) continue;
    const row = newDomain(space, domain);
    const until = nowMs + Math.ceil(settingsDelayOf(row, crawl));
    writeRow(sql, 'domain', { ...row, state: 'waiting', until, next_at: until, last_at: nowMs });
    // Its robots.txt is read again, as that may ask for a longer delay.
    sql.run`DELETE FROM robots WHERE space = ${space} AND instr(origin, ${domain}) > 0`;
  }
  const first = (column: string): string => `(SELECT ${column} FROM request WHERE request.space = domain.space
    AND request.domain = domain.name AND request.state = 'pending' ORDER BY rank, arrival LIMIT 1)`;
  sql.connection.exec(`
    UPDATE domain SET head_rank = ${first('rank')}, head_arrival = ${first('arrival')},
      active = ${countOf('request', "request.space = domain.space AND request.domain = domain.name AND state = 'leased'")};
    UPDATE domain SET state = 'waiting', until = ${nowMs} WHERE state <> 'waiting' OR until IS NULL;
    UPDATE tally SET domains = ${countOf('domain', 'domain.space = tally.space')}`);
}

function recountJars(sql: Statements): void {
  sql.connection.exec(`
    DELETE FROM cookie_jar;
    INSERT INTO cookie_jar (space, name, version, count)
      SELECT space, jar, max(version), sum(count) FROM cookie_set WHERE count > 0 GROUP BY space, jar`);
}
