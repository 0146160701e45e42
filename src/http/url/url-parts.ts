/**
 * Splits and joins URLs by the rules of Python's `urllib.parse` (3.11), which Scrapy's fingerprints depend on. WHATWG's
 * parser is not used: it resolves dot segments, removes default ports and re-encodes hosts, which would change
 * fingerprints.
 */
import { isIPv6 } from 'node:net';
import { InvalidRequestError } from '../../errors.js';

/** A URL in five parts. A missing part is empty. The `params` are still in the path. */
export interface UrlParts {
  /** Lower case, without the colon. */
  readonly scheme: string;
  /** User info, host and port, as written. */
  readonly netloc: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

/** WHATWG's special schemes: in these a backslash is a slash, and an apostrophe in a query is quoted. */
const SPECIAL_SCHEMES = new Set(['ftp', 'file', 'http', 'https', 'ws', 'wss']);
/** `urllib.parse.uses_relative`, `uses_netloc` and `uses_params`. */
const RELATIVE_SCHEMES = new Set(
  ' ftp http gopher nntp imap wais file https shttp mms prospero rtsp rtspu sftp svn svn+ssh ws wss'.split(
    ' ',
  ),
);
const NETLOC_SCHEMES = new Set(
  [...RELATIVE_SCHEMES]
    .concat('telnet snews rsync nfs git git+ssh'.split(' '))
    .filter((scheme) => scheme !== ''),
);
const PARAMS_SCHEMES = new Set(
  ' ftp hdl prospero http imap https shttp rtsp rtspu sip sips mms sftp tel'.split(' '),
);

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const NOT_ASCII = /[^\0-\x7f]/;

/** @returns true for http, https, ws, wss, ftp and file. */
export function isSpecialScheme(scheme: string): boolean {
  return SPECIAL_SCHEMES.has(scheme);
}

/**
 * Python's `urlsplit`.
 * @throws InvalidRequestError (`invalid_url`) for brackets that hold no IPv6 address, and for a host whose
 * compatibility form holds a delimiter (`example／.com`).
 */
export function splitUrl(url: string): UrlParts {
  const found = SCHEME.exec(url);
  const scheme = found ? (found[1] as string).toLowerCase() : '';
  let rest = found ? url.slice(found[0].length) : url;
  let netloc = '';
  if (rest.startsWith('//')) {
    const length = rest.slice(2).search(/[/?#]/);
    const end = length < 0 ? rest.length : length + 2;
    netloc = rest.slice(2, end);
    rest = rest.slice(end);
    checkNetloc(netloc, url);
  }
  const [beforeFragment, fragment] = cut(rest, '#');
  const [path, query] = cut(beforeFragment, '?');
  return { scheme, netloc, path, query, fragment };
}

/** Python's `urlunsplit` (3.12): an empty query or fragment is left out, and a path after a host begins with a slash. */
export function joinParts({ scheme, netloc, path, query, fragment }: UrlParts): string {
  let url = path;
  if (netloc !== '') url = `//${netloc}${path === '' || path.startsWith('/') ? '' : '/'}${path}`;
  else if (path.startsWith('//')) url = `//${path}`;
  else if (NETLOC_SCHEMES.has(scheme) && (path === '' || path.startsWith('/'))) url = `//${path}`;
  if (scheme !== '') url = `${scheme}:${url}`;
  if (query !== '') url += `?${query}`;
  if (fragment !== '') url += `#${fragment}`;
  return url;
}

/** Python's `_splitparams`: `params` follow the first `;` of the path's last segment, in schemes that have them. */
export function splitParams({ scheme, path }: UrlParts): readonly [path: string, params: string] {
  if (!PARAMS_SCHEMES.has(scheme) || !path.includes(';')) return [path, ''];
  const at = path.indexOf(';', path.lastIndexOf('/') + 1);
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}

/**
 * Python's `urljoin`: resolves `url`, possibly relative, against `base`. Unlike RFC 3986 it keeps the dot segments of a
 * `url` that has a host, and removes empty segments when it merges paths.
 * @throws InvalidRequestError as {@link splitUrl} does.
 */
export function joinUrl(base: string, url: string): string {
  if (base === '') return url;
  if (url === '') return base;
  const from = splitUrl(base);
  const own = splitUrl(url);
  const scheme = own.scheme === '' ? from.scheme : own.scheme;
  const target = { ...own, scheme };
  if (scheme !== from.scheme || !RELATIVE_SCHEMES.has(scheme)) return url;
  if (own.netloc !== '') return joinParts({ ...target, path: withoutEmptyParams(target) });
  const [path, params] = splitParams(target);
  if (path === '' && params === '') {
    const query = own.query === '' ? from.query : own.query;
    return joinParts({ ...target, netloc: from.netloc, path: withoutEmptyParams(from), query });
  }
  const merged = mergePaths(splitParams(from)[0], path);
  return joinParts({ ...target, netloc: from.netloc, path: params === '' ? merged : `${merged};${params}` });
}

function cut(text: string, delimiter: string): [before: string, after: string] {
  const at = text.indexOf(delimiter);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function withoutEmptyParams(parts: UrlParts): string {
  const [path, params] = splitParams(parts);
  return params === '' ? path : parts.path;
}

function mergePaths(basePath: string, path: string): string {
  let segments = path.split('/');
  if (!path.startsWith('/')) {
    const folder = basePath.split('/');
    if (folder.at(-1) !== '') folder.pop();
    const all = [...folder, ...segments];
    segments = all.filter((segment, index) => index === 0 || index >= all.length - 1 || segment !== '');
  }
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === '..') resolved.pop();
    else if (segment !== '.') resolved.push(segment);
  }
  const last = segments.at(-1);
  if (last === '.' || last === '..') resolved.push('');
  return resolved.join('/') || '/';
}

function checkNetloc(netloc: string, url: string): void {
  if (netloc.includes('[') || netloc.includes(']')) checkBrackets(netloc, url);
  if (!NOT_ASCII.test(netloc)) return;
  const plain = netloc.replace(/[@:#?]/g, '');
  const compatible = plain.normalize('NFKC');
  // The backslash is not in Python's list. Browsers and later versions of w3lib read it as a slash.
  if (compatible !== plain && /[/?#@:\\]/.test(compatible)) {
    throw invalidUrl(url, 'its host holds a character that stands for a delimiter');
  }
}

function checkBrackets(netloc: string, url: string): void {
  const host = /^\[([^\]]*)\](?::|$)/.exec(netloc.slice(netloc.lastIndexOf('@') + 1))?.[1];
  const future = host?.startsWith('v') && /^v[a-fA-F0-9]+\../s.test(host);
  if (host === undefined || !(future || isIPv6(host))) {
    throw invalidUrl(url, 'what its brackets hold is no IPv6 address');
  }
}

/** The error for an invalid URL. The message masks the user info. */
export function invalidUrl(url: string, why: string): InvalidRequestError {
  const masked = url.replace(/([/\\]{2})[^?#]*@/, '$1***@');
  const shown = masked.length > 200 ? `${masked.slice(0, 200)}…` : masked;
  return new InvalidRequestError(`Invalid URL ${JSON.stringify(shown)}: ${why}`, { code: 'invalid_url' });
}
