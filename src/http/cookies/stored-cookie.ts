/**
 * Cookies as the crawl stores them. A *jar* is a session (`meta.cookiejar`; '' is the default one). The cookies of one jar
 * and one domain are a *set*: the store gives each set a new version when it changes, and nodes read whole sets.
 */

/** A cookie of a set. Its identity within the set is path and name. */
export interface StoredCookie {
  readonly path: string;
  readonly name: string;
  /** Flags, `=` and the value. Flags: `h` for the very host of the domain only, `s` for https only. */
  readonly text: string;
  /** On the store's clock. Null for a cookie without an expiry, which lasts as long as the crawl. */
  readonly expiresAtMs: number | null;
  /** The host that set it, where that is a subdomain of its domain. */
  readonly setBy?: string;
}

/** The cookies of one jar and domain, in the order of their creation; none when they were removed. */
export interface CookieSet {
  readonly jar: string;
  readonly domain: string;
  readonly cookies: readonly StoredCookie[];
}

/** A cookie that a page has set or removed. */
export interface CookieChange {
  readonly jar: string;
  readonly domain: string;
  readonly path: string;
  readonly name: string;
  /** As `StoredCookie.text`; null removes the cookie. */
  readonly text: string | null;
  /** The lifetime by Max-Age, counted from the commit. */
  readonly expiresInMs?: number;
  /** The instant by Expires. */
  readonly expiresAtMs?: number;
  /** As `StoredCookie.setBy`. */
  readonly setBy?: string;
}

/** The sets that have changed since a version. */
export interface CookieNews {
  /** The version that these changes lead to; the next call names it. */
  readonly version: number;
  /** Forget all sets known so far: the changes since the named version are not known any more. */
  readonly isAnew: boolean;
  /** The version of the crawl. While it is above `version` there are more changes: ask again. */
  readonly latest: number;
  /** The store's clock. */
  readonly nowMs: number;
  readonly sets: readonly CookieSet[];
}

/**
 * Limits of the store. Beyond them the cookies changed least recently are dropped, of a domain those of the host that has set
 * the most. RFC 6265 §6.1 asks for 50 and 3,000.
 */
export const MAX_COOKIES_PER_DOMAIN = 50;
export const MAX_COOKIES_PER_JAR = 3_000;
/** Bytes of name and value. */
export const MAX_COOKIE_BYTES = 4_096;
/** Characters of a name of a jar. */
export const MAX_JAR_NAME = 256;

/** What a Cookie header can carry: no control characters, no `;`. Checked, since other programs can write to the store. */
const SOUND_TEXT = /^[hs]{0,2}=[\x20-\x3a\x3c-\x7e\x80-\xff]*$/;
const SOUND_NAME = /^[\x20-\x3a\x3c\x3e-\x7e\x80-\xff]*$/;
const SOUND_PATH = /^\/[^\x00-\x1f\x7f]*$/;

/** Whether a header can carry the cookie. */
export function isSendable({ path, name, text }: Pick<StoredCookie, 'path' | 'name' | 'text'>): boolean {
  return SOUND_PATH.test(path) && SOUND_NAME.test(name) && SOUND_TEXT.test(text);
}

/** The stored form of a set: JSON of `[path, name, text, expiry or 0]` for each cookie, and `setBy` where it has one. */
export function encodeCookies(cookies: readonly StoredCookie[]): string {
  return JSON.stringify(
    cookies.map(({ path, name, text, expiresAtMs, setBy }) => {
      const values = [path, name, text, expiresAtMs ?? 0];
      return setBy === undefined ? values : [...values, setBy];
    }),
  );
}

/** Reads the stored form of a set. Cookies that could not be sent are left out; '' has none. */
export function decodeCookies(text: string): StoredCookie[] {
  const values = text === '' ? [] : parsed(text);
  if (!Array.isArray(values)) return [];
  return values.flatMap((value) => {
    if (!Array.isArray(value)) return [];
    const [path, name, text, expiry, setBy] = value as unknown[];
    if (typeof path !== 'string' || typeof name !== 'string' || typeof text !== 'string') return [];
    if (typeof expiry !== 'number' || !isSendable({ path, name, text })) return [];
    const cookie = { path, name, text, expiresAtMs: expiry === 0 ? null : expiry };
    return [typeof setBy === 'string' ? { ...cookie, setBy } : cookie];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
