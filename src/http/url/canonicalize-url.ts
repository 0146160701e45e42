/** The canonical form of a URL, which its fingerprint is computed from: equivalent URLs get the same spelling. */
import { quote, quoteField, UNSAFE, unquote, unquoteField } from './percent-encoding.js';
import { PLAIN_URL, safeUrlAsScrapy } from './safe-url.js';
import { joinParts, splitParams, splitUrl } from './url-parts.js';

export interface CanonicalizeOptions {
  /** Keep the fragment, for sites that route by it; dropped by default. */
  readonly keepFragments?: boolean | undefined;
}

/** A query of plain characters: its fields need no decoding or quoting, only sorting. */
const PLAIN_QUERY = /^[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*(?:&[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*)*$/;

type Field = readonly [name: string, value: string];

/**
 * The canonical form of a URL. It identifies a request and is never sent. The fields of the query are sorted by name,
 * then by value, as bytes; fields without a value are kept (`?b&a=1` → `?a=1&b=`). Percent-encoding is made uniform. An
 * empty path becomes `/`. The fragment is removed. Dot segments, `//` and default ports stay.
 *
 * Source: w3lib's `canonicalize_url` after `safe_url_string`, as in w3lib's later versions. Only `&` separates fields.
 * These are not WHATWG's rules.
 * @throws InvalidRequestError (`invalid_url`) where `safeUrl` would.
 */
export function canonicalizeUrl(url: string, options: CanonicalizeOptions = {}): string {
  const plain = canonicalizePlainUrl(url);
  if (plain !== null) return plain;
  return canonicalizeSafeUrl(safeUrlAsScrapy(url, { brackets: true }), options.keepFragments);
}

/**
 * The fast path, which serves most links. In a URL that needs no decoding or quoting only the query has to be sorted.
 * The result is printable ASCII without `"` and `\`.
 * @returns null when the URL needs the full algorithm.
 */
export function canonicalizePlainUrl(url: string): string | null {
  const at = url.indexOf('?');
  if (at < 0) return PLAIN_URL.test(url) ? url : null;
  const before = url.slice(0, at);
  const query = url.slice(at + 1);
  if (!PLAIN_QUERY.test(query) || !PLAIN_URL.test(before)) return null;
  return query.includes('&') ? `${before}?${sortPlainFields(query)}` : url;
}

/** As {@link canonicalizeUrl}, for a URL that `safeUrlAsScrapy` has already escaped. */
export function canonicalizeSafeUrl(safe: string, keepFragments = false): string {
  const parts = splitUrl(safe);
  const [path, params] = splitParams(parts);
  const canonicalPath = quote(unquotePath(path), UNSAFE.canonicalPath) || '/';
  return joinParts({
    scheme: parts.scheme,
    netloc: lowerHost(parts.netloc),
    path: params === '' ? canonicalPath : `${canonicalPath};${params}`,
    query: canonicalQuery(parts.query),
    fragment: keepFragments ? parts.fragment : '',
  });
}

function sortPlainFields(query: string): string {
  let before = '';
  for (let from = 0; from <= query.length; from += before.length + 1) {
    const to = query.indexOf('&', from);
    const field = query.slice(from, to < 0 ? query.length : to);
    if (byPlainField(before, field) > 0) return query.split('&').sort(byPlainField).join('&');
    before = field;
  }
  return query;
}

/** As `byNameThenValue`, for unsplit fields. When the names have the same length, the whole fields are compared at once. */
function byPlainField(a: string, b: string): number {
  const [inA, inB] = [a.indexOf('='), b.indexOf('=')];
  const [x, y] = inA === inB ? [a, b] : [a.slice(0, inA), b.slice(0, inB)];
  return x === y ? 0 : x < y ? -1 : 1;
}

/** `%2F` and `%3F` are not decoded: a decoded slash or question mark would change the meaning of the path. */
function unquotePath(path: string): string {
  return path.includes('%')
    ? unquote(path.replace(/%(2f|3f)/gi, (found) => `%25${found.slice(1).toUpperCase()}`))
    : path;
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  const fields: Field[] = [];
  for (const field of query.split('&')) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    if (equals < 0) fields.push([unquoteField(field), '']);
    else fields.push([unquoteField(field.slice(0, equals)), unquoteField(field.slice(equals + 1))]);
  }
  if (fields.length > 1) fields.sort(byNameThenValue);
  return joinFields(fields.map(([name, value]): Field => [quoteField(name), quoteField(value)]));
}

function byNameThenValue(a: Field, b: Field): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  if (a[1] === b[1]) return 0;
  return a[1] < b[1] ? -1 : 1;
}

function joinFields(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `${name}=${value}`).join('&');
}

/** Lower-cases the host and removes trailing colons. The user info is unchanged. */
function lowerHost(netloc: string): string {
  const at = netloc.lastIndexOf('@') + 1;
  return netloc.slice(0, at) + netloc.slice(at).toLowerCase().replace(/:+$/, '');
}
