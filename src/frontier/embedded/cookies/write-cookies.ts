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
  const sets = new ChangedSets(tx);
  for (const change of changes) sets.merge(change);
  sets.write(maxJars);
}

/** Add cookies of a backup. Those that the crawl already has stay as they are. */
export function restoreCookies(tx: Transaction, changes: readonly CookieChange[]): void {
  const sets = new ChangedSets(tx);
  for (const change of changes) if (!sets.has(change)) sets.merge(change);
  sets.write(Number.POSITIVE_INFINITY);
}

/** A set in memory. */
interface OpenSet {
  readonly jar: string;
  readonly domain: string;
  readonly before: readonly StoredCookie[];
  now: readonly StoredCookie[];
  /** As its row says. */
  readonly countBefore: number;
}

class ChangedSets {
  readonly #tx: Transaction;
  readonly #sets = new Map<string, OpenSet>();

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  has(change: CookieChange): boolean {
    return this.#of(change).now.some(({ path, name }) => path === change.path && name === change.name);
  }

  merge(change: CookieChange): void {
    const set = this.#of(change);
    set.now = mergeCookie(set.now, change, this.#tx.wallMs);
  }

  write(maxJars: number): void {
    const changed = [...this.#sets.values()].filter(({ now, before }) => now !== before);
    if (changed.length === 0) return;
    let dropped = 0;
    for (const set of changed) dropped += this.#write(set);
    for (const jar of new Set(changed.map((set) => set.jar))) dropped += dropSetsBeyond(this.#tx, jar);
    dropped += dropJarsBeyond(this.#tx, maxJars);
    forgetRemovals(this.#tx);
    if (dropped > 0) this.#tx.counters.add({ 'cookies/dropped': dropped });
  }

  #of({ jar, domain }: CookieChange): OpenSet {
    const key = `${jar}\0${domain}`;
    const found = this.#sets.get(key) ?? this.#read(jar, domain);
    this.#sets.set(key, found);
    return found;
  }

  #read(jar: string, domain: string): OpenSet {
    const { sql, space } = this.#tx;
    const row = sql.get<{ count: number; cookies: string }>`
      SELECT count, cookies FROM cookie_set WHERE space = ${space} AND jar = ${jar} AND domain = ${domain}`;
    const before = decodeCookies(row?.cookies ?? '');
    return { jar, domain, before, now: before, countBefore: row?.count ?? 0 };
  }

  /** @returns how many cookies were beyond the limit of a domain. */
  #write({ jar, domain, now, countBefore }: OpenSet): number {
    const { sql, space, wallMs } = this.#tx;
    const alive = unexpired(now, wallMs);
    const cookies = withinShares(alive, MAX_COOKIES_PER_DOMAIN);
    const version = nextVersion(this.#tx);
    sql.run`INSERT INTO cookie_set (space, jar, domain, version, count, cookies)
      VALUES (${space}, ${jar}, ${domain}, ${version}, ${cookies.length}, ${encodeCookies(cookies)})
      ON CONFLICT (space, jar, domain) DO UPDATE SET version = excluded.version, count = excluded.count, cookies = excluded.cookies`;
    addToJar(this.#tx, jar, version, cookies.length - countBefore);
    return alive.length - cookies.length;
  }
}
