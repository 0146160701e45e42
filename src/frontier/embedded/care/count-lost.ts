/** Counts the known losses of a damaged file by comparing its readable counters with the saved rows. */
import { classOf, dupefilterNames } from '../../dupefilter-classes.js';
import type { Statements } from '../file/statements.js';

/** @returns a sentence for each loss; a crawl and its lists are named by their keys. */
export function countLost(sql: Statements): string[] {
  const isNameless = sql.get`SELECT 1 FROM space WHERE name IS NOT NULL` === undefined;
  if (isNameless) return ['everything that it held: not even the names of its crawls could be read'];
  return queries.flatMap((query) => sql.column<string>(query));
}

/** The table of each class of dupefilter. */
const tables = dupefilterNames.map((name) => [name, classOf({ class: name }).table] as const);
const seenTables = [...new Set(tables.map(([, table]) => table))];

/** Bits are not counted: they do not tell how many fingerprints they stand for. */
const countable = tables.filter(([, table]) => table !== 'seen_bloom');

const crawls = `space LEFT JOIN tally ON tally.space = space.id LEFT JOIN crawl ON crawl.space = space.id
  WHERE is_crawl = 1 AND name IS NOT NULL`;

/** Each returns a sentence a row. */
const queries: readonly string[] = [
  `SELECT name || ': what its nodes agreed on, and how its run stood' FROM ${crawls} AND crawl.space IS NULL`,
  `SELECT name || ': its counters, so that lost requests cannot be counted' FROM ${crawls} AND tally.space IS NULL`,
  missing(
    'live requests',
    `SELECT name, pending + suspects + delayed + leased + failed AS expected,
       (SELECT count(*) FROM (SELECT n FROM request WHERE request.space = space.id UNION SELECT n FROM record WHERE record.space = space.id)) AS found FROM ${crawls}`,
  ),

  `SELECT name || ': ' || count(*) || ' live requests whose records are lost'
   FROM request LEFT JOIN record USING (n, space, id) JOIN space ON space.id = request.space
   WHERE state <> 'failed' AND record.n IS NULL AND name IS NOT NULL GROUP BY name`,

  ...countable.map(([filter, table]) =>
    missing(
      'fingerprints',
      `SELECT name, count AS expected, (SELECT count(*) FROM ${table} AS t WHERE t.space = dupefilter.space) AS found
       FROM dupefilter JOIN space ON id = dupefilter.space
       WHERE name IS NOT NULL AND choice ->> 'class' = '${filter}'`,
    ),
  ),
  ...seenTables.map(withoutClass),

  missing(
    'entries',
    `SELECT name, entries AS expected, ${['item', 'seed', 'bad_seed', 'counter']
      .map((table) => `(SELECT count(*) FROM ${table} WHERE ${table}.space = space.id)`)
      .join(' + ')} AS found FROM space WHERE name IS NOT NULL`,
  ),
  missing(
    'items that waited for it',
    `SELECT path AS name, last - written AS expected, (
       SELECT count(*) FROM outbox WHERE outbox.space = feed.space AND outbox.feed = feed.feed
       AND sequence > written) AS found FROM feed`,
  ),

  ...['request', 'item', 'seed', 'outbox', ...seenTables].map(withoutName),
];

function withoutClass(table: string): string {
  return `SELECT DISTINCT name || ': of which class it is' FROM ${table} AS t JOIN space ON space.id = t.space
    WHERE name IS NOT NULL AND t.space NOT IN (SELECT space FROM dupefilter)`;
}

function withoutName(table: string): string {
  return `SELECT 'the name of the key that ' || count(*) || ' rows of the table ${table} belong to' FROM ${table}
    WHERE space NOT IN (SELECT id FROM space) HAVING count(*) > 0`;
}

/** @param counts a query for rows of `name`, `expected` and `found`. */
function missing(noun: string, counts: string): string {
  return `SELECT name || ': ' || (expected - found) || ' of ' || expected || ' ${noun}' FROM (${counts}) WHERE found < expected`;
}
