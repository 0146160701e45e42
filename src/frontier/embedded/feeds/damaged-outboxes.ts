/** Outboxes that do not agree with the records of their feeds: naming them for doctor, and mending them. */
import { type FeedView, feedLosses } from '../../care/care-store.js';
import type { Transaction } from '../base/transaction.js';

/**
 * Also of a feed that the crawl has written to, and that has neither a row nor items. Where the crawl knows of a checkpoint that
 * its row does not have, the row is a new one: a settle begins it where somebody has deleted the other.
 */
export function feedViews({ sql, spaces, crawl }: Transaction): FeedView[] {
  const space = spaces.feeds.id;
  return sql.all<FeedView>`
    SELECT feed, coalesce(n, 0) AS items, coalesce(fitting, 0) AS fits,
      iif(written_bytes IS NULL AND value IS NOT NULL, NULL, last - written) AS said
    FROM (SELECT feed, count(*) AS n, count(*) FILTER (WHERE sequence > written AND sequence <= last) AS fitting
        FROM outbox LEFT JOIN feed USING (space, feed) WHERE space = ${space} GROUP BY feed)
      FULL JOIN (SELECT feed, last, written, written_bytes FROM feed WHERE space = ${space}) USING (feed)
      FULL JOIN (SELECT value AS feed, value FROM json_each(${JSON.stringify(crawl.feeds)})) USING (feed)`;
}

/**
 * Number the items of a damaged outbox anew behind what is written, since an outbox must have no gaps. A feed without a record
 * gets one that has written nothing and names no file. @returns the losses, and the number to count for them: of items, and 1
 * for each record.
 */
export function mendOutboxes(tx: Transaction): { readonly lost: number; readonly losses: string[] } {
  const losses: string[] = [];
  let lost = 0;
  for (const view of feedViews(tx)) {
    const { feed, items, fits, said } = view;
    if (said === items && fits === items) continue;
    lost += said === null ? 1 : Math.max(0, said - fits);
    losses.push(...feedLosses(view));
    if (said === null) tx.sql.run`DELETE FROM feed WHERE space = ${tx.spaces.feeds.id} AND feed = ${feed}`;
    numberAnew(tx, view);
  }
  return { lost, losses };
}

function numberAnew({ sql, spaces, crawl }: Transaction, { feed, items, said }: FeedView): void {
  const space = spaces.feeds.need();
  crawl.feeds = crawl.feeds.filter((name) => name !== feed);
  if (items > 0) sql.run`INSERT OR IGNORE INTO feed (space, feed) VALUES (${space}, ${feed})`;
  sql.run`UPDATE feed SET written = max(written, 0) WHERE space = ${space} AND feed = ${feed}`;
  // The file has those up to the checkpoint: they came back with an older copy. A checkpoint behind the last item proves nothing.
  if (said !== null && said >= 0)
    sql.run`DELETE FROM outbox WHERE space = ${space} AND feed = ${feed}
      AND sequence <= (SELECT written FROM feed WHERE space = ${space} AND feed = ${feed})`;
  // By way of numbers below all others, since no two items may have the same one.
  sql.run`UPDATE outbox SET sequence = lowest - place FROM (
      SELECT n AS item, row_number() OVER (ORDER BY sequence) AS place, min(0, min(sequence) OVER ()) AS lowest
      FROM outbox WHERE space = ${space} AND feed = ${feed})
    WHERE n = item`;
  sql.run`UPDATE outbox SET sequence = written + place FROM (
      SELECT n AS item, written, row_number() OVER (ORDER BY sequence DESC) AS place
      FROM outbox JOIN feed USING (space, feed) WHERE space = ${space} AND feed = ${feed})
    WHERE n = item`;
  sql.run`UPDATE feed SET last = written + (SELECT count(*) FROM outbox WHERE space = ${space} AND feed = ${feed})
    WHERE space = ${space} AND feed = ${feed}`;
}
