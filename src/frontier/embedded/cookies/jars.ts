/** Counts of the jars, and what is dropped beyond their limits. */
import { MAX_COOKIES_PER_JAR } from '../../../http/cookies/stored-cookie.js';
import { MAX_REMOVED_COOKIES } from '../../types/limits.js';

import type { Transaction } from '../base/transaction.js';

export function nextVersion({ tally }: Transaction): number {
  tally.cookie_version += 1;
  return tally.cookie_version;
}

/** Count cookies that a jar has gained or lost. A jar without cookies has no row. */
export function addToJar({ sql, space }: Transaction, jar: string, version: number, gained: number): void {
  sql.run`INSERT INTO cookie_jar (space, name, version, count) VALUES (${space}, ${jar}, ${version}, ${gained})
    ON CONFLICT (space, name) DO UPDATE SET version = excluded.version, count = count + excluded.count`;
  sql.run`DELETE FROM cookie_jar WHERE space = ${space} AND name = ${jar} AND count <= 0`;
}

/** Drop the sets of a full jar that were changed least recently. @returns how many cookies went with them. */
export function dropSetsBeyond(tx: Transaction, jar: string): number {
  const { sql, space } = tx;
  const row = sql.get<{
    count: number;
  }>`SELECT count FROM cookie_jar WHERE space = ${space} AND name = ${jar}`;
  const count = row?.count ?? 0;
  if (count <= MAX_COOKIES_PER_JAR) return 0;
  // A tenth at once, as the search for the oldest sets takes time.
  const dropped = dropSets(tx, jar, count - 0.9 * MAX_COOKIES_PER_JAR);
  addToJar(tx, jar, tx.tally.cookie_version, -dropped);
  return dropped;
}

/** Drop the jars that were changed least recently. @returns how many cookies went with them. */
export function dropJarsBeyond(tx: Transaction, maxJars: number): number {
  const { sql, space } = tx;
  const { n } = sql.get<{ n: number }>`SELECT count(*) AS n FROM cookie_jar WHERE space = ${space}`!;
  if (n <= maxJars) return 0;
  const oldest = sql.all<{ name: string }>`
    SELECT name FROM cookie_jar WHERE space = ${space} ORDER BY version LIMIT ${n - maxJars}`;
  let dropped = 0;
  for (const { name } of oldest) {
    dropped += dropSets(tx, name, Number.POSITIVE_INFINITY);
    sql.run`DELETE FROM cookie_jar WHERE space = ${space} AND name = ${name}`;
  }
  return dropped;
}

/** Forget the oldest removals when there are too many. */
export function forgetRemovals({ sql, space, tally }: Transaction): void {
  const { n } = sql.get<{ n: number }>`
    SELECT count(*) AS n FROM cookie_set WHERE space = ${space} AND count = 0`!;
  if (n <= MAX_REMOVED_COOKIES) return;
  const forgotten = sql.all<{ version: number }>`
    SELECT version FROM cookie_set WHERE space = ${space} AND count = 0 ORDER BY version LIMIT ${n - MAX_REMOVED_COOKIES / 2}`;
  tally.cookie_floor = Math.max(tally.cookie_floor, forgotten.at(-1)!.version);
  sql.run`DELETE FROM cookie_set WHERE space = ${space} AND count = 0 AND version <= ${tally.cookie_floor}`;
}

/** Drop sets of a jar, oldest change first, until so many cookies are gone. @returns how many are. */
function dropSets(tx: Transaction, jar: string, wanted: number): number {
  const { sql, space } = tx;
  const sets = sql.all<{ n: number; count: number }>`
    SELECT n, count FROM cookie_set WHERE space = ${space} AND jar = ${jar} AND count > 0 ORDER BY version`;
  let gone = 0;
  for (const { n, count } of sets) {
    if (gone >= wanted) break;
    sql.run`UPDATE cookie_set SET version = ${nextVersion(tx)}, count = 0, cookies = '[]' WHERE n = ${n}`;
    gone += count;
  }
  return gone;
}
