/** Cookies that a spider gives with a request: a map of values, or Scrapy's list. */
import { InvalidRequestError } from '../../errors.js';
import { isToken } from './headers.js';

type CookieValue = string | number | boolean;

/** Values by name, or Scrapy's list of `{ name, value }`. */
export type CookiesInput =
  | Readonly<Record<string, CookieValue>>
  | readonly { readonly name: string; readonly value: CookieValue }[];

/** Wider than `cookie-octet` (RFC 6265 §4.1.1), as sites need it: all but control characters, `;` and non-Latin-1. */
const BAD_VALUE = /[^\x20-\x3a\x3c-\x7e\x80-\xff]/;

/**
 * Cookies as a flat map, null for none.
 * @throws InvalidRequestError naming a cookie that cannot be sent
 */
export function checkCookies(input: CookiesInput | null): Readonly<Record<string, string>> | null {
  if (input === null) return null;
  if (typeof input !== 'object') throw new InvalidRequestError('cookies is neither an object nor a list.');
  const pairs: Iterable<readonly [unknown, unknown]> = Array.isArray(input)
    ? input.map((cookie, i) => pairOf(cookie, i))
    : Object.entries(input);
  const cookies: Record<string, string> = Object.create(null);
  let any = false;
  for (const [name, value] of pairs) {
    if (typeof name !== 'string' || !isToken(name)) {
      throw new InvalidRequestError(`cookies has ${JSON.stringify(name)}, which is no cookie name.`);
    }
    cookies[name] = checkValue(name, value);
    any = true;
  }
  return any ? cookies : null;
}

function pairOf(cookie: unknown, i: number): readonly [unknown, unknown] {
  if (typeof cookie !== 'object' || cookie === null) {
    throw new InvalidRequestError(`cookies[${i}] is not an object with name and value.`);
  }
  const { name, value, ...rest } = cookie as Record<string, unknown>;
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    throw new InvalidRequestError(
      `cookies[${i}].${other} is not supported: a cookie given with a request goes to the host of its URL.`,
    );
  }
  return [name, value];
}

function checkValue(name: string, value: unknown): string {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text !== 'string') throw new InvalidRequestError(`cookies.${name} is not text.`);
  if (BAD_VALUE.test(text)) {
    throw new InvalidRequestError(`cookies.${name} has a character that a cookie cannot carry.`);
  }
  return text;
}
