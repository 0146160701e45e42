/** Repair of the cookies: counts and versions are rebuilt from the sets. */
import { decodeCookies, encodeCookies } from '../../../http/cookies/stored-cookie.js';
import type { Transaction } from '../crawl/transaction.js';
import { addToJar, nextVersion } from './cookie-limits.js';

/** Leave out what cannot be read, and give every set a new version, so that all nodes read them anew. */
export function rebuildJars(tx: Transaction): void {
  const { sql, space, tally } = tx;
  const sets = sql.all<{ n: number; jar: string; version: number; cookies: string }>`
    SELECT n, jar, version, cookies FROM cookie_set WHERE space = ${space} ORDER BY version`;
  sql.run`DELETE FROM cookie_jar WHERE space = ${space}`;
  tally.cookie_version = Math.max(tally.cookie_version, sets.at(-1)?.version ?? 0);
  for (const { n, jar, cookies: text } of sets) {
    const cookies = decodeCookies(text);
    const version = nextVersion(tx);
    sql.run`UPDATE cookie_set SET version = ${version}, count = ${cookies.length}, cookies = ${encodeCookies(cookies)}
      WHERE n = ${n}`;
    addToJar(tx, jar, version, cookies.length);
  }
  tally.cookie_floor = tally.cookie_version;
}
