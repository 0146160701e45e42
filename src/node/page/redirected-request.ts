/** What a redirect makes of a request: method and body by the fetch standard, secrets kept within their origin. */
import type { JsonObject, RequestRecord } from '../../http/message/record/request-record.js';

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that describe a body, dropped together with it (fetch standard, "request-body-header name"). */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
  'transfer-encoding',
]);
/** The only request headers that follow to another origin: they do not identify the user. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
]);

/** True for the statuses that point elsewhere with a Location. */
export function isRedirect(status: number): boolean {
  return REDIRECT_STATUSES.has(status);
}

/**
 * The request that a redirect asks for, as plain data: one more hop, attempts anew, all else inherited.
 * 301 and 302 turn POST into GET, 303 everything but GET and HEAD; 307 and 308 keep method and body.
 * To another origin Authorization, Cookie, cookies and custom headers stay behind.
 * @returns null when the Location is no http(s) URL.
 */
export function redirected(record: RequestRecord, status: number, location: string): RequestRecord | null {
  const from = new URL(record.url);
  const to = resolveLocation(location, from);
  if (to === null) return null;

  const asGet = becomesGet(status, record.method);
  const sameOrigin = from.origin === to.origin;
  const headers = Object.entries(record.headers).filter(([name]) => {
    const lower = name.toLowerCase();
    if (asGet && BODY_HEADERS.has(lower)) return false;
    return sameOrigin || HARMLESS_HEADERS.has(lower) || BODY_HEADERS.has(lower);
  });
  const { lenient: _, ...inherited } = record;
  return {
    ...inherited,
    url: to.href,
    method: asGet ? 'GET' : record.method,
    headers: Object.fromEntries(headers),
    body: asGet ? null : record.body,
    cookies: sameOrigin ? record.cookies : null,
    meta: withHistory(record),
    attempts: 0,
    redirects: record.redirects + 1,
  };
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

/**
 * Where a Location leads; null when that is no http(s) URL. Node hands header bytes over as latin1; servers that send a raw
 * IRI mean UTF-8. The fragment is inherited.
 */
export function resolveLocation(location: string, from: URL): URL | null {
  try {
    const to = new URL(Buffer.from(location, 'latin1').toString('utf8'), from);
    if (to.protocol !== 'http:' && to.protocol !== 'https:') return null;
    if (to.hash === '' && from.hash !== '') to.hash = from.hash;
    return to;
  } catch {
    return null;
  }
}

/** Scrapy's `meta.redirect_urls`: where the request has been, oldest first. */
function withHistory(record: RequestRecord): JsonObject {
  const earlier = Array.isArray(record.meta.redirect_urls) ? record.meta.redirect_urls : [];
  return { ...record.meta, redirect_urls: [...earlier, record.url] };
}
