/** A node's copy of the crawl's cookies. It is only read by pages; changes come from the store (`CookieNews`). */
import type { CookieNews, StoredCookie } from './stored-cookie.js';

/** One jar of the copy, for the rules of `page-cookies.ts`. */
export interface KnownJar {
  /** The cookies of exactly this domain. */
  of(domain: string): readonly StoredCookie[];
  /** The store's clock. */
  nowMs(): number;
}

export class CookieJars {
  /** The version that this copy has. */
  version = 0;
  readonly #jars = new Map<string, Map<string, readonly StoredCookie[]>>();
  /** How far the store's clock is ahead of ours. */
  #aheadMs = 0;

  /** Take over what has changed. */
  apply({ version, isAnew, nowMs, sets }: CookieNews): void {
    if (isAnew) this.#jars.clear();
    this.version = version;
    this.#aheadMs = nowMs - Date.now();
    for (const { jar, domain, cookies } of sets) {
      const domains = this.#jars.get(jar) ?? new Map<string, readonly StoredCookie[]>();
      if (cookies.length > 0) domains.set(domain, cookies);
      else domains.delete(domain);
      if (domains.size > 0) this.#jars.set(jar, domains);
      else this.#jars.delete(jar);
    }
  }

  /** Whether a jar has any cookie. */
  has(jar: string): boolean {
    return this.#jars.has(jar);
  }

  jar(name: string): KnownJar {
    const domains = this.#jars.get(name);
    return { of: (domain) => domains?.get(domain) ?? [], nowMs: () => Date.now() + this.#aheadMs };
  }
}
