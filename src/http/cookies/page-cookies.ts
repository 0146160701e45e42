/**
 * The cookies of one page: which ones go with its request, and which ones its response sets. The rules are those of RFC 6265
 * with the public suffix list, by tough-cookie. That package takes about 0.1 s and 11 MB to load, so import this file lazily.
 */
import { type Callback, Cookie, CookieJar, type ErrorCallback, type Nullable, Store } from 'tough-cookie';
import { messageOf } from '../../errors.js';
import { listOfCookies, type RequestCookies } from '../message/request-cookies.js';
import type { KnownJar } from './cookie-jars.js';
import { type CookieChange, isSendable, MAX_COOKIE_BYTES, type StoredCookie } from './stored-cookie.js';

/** The longest lifetime of a cookie: 400 days, as in browsers (RFC 6265bis §5.5). */
const MAX_LIFETIME_MS = 400 * 86_400_000;
/** Longer attributes are ignored with their cookie (RFC 6265bis §5.6 allows 1,024). */
const MAX_PATH = 1_024;
/** Changes of one page. Node accepts 16 KB of headers, so only a hostile page has more. */
const MAX_CHANGES = 200;
/** A cookie that is only renewed is not written again before this share of its lifetime has passed. */
const RENEWED_AFTER = 0.1;

/** A Set-Cookie header, or a cookie of a request, that was not taken, and why. */
export interface RefusedCookie {
  readonly header: string;
  readonly why: string;
}

/** The Cookie header of a request, and how many cookies it has no room for. */
export interface CookieHeader {
  readonly text: string;
  readonly leftOut: number;
}

const SEPARATOR = '; ';

export class PageCookies {
  readonly #name: string;
  readonly #known: KnownJar;
  readonly #url: string;
  readonly #changed = new ChangedCookies();
  readonly #jar: CookieJar;

  /** @param jar the name of its jar. @param url of the request. */
  constructor(jar: string, known: KnownJar, url: string) {
    this.#name = jar;
    this.#known = known;
    this.#url = url;
    this.#jar = new CookieJar(new PageStore(known, this.#changed));
  }

  /**
   * Put the cookies of a request into the jar. Without a domain they are for the very host; without `secure`, those of an https
   * URL are sent over https alone. @returns those that were refused, such as for another domain
   */
  give(cookies: RequestCookies): RefusedCookie[] {
    const refused: RefusedCookie[] = [];
    for (const { name: key, value, domain, path, secure } of listOfCookies(cookies)) {
      const place = { ...(domain !== undefined && { domain }), ...(path !== undefined && { path }) };
      const isSecure = secure ?? this.#url.startsWith('https:');
      const why = this.#set(new Cookie({ key, value, secure: isSecure, ...place }));
      if (why !== null) refused.push({ header: `${key}=${value}`, why });
    }
    return refused;
  }

  /**
   * The Cookie header of the request; '' for none. Where the cookies are more than `maxBytes` together, the largest are left
   * out first; 0 is no limit.
   */
  header(maxBytes: number): CookieHeader {
    const cookies = this.#jar.getCookiesSync(this.#url, { expire: false, sort: true });
    const texts = cookies.map((cookie) => cookie.cookieString());
    const header = texts.join(SEPARATOR);
    if (maxBytes === 0 || header.length <= maxBytes) return { text: header, leftOut: 0 };
    let bytes = header.length;
    const leftOut = new Set<string>();
    for (const text of texts.toSorted((a, b) => b.length - a.length)) {
      if (bytes <= maxBytes) break;
      leftOut.add(text);
      bytes -= text.length + SEPARATOR.length;
    }
    return { text: texts.filter((text) => !leftOut.has(text)).join(SEPARATOR), leftOut: leftOut.size };
  }

