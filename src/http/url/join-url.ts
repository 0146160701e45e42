/**
 * Joining the links of a page to its URL, by the WHATWG rules. A page has up to hundreds of links and nearly all are
 * plain paths of the same site, for which the answer is a concatenation; whatever is not provably so goes to `URL`.
 * Measured: 0.13 µs a link against 1.1 µs with `new URL` (Node 20).
 */

import { OTHER_PORT, PLAIN_HOST } from './host-patterns.js';
import { parseUrl } from './parse-url.js';

/**
 * What may stand in a path, query and fragment and comes out of the URL parser as it went in: no escaping, no
 * backslash, no TAB or line break, no `%2e` (a dot to the parser). No colon, so that it cannot be a scheme.
 */
const PLAIN_CHARS = '(?:[A-Za-z0-9._~!$&()*+,;=@/-]|%(?!2[eE])[0-9A-Fa-f]{2})*';
const PLAIN_TAIL = new RegExp(`^${PLAIN_CHARS}(?:\\?[A-Za-z0-9._~!$&()*+,;=@/:%?-]*)?$`);
const PLAIN_FRAGMENT = /^[A-Za-z0-9._~!$&()*+,;=@/:%?-]*$/;
const PLAIN_ORIGIN = new RegExp(`^https?://${PLAIN_HOST}(?:${OTHER_PORT})?(?=/)`);
const DOT_SEGMENT = /(?:^|\/)\.\.?(?:\/|$)/;
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:/i;

export interface UrlJoiner {
  /** The absolute http(s) URL of an href; null when it has none: another scheme, or no valid URL. */
  join(href: string): string | null;
  /** As `join`, without the fragment. */
  joinWithoutFragment(href: string): string | null;
}

/** @param base absolute URL; when it is not a valid http(s) one, only absolute hrefs have an answer. */
export function urlJoiner(base: string): UrlJoiner {
  const place = placeOf(base);
  const joinWithoutFragment = (href: string): string | null => {
    const hash = href.indexOf('#');
    const reference = hash === -1 ? href : href.slice(0, hash);
    return (place && joinPlain(reference, place)) ?? withoutFragment(joinSlowly(href, base));
  };
  const join = (href: string): string | null => {
    const hash = href.indexOf('#');
    if (hash === -1) return (place && joinPlain(href, place)) ?? joinSlowly(href, base);
    const fragment = href.slice(hash);
    const plain =
      place && PLAIN_FRAGMENT.test(fragment.slice(1)) ? joinPlain(href.slice(0, hash), place) : null;
    return plain === null ? joinSlowly(href, base) : plain + fragment;
  };
  return { join, joinWithoutFragment };
}

/** Where relative references start from. */
interface Place {
  readonly origin: string;
  /** The URL without fragment: the answer to an empty reference. */
  readonly self: string;
  /** The folder of the page, its parent, …, the root; each with origin and a slash at its end. */
  readonly folders: readonly string[];
}

function placeOf(base: string): Place | null {
  const url = parseUrl(base);
  if (url === null || !isHttp(url)) return null;
  const self = withoutFragment(new URL('', url).href)!;
  const query = self.indexOf('?');
  const page = query === -1 ? self : self.slice(0, query);
  // Not url.origin, which leaves out userinfo; relative references keep it.
  const origin = page.slice(0, page.length - url.pathname.length);
  const folders: string[] = [];
  for (let end = page.lastIndexOf('/'); end >= origin.length; end = page.lastIndexOf('/', end - 1)) {
    folders.push(page.slice(0, end + 1));
  }
  return { origin, self, folders };
}

/** The answer where it is a concatenation; null where it might not be. `href` has no fragment. */
function joinPlain(href: string, place: Place): string | null {
  if (href === '') return place.self;
  const first = href.charCodeAt(0);
  if (first === 0x2f) {
    if (href.charCodeAt(1) === 0x2f || !isPlain(href)) return null;
    return place.origin + href;
  }
  if (first === 0x68 /* h */) {
    const absolute = joinAbsolute(href);
    if (absolute !== null) return absolute;
  }
  if (first === 0x3f /* ? */) return null;
  let up = 0;
  let start = href.startsWith('./') ? 2 : 0;
  while (href.startsWith('../', start)) {
    up += 1;
    start += 3;
  }
  const rest = start === 0 ? href : href.slice(start);
  if (!isPlain(rest)) return null;
  // Above the root is the root.
  return place.folders[Math.min(up, place.folders.length - 1)]! + rest;
}

function joinAbsolute(href: string): string | null {
  const origin = PLAIN_ORIGIN.exec(href)?.[0];
  if (origin === undefined || !isPlain(href.slice(origin.length))) return null;
  return href;
}

function isPlain(pathAndQuery: string): boolean {
  if (!PLAIN_TAIL.test(pathAndQuery)) return false;
  if (!pathAndQuery.includes('.')) return true;
  const query = pathAndQuery.indexOf('?');
  return !DOT_SEGMENT.test(query === -1 ? pathAndQuery : pathAndQuery.slice(0, query));
}

function joinSlowly(href: string, base: string): string | null {
  if (OTHER_SCHEME.test(href)) return null;
  const url = parseUrl(href, base);
  return url !== null && isHttp(url) ? url.href : null;
}

function isHttp(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

function withoutFragment(url: string | null): string | null {
  const hash = url?.indexOf('#') ?? -1;
  return url === null || hash === -1 ? url : url.slice(0, hash);
}
