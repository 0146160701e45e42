/** Checked headers of requests and responses, in objects without prototype, so that `__proto__` is an ordinary name. */
import { InvalidRequestError } from '../../errors.js';

/** Headers by name; a list for a repeated one. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The headers option of a request: an object, `Headers` or a Map. Numbers become text, undefined values are left out. */
export type HeadersInput =
  | Readonly<Record<string, HeaderValue>>
  | (Iterable<readonly [string, HeaderValue]> & { readonly length?: never });

type HeaderValue = string | number | readonly string[] | undefined;

/** RFC 9110 §5.6.2 `token`: names of methods, headers and cookies. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Characters that Node refuses in a header value: control characters except TAB, and all beyond Latin-1. */
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

export const noHeaders: Headers = Object.freeze(Object.create(null));

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * The headers of a request, with names as given.
 * @throws InvalidRequestError naming a header that cannot be sent, such as one with a line break in its value
 */
export function checkHeaders(input: HeadersInput): Headers {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InvalidRequestError('headers is not an object of names and values.');
  }
  const headers: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, value] of Symbol.iterator in input ? input : Object.entries(input)) {
    if (value === undefined) continue;
    if (!isToken(name))
      throw new InvalidRequestError(`headers has ${JSON.stringify(name)}, which is no header name.`);
    headers[name] = Array.isArray(value)
      ? value.map((one) => checkValue(name, one))
      : checkValue(name, value);
  }
  return headers;
}

function checkValue(name: string, value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') throw new InvalidRequestError(`headers.${name} is not text.`);
  if (BAD_VALUE.test(text)) {
    throw new InvalidRequestError(
      `headers.${name} has a line break or another character that a header cannot carry.`,
    );
  }
  return text;
}

/** The headers of a response with lower-case names. Values of names that differ only in case are joined in a list. */
export function lowerCaseHeaders(
  input: Readonly<Record<string, string | readonly string[] | undefined>>,
): Headers {
  const headers: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    const before = headers[lower];
    headers[lower] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

/** The value of a header by its lower-case name. For a repeated header, its first value. */
export function headerOf(headers: Headers, name: string): string | null {
  const value = headers[name];
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}
