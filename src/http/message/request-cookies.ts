/** Cookies that a spider gives with a request: a map of values, or Scrapy's list of objects. */
import { InvalidRequestError } from '../../errors.js';
import { parseUrl } from '../url/parse-url.js';
import { isToken } from './headers.js';

type CookieValue = string | number | boolean;

/** One cookie of Scrapy's list. */
export interface CookieInput {
  /** The name of the cookie. */
  readonly name: string;
  /** Its value; numbers and booleans become text. */
  readonly value: CookieValue;
  /** The host of the URL or a domain above it: the cookie is also sent to the hosts below. Absent: to the host of the URL alone. */
  readonly domain?: string | undefined;
  /** Absent: the folder of the URL. */
  readonly path?: string | undefined;
  /** Sent over https alone. Absent: if the URL is https. */
  readonly secure?: boolean | undefined;
}

/** Values by name, or Scrapy's list of `{ name, value, domain?, path?, secure? }`. */
export type CookiesInput = Readonly<Record<string, CookieValue>> | readonly CookieInput[];

/** A cookie with a place of its own. */
export interface RequestCookie {
  /** The name of the cookie. */
  readonly name: string;
  /** Its value. */
  readonly value: string;
  /** In lower case; absent for the host of the URL alone. */
  readonly domain?: string;
  /** Absent for the folder of the URL. */
  readonly path?: string;
  /** Whether it is sent over https alone. */
  readonly secure?: boolean;
}

/** The cookies of a request: values by name, or a list where one of them has a domain, a path or `secure`. */
export type RequestCookies = Readonly<Record<string, string>> | readonly RequestCookie[];

/** Wider than `cookie-octet` (RFC 6265 §4.1.1), as sites need it: all but control characters, `;` and non-Latin-1. */
const BAD_VALUE = /[^\x20-\x3a\x3c-\x7e\x80-\xff]/;
const DOMAIN = /^\.?[^\x00-\x20;/:?#@]+$/;
const PATH = /^\/[\x20-\x3a\x3c-\x7e\x80-\xff]*$/;
const MEMBERS = ['name', 'value', 'domain', 'path', 'secure'];

/**
 * The cookies of a request, null for none.
 * @throws InvalidRequestError naming a cookie that cannot be sent
 */
export function checkCookies(input: CookiesInput | null): RequestCookies | null {
  if (input === null) return null;
  if (typeof input !== 'object') throw new InvalidRequestError('cookies is neither an object nor a list.');
  const cookies = Array.isArray(input)
    ? input.map(cookieOf)
    : Object.entries(input).map(([name, value]) => ({ ...named(name), value: checkValue(name, value) }));
  if (cookies.length === 0) return null;
  return cookies.some(hasPlace) ? cookies : valuesByName(cookies);
}

/** The cookies of a request as a list. */
export function listOfCookies(cookies: RequestCookies): readonly RequestCookie[] {
  if (isList(cookies)) return cookies;
  return Object.entries(cookies).map(([name, value]) => ({ name, value }));
}

/** Those of the cookies that belong to a URL, for a request that uses no jar. */
export function cookiesFor(url: string, cookies: RequestCookies): readonly RequestCookie[] {
  if (!isList(cookies)) return listOfCookies(cookies);
  const { hostname = '', pathname = '/', protocol = '' } = parseUrl(url) ?? {};
  return cookies.filter(({ domain, path, secure }) => {
    if (secure === true && protocol !== 'https:') return false;
    if (domain !== undefined && hostname !== domain && !hostname.endsWith(`.${domain}`)) return false;
    return path === undefined || isWithin(pathname, path);
  });
}

/** RFC 6265 §5.1.4. */
function isWithin(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}

function isList(cookies: RequestCookies): cookies is readonly RequestCookie[] {
  return Array.isArray(cookies);
}

function hasPlace({ domain, path, secure }: RequestCookie): boolean {
  return domain !== undefined || path !== undefined || secure !== undefined;
}

function valuesByName(cookies: readonly RequestCookie[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = Object.create(null);
  for (const { name, value } of cookies) values[name] = value;
  return values;
}

function cookieOf(cookie: unknown, i: number): RequestCookie {
  if (typeof cookie !== 'object' || cookie === null) {
    throw new InvalidRequestError(`cookies[${i}] is not an object with name and value.`);
  }
  const { name, value, domain, path, secure } = cookie as Record<string, unknown>;
  const other = Object.keys(cookie).find((member) => !MEMBERS.includes(member));
  if (other !== undefined) {
    throw new InvalidRequestError(`cookies[${i}].${other} is not known; a cookie has ${MEMBERS.join(', ')}.`);
  }
  const checked = named(name);
  return {
    ...{ ...checked, value: checkValue(checked.name, value) },
    ...(domain !== undefined && domain !== null && { domain: checkDomain(domain, i) }),
    ...(path !== undefined && path !== null && { path: checkPath(path, i) }),
    ...(secure !== undefined && secure !== null && { secure: checkSecure(secure, i) }),
  };
}

function named(name: unknown): { readonly name: string } {
  if (typeof name === 'string' && isToken(name)) return { name };
  throw new InvalidRequestError(`cookies has ${JSON.stringify(name)}, which is no cookie name.`);
}

function checkValue(name: string, value: unknown): string {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text !== 'string') throw new InvalidRequestError(`cookies.${name} is not text.`);
  if (BAD_VALUE.test(text)) {
    throw new InvalidRequestError(`cookies.${name} has a character that a cookie cannot carry.`);
  }
  return text;
}

/** In lower case, without the dot that older rules put before it. */
function checkDomain(domain: unknown, i: number): string {
  if (typeof domain === 'string' && DOMAIN.test(domain)) return domain.replace(/^\./, '').toLowerCase();
  throw new InvalidRequestError(`cookies[${i}].domain is ${JSON.stringify(domain)}, which is no host name.`);
}

function checkPath(path: unknown, i: number): string {
  if (typeof path === 'string' && PATH.test(path)) return path;
  throw new InvalidRequestError(
    `cookies[${i}].path is ${JSON.stringify(path)}; it must be a path that begins with /.`,
  );
}

function checkSecure(secure: unknown, i: number): boolean {
  if (typeof secure === 'boolean') return secure;
  throw new InvalidRequestError(`cookies[${i}].secure is ${JSON.stringify(secure)}, neither true nor false.`);
}
