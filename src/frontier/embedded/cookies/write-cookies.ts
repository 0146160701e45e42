/** Committing changes of cookies: each changed set is written once, with a new version, within the limits. */
import {
  type CookieChange,
  decodeCookies,
  encodeCookies,
  MAX_COOKIES_PER_DOMAIN,
  type StoredCookie,
} from '../../../http/cookies/stored-cookie.js';
import type { Transaction } from '../base/transaction.js';
import { addToJar, dropJarsBeyond, dropSetsBeyond, forgetRemovals, nextVersion } from './jars.js';
import { mergeCookie, unexpired, withinShares } from './merge-cookie.js';

/** Commit changes, in order. Beyond the limits the cookies changed least recently are dropped, and counted. */
export function commitCookies(tx: Transaction, changes: readonly CookieChange[], maxJars: number): void {
  const jars = new Set<string>();
  let dropped = 0;
  for (const group of bySet(changes)) {
    const { jar } = group[0]!;
    const beyond = changeSet(tx, group);
    if (beyond === null) continue;
    dropped += beyond;
    jars.add(jar);
  }
  if (jars.size === 0) return;
  for (const jar of jars) dropped += dropSetsBeyond(tx, jar);
  dropped += dropJarsBeyond(tx, maxJars);
  forgetRemovals(tx);
  if (dropped > 0) tx.counters.add({ 'cookies/dropped': dropped });
}

/** Add cookies of a backup. Those that the crawl already has stay as they are. */
export function restoreCookies(tx: Transaction, changes: readonly CookieChange[]): void {
  const added = bySet(changes).flatMap((group) => {
    const { cookies } = readSet(tx, group[0]!);
    const has = ({ path, name }: CookieChange) =>
      cookies.some((one) => one.path === path && one.name === name);
    return group.filter((change) => !has(change));
  });
  commitCookies(tx, added, Number.POSITIVE_INFINITY);
}

/** Changes of the same jar and domain together, in order. */
function bySet(changes: readonly CookieChange[]): CookieChange[][] {
  const groups = new Map<string, CookieChange[]>();
  for (const change of changes) {
    const key = `${change.jar}\0${change.domain}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  return [...groups.values()];
}

/** The cookies of a set, and how many they are as its row says. */
function readSet({ sql, space }: Transaction, { jar, domain }: CookieChange) {
  const row = sql.get<{ count: number; cookies: string }>`
    SELECT count, cookies FROM cookie_set WHERE space = ${space} AND jar = ${jar} AND domain = ${domain}`;
  return { cookies: decodeCookies(row?.cookies ?? ''), count: row?.count ?? 0 };
}

/** Change one set. @returns how many of its cookies were beyond the limit of a domain; null where it stays as it was. */
function changeSet(tx: Transaction, changes: readonly CookieChange[]): number | null {
  const { sql, space, wallMs } = tx;
  const { jar, domain } = changes[0]!;
  const { cookies: before, count } = readSet(tx, changes[0]!);
  const now = changes.reduce<readonly StoredCookie[]>(
    (found, each) => mergeCookie(found, each, wallMs),
    before,
  );
  if (now === before) return null;
  const alive = unexpired(now, wallMs);
  const cookies = withinShares(alive, MAX_COOKIES_PER_DOMAIN);
  const version = nextVersion(tx);
  sql.run`INSERT INTO cookie_set (space, jar, domain, version, count, cookies)
    VALUES (${space}, ${jar}, ${domain}, ${version}, ${cookies.length}, ${encodeCookies(cookies)})
    ON CONFLICT (space, jar, domain) DO UPDATE SET version = excluded.version, count = excluded.count, cookies = excluded.cookies`;
  addToJar(tx, jar, version, cookies.length - count);
  return alive.length - cookies.length;
}
