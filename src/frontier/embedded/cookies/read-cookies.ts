/** Reading the cookies that have changed since a version. */
import { type CookieNews, type CookieSet, decodeCookies } from '../../../http/cookies/stored-cookie.js';
import { MAX_COOKIE_CHARS, MAX_COOKIE_SETS } from '../../types/limits.js';
import type { Transaction } from '../base/transaction.js';

/** The sets that have changed since the version `known`; null when none has. @param readAnewAt as in `Frontier.cookies`. */
export function cookiesSince(tx: Transaction, known: number, readAnewAt = known): CookieNews | null {
  if (!tx.hasCrawl) return null;
  const { cookie_version, cookie_floor } = tx.tally;
  if (known === cookie_version) return null;
  const isAnew = known > cookie_version || (known > 0 && readAnewAt < cookie_floor);
  let version = isAnew ? 0 : known;
  const rows = tx.sql.all<{ jar: string; domain: string; version: number; cookies: string }>`
    SELECT jar, domain, version, cookies FROM cookie_set
    WHERE space = ${tx.space} AND version > ${version} ORDER BY version LIMIT ${MAX_COOKIE_SETS + 1}`;
  const sets: CookieSet[] = [];
  let chars = 0;
  for (const row of rows) {
    chars += row.cookies.length;
    if (sets.length === MAX_COOKIE_SETS || (sets.length > 0 && chars > MAX_COOKIE_CHARS)) {
      return { version, latest: cookie_version, isAnew, nowMs: tx.wallMs, sets };
    }
    const { jar, domain, cookies } = row;
    sets.push({ jar, domain, cookies: decodeCookies(cookies) });
    version = row.version;
  }
  return { version: cookie_version, latest: cookie_version, isAnew, nowMs: tx.wallMs, sets };
}
