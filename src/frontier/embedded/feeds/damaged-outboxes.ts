/** Outboxes that do not agree with the records of their feeds: naming them for doctor, and mending them. */
import type { Statements } from '../file/statements.js';

/** A sentence for each feed of a space whose record does not say what waits in its outbox. */
export function outboxBreaches(sql: Statements, space: number): string[] {
  return sql.column(
    `SELECT 'I4: ' || coalesce(n, 0) || ' items wait for the feed ' || feed || ', and its record says ' || coalesce(last - written, 'none')
     FROM (SELECT feed, count(*) AS n FROM outbox WHERE space = ?1 GROUP BY feed)
       FULL JOIN (SELECT feed, last, written FROM feed WHERE space = ?1) USING (feed)
     WHERE coalesce(n, 0) IS NOT last - written`,
    space,
  );
}

/**
 * Renumber the items of each outbox of a space, since an outbox must have no gaps. Items whose feed has no record get one that
 * has written nothing and names no file.
 */
export function closeGaps(sql: Statements, space: number): void {
  sql.run`DELETE FROM outbox WHERE space = ${space} AND sequence < 1`;
  sql.run`INSERT OR IGNORE INTO feed (space, feed) SELECT DISTINCT space, feed FROM outbox WHERE space = ${space}`;
  // By way of negative numbers, since no two items may have the same one.
  sql.run`UPDATE outbox SET sequence = -place FROM (
      SELECT n AS item, written + row_number() OVER (PARTITION BY feed ORDER BY sequence) AS place
      FROM outbox JOIN feed USING (space, feed) WHERE space = ${space} AND sequence > written)
    WHERE n = item`;
  sql.run`UPDATE outbox SET sequence = -sequence WHERE space = ${space} AND sequence < 0`;
  sql.run`UPDATE feed SET last = written + (SELECT count(*) FROM outbox
    WHERE outbox.space = feed.space AND outbox.feed = feed.feed AND sequence > written) WHERE space = ${space}`;
}
