/**
 * Joins the links of a page to its URL, by the WHATWG rules. A page may have hundreds of links, and nearly all are plain
 * paths of the same site. Such a path is only concatenated, which is much faster; all other links go to `URL`.
 */
import { TooComplexError } from '../node-budget.js';
import { OTHER_PORT, PLAIN_HOST } from './host-patterns.js';
import { parseUrl } from './parse-url.js';

/**
 * Characters that the URL parser leaves unchanged in a path, query and fragment. `%2e` is excluded, since the parser
 * reads it as a dot. A colon is excluded, since the text before it could be a scheme.
 */
const PLAIN_CHARS = '(?:[A-Za-z0-9._~!$&()*+,;=@/-]|%(?!2[eE])[0-9A-Fa-f]{2})*';
const PLAIN_TAIL = new RegExp(`^${PLAIN_CHARS}(?:\\?[A-Za-z0-9._~!$&()*+,;=@/:%?-]*)?$`);
const PLAIN_FRAGMENT = /^[A-Za-z0-9._~!$&()*+,;=@/:%?-]*$/;
const PLAIN_ORIGIN = new RegExp(`^https?://${PLAIN_HOST}(?:${OTHER_PORT})?(?=/)`);
const DOT_SEGMENT = /(?:^|\/)\.\.?(?:\/|$)/;
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:/i;

/** A longer href is not joined: the expressions of this file would need more stack than there is. No server takes such a URL. */
const MAX_HREF_CHARS = 64 * 1024;

/** Such as `data:` of an image within its page. */
const MAX_OTHER_CHARS = 8_000_000;

/** The URLs of a page together. A long `<base href>` would make megabytes of each of its links. */
const MAX_JOINED_CHARS = 64 * 1024 * 1024;

/** @throws TooComplexError in either, when the URLs of the page are too long together. */
export interface UrlJoiner {
  /** The absolute http(s) URL of an href; null when it has none: another scheme, no valid URL, or longer than 64 KiB. */
  join(href: string): string | null;
  /** As `join`, without the fragment. */
  joinWithoutFragment(href: string): string | null;
}

/** Whether an href is too long for a URL. */
export function isTooLong(href: string): boolean {
  return href.length > (OTHER_SCHEME.test(href) ? MAX_OTHER_CHARS : MAX_HREF_CHARS);
}

/** @param base an absolute URL; when it is not a valid http(s) URL, only absolute hrefs can be joined. */
export function urlJoiner(base: string): UrlJoiner {
  const baseParts = basePartsOf(base);
  let left = MAX_JOINED_CHARS;
  const counted = (url: string | null): string | null => {
    left -= url?.length ?? 0;
    if (left >= 0) return url;
    throw new TooComplexError(
      'too_complex',
      'the URLs of the links of the page have more than 64 MB together',
    );
  };
  const joinWithoutFragment = (href: string): string | null => {
    if (href.length > MAX_HREF_CHARS) return null;
    const hash = href.indexOf('#');
    const reference = hash === -1 ? href : href.slice(0, hash);
    return counted((baseParts && joinPlain(reference, baseParts)) ?? withoutFragment(joinSlowly(href, base)));
  };
  const join = (href: string): string | null => {
    if (href.length > MAX_HREF_CHARS) return null;
    const hash = href.indexOf('#');
    if (hash === -1) return counted((baseParts && joinPlain(href, baseParts)) ?? joinSlowly(href, base));
    const fragment = href.slice(hash);
    const plain =
      baseParts && PLAIN_FRAGMENT.test(fragment.slice(1)) ? joinPlain(href.slice(0, hash), baseParts) : null;
    return counted(plain === null ? joinSlowly(href, base) : plain + fragment);
  };
  return { join, joinWithoutFragment };
}

/** The parts of a base URL that relative references are appended to. */
interface BaseParts {
  readonly origin: string;
  /** The URL without fragment: the result for an empty reference. */
  readonly self: string;
  /** The folder of the page, its parent, …, the root; each with origin and a slash at its end. */
  readonly folders: readonly string[];
}

function basePartsOf(base: string): BaseParts | null {
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

/** Joins by concatenation; null when that might not give the correct result. `href` has no fragment. */
function joinPlain(href: string, baseParts: BaseParts): string | null {
  if (href === '') return baseParts.self;
  const first = href.charCodeAt(0);
  if (first === 0x2f) {
    if (href.charCodeAt(1) === 0x2f || !isPlain(href)) return null;
    return baseParts.origin + href;
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
  // `..` at the root stays at the root.
  return baseParts.folders[Math.min(up, baseParts.folders.length - 1)]! + rest;
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
