/** What lies beside the requests of a crawl, with checks of its own: dupefilter, outboxes of feeds, cookies. */
import type { SidePart } from '../../care/care-store.js';
import { rebuildJars } from '../cookies/jars.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import { closeGaps, outboxBreaches } from '../feeds/damaged-outboxes.js';

export function sidesOf(batch: CommitBatch): readonly SidePart[] {
  const side = (check: (tx: Transaction) => string[], mend: (tx: Transaction) => void): SidePart => ({
    check: () => batch.read(check),
    mend: () => batch.write(mend),
  });
  return [
    side(fingerprintBreaches, recountFingerprints),
    side(
      ({ sql, spaces }) => outboxBreaches(sql, spaces.feeds.id),
      ({ sql, spaces }) => closeGaps(sql, spaces.feeds.id),
    ),
    side(({ sql, space }) => cookieChecks.flatMap((query) => sql.column<string>(query, space)), rebuildJars),
  ];
}

/** I2: the count of fingerprints is right. */
function fingerprintBreaches(tx: Transaction): string[] {
  const open = tx.dupefilter.open();
  if (open === null && tx.spaces.dupefilter.id !== 0)
    return ['I2: fingerprints are recorded, but not of which class they are'];
  if (open === null) return [];
  const { count } = open;
  const n = open.recount();
  return n === count ? [] : [`I2: ${n} fingerprints are recorded but the counter says ${count}`];
}

/** Nodes must forget the links they know. */
function recountFingerprints(tx: Transaction): void {
  const open = tx.dupefilter.open() ?? tx.dupefilter.begin();
  open.count = open.recount();
  tx.crawl.epoch += 1;
}

/** I4. `?1` is the space of the crawl. */
const cookieChecks: readonly string[] = [
  `SELECT 'I4: the cookie jar "' || name || '" is said to have ' || coalesce(said, 0) || ' cookies and has ' || coalesce(n, 0) FROM (
     SELECT coalesce(jar, cookie_jar.name) AS name, count AS said, n FROM (
       SELECT jar, sum(count) AS n FROM cookie_set WHERE space = ?1 AND count > 0 GROUP BY jar)
     FULL JOIN cookie_jar ON cookie_jar.name = jar AND cookie_jar.space = ?1
     WHERE cookie_jar.space IS NULL OR cookie_jar.space = ?1)
   WHERE said IS NOT n`,
  `SELECT 'I4: the cookies of ' || domain || ' cannot be read, or are not ' || count FROM cookie_set
   WHERE space = ?1 AND CASE WHEN json_valid(cookies) THEN json_array_length(cookies) <> count ELSE 1 END`,
  `SELECT 'I4: the cookies of ' || domain || ' have a version beyond the last one' FROM cookie_set JOIN tally USING (space)
   WHERE space = ?1 AND version > cookie_version`,
];
