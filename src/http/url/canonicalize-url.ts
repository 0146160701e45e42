/** The second pass over a URL, when its fingerprint is taken: one spelling for all URLs that mean the same. */
import { quote, quoteField, UNSAFE, unquote, unquoteField } from './percent-encoding.js';
import { PLAIN_URL, safeUrlAsScrapy } from './safe-url.js';
import { joinParts, splitParams, splitUrl } from './url-parts.js';

export interface CanonicalizeOptions {
  /** Keep the fragment, for sites that route by it; dropped by default. */
  readonly keepFragments?: boolean | undefined;
}

/** One field of plain characters, or several: nothing to decode or quote, at most to sort. */
const PLAIN_QUERY = /^[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*(?:&[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*)*$/;

type Field = readonly [name: string, value: string];

/**
 * The canonical form of a URL: an identity, never what goes on the wire. The query's fields are sorted by
 * name, then value, as bytes, blank ones kept (`?b&a=1` → `?a=1&b=`); percent-encoding is made uniform;
 * an empty path becomes `/`; the fragment goes. Dot segments, `//` and default ports stay.
 *
 * Source: w3lib's `canonicalize_url` after `safe_url_string`, as in w3lib's later versions; the query splits on
 * `&` alone. Not WHATWG's rules.
 * @throws InvalidRequestError (`invalid_url`) where `safeUrl` would.
 */
export function canonicalizeUrl(url: string, options: CanonicalizeOptions = {}): string {
  const plain = canonicalizePlainUrl(url);
  if (plain !== null) return plain;
  return canonicalizeSafeUrl(safeUrlAsScrapy(url, { brackets: true }), options.keepFragments);
}

/**
 * The short way, for the bulk of links: a URL in which there is nothing to decode or quote is canonical but for the
 * order of its query. Printable ASCII without `"` and `\`. Measured: 0.1 µs, against 5 µs the long way.
 * @returns null where there is more to do.
 */
export function canonicalizePlainUrl(url: string): string | null {
  const at = url.indexOf('?');
  if (at < 0) return PLAIN_URL.test(url) ? url : null;
  const before = url.slice(0, at);
  const query = url.slice(at + 1);
  if (!PLAIN_QUERY.test(query) || !PLAIN_URL.test(before)) return null;
  return query.includes('&') ? `${before}?${sortPlainFields(query)}` : url;
}

/** As {@link canonicalizeUrl}, for a URL that has passed the first pass already. */
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

/** As `byNameThenValue`, each field in one piece: names of one length are compared together with what follows. */
function byPlainField(a: string, b: string): number {
  const [inA, inB] = [a.indexOf('='), b.indexOf('=')];
  const [x, y] = inA === inB ? [a, b] : [a.slice(0, inA), b.slice(0, inB)];
  return x === y ? 0 : x < y ? -1 : 1;
}

/** Of the query's bytes; `%2F` and `%3F` in a path are not decoded, for a decoded one would mean something else. */
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

/** The host in lower case, the user info as it is, without trailing colons. */
function lowerHost(netloc: string): string {
  const at = netloc.lastIndexOf('@') + 1;
  return netloc.slice(0, at) + netloc.slice(at).toLowerCase().replace(/:+$/, '');
}
