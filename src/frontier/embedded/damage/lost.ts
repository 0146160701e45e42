/** What is known to be lost of a damaged file: its counters, where they could be read, against what was saved. */
import type { Dupefilter } from '../../frontier.js';
import type { Statements } from '../file/statements.js';

/** @returns a sentence for each thing; a crawl and its lists are called by their keys. */
export function countLost(sql: Statements): string[] {
  const isNameless = sql.get`SELECT 1 FROM space WHERE name IS NOT NULL` === undefined;
  if (isNameless) return ['everything that it held: not even the names of its crawls could be read'];
  return [
    ...lostRequests(sql),
    ...lostRecords(sql),
    ...lostFingerprints(sql),
    ...lostEntries(sql),
    ...lostNames(sql),
  ];
}

function lostRequests(sql: Statements): string[] {
  const crawls = sql.all<{ name: string; expected: number | null; found: number; isKnown: number }>`
    SELECT name, pending + suspects + delayed + leased + failed AS expected,
      (SELECT count(*) FROM request WHERE request.space = space.id) AS found, crawl.space IS NOT NULL AS isKnown
    FROM space LEFT JOIN tally ON tally.space = space.id LEFT JOIN crawl ON crawl.space = space.id
    WHERE is_crawl = 1 AND name IS NOT NULL`;
  return crawls.flatMap(({ name, expected, found, isKnown }) => [
    ...(isKnown === 1 ? [] : [`${name}: what its nodes agreed on, and how its run stood`]),
    ...(expected === null ? [`${name}: its counters, so that lost requests cannot be counted`] : []),
    ...missing(name, 'live requests', expected ?? found, found),
  ]);
}

function lostRecords(sql: Statements): string[] {
  const bare = sql.all<{ name: string; n: number }>`
    SELECT name, count(*) AS n FROM request LEFT JOIN record USING (n) JOIN space ON space.id = request.space
    WHERE state <> 'failed' AND record.n IS NULL AND name IS NOT NULL GROUP BY name`;
  const lone = sql.get<{
    n: number;
  }>`SELECT count(*) AS n FROM record WHERE n NOT IN (SELECT n FROM request)`!.n;
  return [
    ...bare.map(({ name, n }) => `${name}: ${n} live requests whose records are lost`),
    ...(lone === 0 ? [] : [`${lone} records whose requests are lost`]),
  ];
}

const tableOf: Readonly<Record<Dupefilter['class'], string>> = {
  RFPDupeFilter: 'seen',
  TimedRFPDupeFilter: 'seen_timed',
  StateDupeFilter: 'seen_state',
  CompactDupeFilter: 'seen_compact',
  BloomDupeFilter: 'seen_bloom',
};

function lostFingerprints(sql: Statements): string[] {
  const known = sql.all<{ space: number; name: string; choice: string; count: number }>`
    SELECT space, name, choice, count FROM dupefilter JOIN space ON id = dupefilter.space WHERE name IS NOT NULL`;
  const said = known.flatMap(({ space, name, choice, count }) => {
    const { class: filter } = JSON.parse(choice) as Dupefilter;
    // Its bits do not tell how many fingerprints they stand for.
    if (filter === 'BloomDupeFilter') return [];
    return missing(name, 'fingerprints', count, countIn(sql, tableOf[filter], space));
  });
  const unknown = Object.values(tableOf).flatMap(
    (table) =>
      sql
        .of(
          `SELECT DISTINCT name FROM ${table} AS t JOIN space ON space.id = t.space WHERE t.space NOT IN (SELECT space FROM dupefilter)`,
        )
        .all() as { name: string | null }[],
  );
  return [
    ...said,
    ...unknown.flatMap(({ name }) => (name === null ? [] : [`${name}: of which class it is`])),
  ];
}

/** Lists, counters and what waits for files. */
function lostEntries(sql: Statements): string[] {
  const lists = sql.all<{ id: number; name: string; entries: number }>`
    SELECT id, name, entries FROM space WHERE entries > 0 AND name IS NOT NULL`;
  const said = lists.flatMap(({ id, name, entries }) => {
    const found = ['item', 'seed', 'bad_seed', 'counter'].reduce(
      (sum, table) => sum + countIn(sql, table, id),
      0,
    );
    return missing(name, 'entries', entries, found);
  });
  const feeds = sql.all<{ path: string; expected: number; found: number }>`
    SELECT path, last - coalesce(written, 0) AS expected, (
      SELECT count(*) FROM outbox WHERE outbox.space = feed.space AND outbox.feed = feed.feed
      AND sequence > coalesce(written, 0)) AS found FROM feed`;
  return [
    ...said,
    ...feeds.flatMap(({ path, expected, found }) =>
      missing(path, 'items that waited for it', expected, found),
    ),
  ];
}

/** Rows under a key whose name nobody knows any more. */
function lostNames(sql: Statements): string[] {
  return ['request', 'item', 'seed', 'outbox', ...Object.values(tableOf)].flatMap((table) => {
    const { n } = sql
      .of(`SELECT count(*) AS n FROM ${table} WHERE space NOT IN (SELECT id FROM space)`)
      .get() as { n: number };
    return n === 0 ? [] : [`the name of the key that ${n} rows of the table ${table} belong to`];
  });
}

function countIn(sql: Statements, table: string, space: number): number {
  return (sql.of(`SELECT count(*) AS n FROM ${table} WHERE space = ?`).get(space) as { n: number }).n;
}

function missing(name: string, noun: string, expected: number, found: number): string[] {
  return found >= expected ? [] : [`${name}: ${expected - found} of ${expected} ${noun}`];
}