  /** Take the Set-Cookie headers of the response. @returns those that were refused. */
  receive(headers: readonly string[]): RefusedCookie[] {
    const refused: RefusedCookie[] = [];
    for (const header of headers) {
      const why = this.#set(header);
      if (why !== null) refused.push({ header, why });
    }
    return refused;
  }

  /** What is to be committed with the page. */
  changes(): CookieChange[] {
    const nowMs = this.#known.nowMs();
    return this.#changed.all().flatMap((cookie) => {
      const change = { ...changeOf(this.#name, cookie, nowMs), ...this.#setBy(cookie) };
      if (change.text !== null && !isSendable({ ...change, text: change.text })) return [];
      const before = this.#known.of(change.domain).find((stored) => isSame(stored, change));
      return isNews(before, change, nowMs) ? [change] : [];
    });
  }

  /** Empty where the host of the page is the domain of the cookie. */
  #setBy({ domain, hostOnly }: Cookie): Pick<CookieChange, 'setBy'> {
    const host = new URL(this.#url).hostname;
    return hostOnly === true || host === domain ? {} : { setBy: host };
  }

  /** @returns why it was refused; null when it was taken. */
  #set(given: string | Cookie): string | null {
    const cookie = typeof given === 'string' ? Cookie.parse(given) : given;
    if (cookie === undefined || cookie.key === '') return 'it is no cookie';
    if (cookie.key.length + cookie.value.length > MAX_COOKIE_BYTES)
      return `it is larger than ${MAX_COOKIE_BYTES} bytes`;
    if ((cookie.path?.length ?? 0) > MAX_PATH) return `its path is longer than ${MAX_PATH} characters`;
    if (this.#changed.size >= MAX_CHANGES) return `the page has set ${MAX_CHANGES} cookies already`;
    try {
      const isTaken = this.#jar.setCookieSync(cookie, this.#url) !== undefined;
      return isTaken ? null : 'the prefix of its name asks for other attributes';
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** Whether a change is worth a write. A removal of an unknown cookie is not, nor a cookie that is the same as before. */
function isNews(before: StoredCookie | undefined, change: CookieChange, nowMs: number): boolean {
  if (change.text === null || before === undefined) return (change.text === null) === (before !== undefined);
  if (before.text !== change.text) return true;
  const expiresAtMs =
    change.expiresInMs === undefined ? (change.expiresAtMs ?? null) : nowMs + change.expiresInMs;
  if (expiresAtMs === null || before.expiresAtMs === null) return expiresAtMs !== before.expiresAtMs;
  return Math.abs(expiresAtMs - before.expiresAtMs) > RENEWED_AFTER * (expiresAtMs - nowMs);
}

const isSame = (a: Pick<StoredCookie, 'path' | 'name'>, b: Pick<StoredCookie, 'path' | 'name'>): boolean =>
  a.path === b.path && a.name === b.name;

function changeOf(jar: string, cookie: Cookie, nowMs: number): CookieChange {
  const { domain, path, key: name, value, hostOnly, secure } = cookie;
  const place = { jar, domain: domain ?? '', path: path ?? '/', name };
  const lifetime = lifetimeOf(cookie, nowMs);
  if (lifetime === 'over') return { ...place, text: null };
  return { ...place, text: `${hostOnly === true ? 'h' : ''}${secure ? 's' : ''}=${value}`, ...lifetime };
}

/** Max-Age goes before Expires (RFC 6265 §5.3). */
function lifetimeOf(
  { maxAge, expires }: Cookie,
  nowMs: number,
): 'over' | Pick<CookieChange, 'expiresInMs' | 'expiresAtMs'> {
  if (maxAge !== null) {
    const seconds = Number(maxAge);
    if (!(seconds > 0)) return 'over';
    return { expiresInMs: Math.min(Math.round(seconds * 1_000), MAX_LIFETIME_MS) };
  }
  if (!(expires instanceof Date)) return {};
  const atMs = Math.min(expires.getTime(), nowMs + MAX_LIFETIME_MS);
  return atMs > nowMs ? { expiresAtMs: atMs } : 'over';
}

/** The cookies that a page has set so far, also those that it removed. */
class ChangedCookies {
  readonly #cookies = new Map<string, Cookie>();

  get size(): number {
    return this.#cookies.size;
  }

  set(cookie: Cookie): void {
    this.#cookies.set(keyOf(cookie.domain, cookie.path, cookie.key), cookie);
  }

  get(domain: Nullable<string>, path: Nullable<string>, key: Nullable<string>): Cookie | undefined {
    return this.#cookies.get(keyOf(domain, path, key));
  }

  all(): Cookie[] {
    return [...this.#cookies.values()];
  }
}

const keyOf = (domain: Nullable<string>, path: Nullable<string>, key: Nullable<string>): string =>
  `${domain}\0${path}\0${key}`;

/** What tough-cookie reads and writes: the known cookies of the jar, and over them what the page has changed. */
class PageStore extends Store {
  override synchronous = true;
  readonly #known: KnownJar;
  readonly #changed: ChangedCookies;

  constructor(known: KnownJar, changed: ChangedCookies) {
    super();
    this.#known = known;
    this.#changed = changed;
  }

  override findCookie(
    domain: Nullable<string>,
    path: Nullable<string>,
    key: Nullable<string>,
    callback?: Callback<Cookie | undefined>,
  ): Promise<Cookie | undefined> {
    const found =
      this.#changed.get(domain, path, key) ??
      this.#stored(domain ?? '').find((cookie) => cookie.path === path && cookie.key === key);
    callback?.(null, found);
    return Promise.resolve(found);
  }

  /** Those of the host and its parent domains. tough-cookie leaves out what does not match. */
  override findCookies(
    domain: Nullable<string>,
    _path: Nullable<string>,
    _allowSpecialUseDomain?: boolean,
    callback?: Callback<Cookie[]>,
  ): Promise<Cookie[]> {
    const nowMs = this.#known.nowMs();
    const unchanged = domainsOf(domain ?? '')
      .flatMap((one) => this.#stored(one))
      .filter((cookie) => this.#changed.get(cookie.domain, cookie.path, cookie.key) === undefined);
    const changed = this.#changed.all().filter((cookie) => lifetimeOf(cookie, nowMs) !== 'over');
    const found = [...unchanged, ...changed];
    callback?.(null, found);
    return Promise.resolve(found);
  }

  override putCookie(cookie: Cookie, callback?: ErrorCallback): Promise<void> {
    this.#changed.set(cookie);
    callback?.(null);
    return Promise.resolve();
  }

  override updateCookie(_old: Cookie, cookie: Cookie, callback?: ErrorCallback): Promise<void> {
    return this.putCookie(cookie, callback);
  }

  /** The cookies of a domain that have not expired on the store's clock. */
  #stored(domain: string): Cookie[] {
    const nowMs = this.#known.nowMs();
    return this.#known
      .of(domain)
      .filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs)
      .map((stored) => cookieOf(domain, stored));
  }
}

/** `a.b.example.com`, `b.example.com`, `example.com`, `com`. */
function domainsOf(host: string): string[] {
  const labels = host.split('.');
  return labels.map((_, n) => labels.slice(n).join('.'));
}

/** Made once. Cookies of one instant are sent in the order in which they were made. */
const cookies = new WeakMap<StoredCookie, Cookie>();

function cookieOf(domain: string, stored: StoredCookie): Cookie {
  const found = cookies.get(stored);
  if (found !== undefined) return found;
  const { path, name: key, text } = stored;
  const at = text.indexOf('=');
  const flags = text.slice(0, at);
  const attributes = { domain, path, hostOnly: flags.includes('h'), secure: flags.includes('s') };
  const cookie = new Cookie({ key, value: text.slice(at + 1), creation: new Date(0), ...attributes });
  cookies.set(stored, cookie);
  return cookie;
}
