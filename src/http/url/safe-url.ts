/** Escapes the URL of a new request: characters that cannot be sent are quoted. */
import { domainToASCII } from 'node:url';
import { PLAIN_HOST, PLAIN_PORT } from './host-patterns.js';
import { idna2003 } from './idna.js';
import { quote, UNSAFE, unquote, utf8Bytes } from './percent-encoding.js';
import { invalidUrl, isSpecialScheme, joinParts, splitUrl, type UrlParts } from './url-parts.js';

/** A URL that neither `safeUrl` nor `canonicalizeUrl` changes: lower-case ASCII host, plain path, no query or fragment. */
export const PLAIN_URL = new RegExp(
  `^https?://[a-z0-9._-]+(?:${PLAIN_PORT})?/[A-Za-z0-9_.~:/@!$&'()*+,=-]*$`,
);
/** A URL that `safeUrl` does not change and any client can fetch. Unlike `PLAIN_URL` it may have a query and fragment. */
export const SAFE_URL = new RegExp(
  `^https?://${PLAIN_HOST}(?:${PLAIN_PORT})?/[A-Za-z0-9_.~:/@!$&'()*+,;=%-]*` +
    "(?:\\?[A-Za-z0-9_.~:/?@!$&()*+,;=%-]+)?(?:#[A-Za-z0-9_.~:/?@!$&'()*+,;=%-]+)?$",
);

const NOT_ASCII = /[^\0-\x7f]/;
const ENDS = /^[\0-\x20]+|[\0-\x20]+$/g;
const TAB_OR_NEWLINE = /[\t\n\r]/g;

/**
 * The URL as it is sent. C0 controls and spaces at its ends are removed, and TAB, CR and LF everywhere. User info is
 * decoded and quoted again. The host becomes lower-case ASCII. An empty port is removed; any other becomes a plain
 * number. Path, query and fragment are quoted; existing escapes are kept. Relative URLs and other schemes are accepted.
 * Calling it again changes nothing.
 *
 * Source: w3lib's `safe_url_string`, with one difference. A host with letters that IDNA 2003 maps to others
 * (`straße.de`) is encoded as browsers do (UTS 46): Python's result `strasse.de` may belong to another owner.
 * {@link safeUrlAsScrapy} follows Python, for fingerprints.
 * @throws InvalidRequestError (`invalid_url`): lone surrogates, a port that is no number up to 65,535, bad brackets.
 */
export function safeUrl(url: string): string {
  if (PLAIN_URL.test(url)) return url;
  return makeSafe(url, asciiHostOf, bracketed);
}

/**
 * The URL as Scrapy escapes it, with hosts by IDNA 2003. Fingerprints and canonical forms are computed from it.
 * @param brackets false removes the brackets of an IPv6 address, as earlier w3lib does.
 * @throws InvalidRequestError as {@link safeUrl} does.
 */
export function safeUrlAsScrapy(url: string, { brackets }: { readonly brackets: boolean }): string {
  return makeSafe(url, idna2003, brackets ? bracketed : bare);
}

/** An ASCII host is unchanged: `domainToASCII` would also decode `%41` and rewrite `0x7f.1`. */
function asciiHostOf(host: string): string {
  return NOT_ASCII.test(host) ? domainToASCII(host) || idna2003(host) : host;
}

function makeSafe(url: string, toAscii: (host: string) => string, address: (ip: string) => string): string {
  const foreign = NOT_ASCII.test(url);
  if (foreign && /\p{Surrogate}/u.test(url)) throw invalidUrl(url, 'it holds half a surrogate pair');
  const parts = splitUrl(slashesOf(url.replace(ENDS, '').replace(TAB_OR_NEWLINE, '')));
  return joinParts({
    scheme: parts.scheme,
    netloc: safeNetloc(parts, url, toAscii, address),
    path: quote(utf8Bytes(parts.path), UNSAFE.safest),
    query: quote(utf8Bytes(parts.query), isSpecialScheme(parts.scheme) ? UNSAFE.specialQuery : UNSAFE.safest),
    fragment: quote(utf8Bytes(parts.fragment), UNSAFE.safest),
  });
}

/** In special schemes a backslash before the query is a slash (WHATWG URL, "path state"; later w3lib). */
function slashesOf(url: string): string {
  if (!url.includes('\\')) return url;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(url)?.[0].toLowerCase() ?? '';
  if (!isSpecialScheme(scheme)) return url;
  const end = url.search(/[?#]/);
  return end < 0 ? url.replaceAll('\\', '/') : url.slice(0, end).replaceAll('\\', '/') + url.slice(end);
}

function safeNetloc(
  { netloc }: UrlParts,
  url: string,
  toAscii: (host: string) => string,
  address: (ip: string) => string,
): string {
  if (/^[a-z0-9._-]*$/.test(netloc)) return netloc;
  const at = netloc.lastIndexOf('@');
  const userinfo = at < 0 ? '' : `${safeUserinfo(netloc.slice(0, at))}@`;
  const { host, port } = splitHost(netloc.slice(at + 1));
  const lower = lowerHost(host);
  const ascii = lower.includes(':') ? address(lower) : toAscii(lower);
  return `${userinfo}${ascii}${safePort(port, url)}`;
}

function safeUserinfo(userinfo: string): string {
  const colon = userinfo.indexOf(':');
  const [user, password] = colon < 0 ? [userinfo] : [userinfo.slice(0, colon), userinfo.slice(colon + 1)];
  const safe = (text: string) => quote(unquote(utf8Bytes(text)), UNSAFE.userinfo);
  return password === undefined ? safe(user as string) : `${safe(user as string)}:${safe(password)}`;
}

function splitHost(text: string): { host: string; port: string } {
  const open = text.indexOf('[');
  const close = text.indexOf(']', open);
  const start = open < 0 ? 0 : close;
  const colon = text.indexOf(':', start);
  const host = colon < 0 ? text : text.slice(0, colon);
  return {
    host: open < 0 ? host : text.slice(open + 1, close),
    port: colon < 0 ? '' : text.slice(colon + 1),
  };
}

/** Lower case up to a `%`: what follows is the zone of an IPv6 address, which keeps its case. */
function lowerHost(host: string): string {
  const zone = host.indexOf('%');
  return zone < 0 ? host.toLowerCase() : host.slice(0, zone).toLowerCase() + host.slice(zone);
}

function safePort(port: string, url: string): string {
  if (port === '') return '';
  if (!/^[0-9]+$/.test(port)) throw invalidUrl(url, 'its port is no number');
  if (Number(port) > 65_535) throw invalidUrl(url, `its port ${port} is greater than 65535`);
  return `:${Number(port)}`;
}

function bracketed(ip: string): string {
  return `[${ip}]`;
}

function bare(ip: string): string {
  return ip;
}
