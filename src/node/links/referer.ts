/**
 * The Referer header of a link (REFERER_ENABLED), by the rules of the W3C's Referrer Policy. It is part of the stored
 * request, since the record of a request holds no URL of its page.
 */
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';

/** The policies of REFERRER_POLICY, by their standard names. */
export type ReferrerPolicy =
  | 'no-referrer'
  | 'no-referrer-when-downgrade'
  | 'same-origin'
  | 'origin'
  | 'strict-origin'
  | 'origin-when-cross-origin'
  | 'strict-origin-when-cross-origin'
  | 'unsafe-url';

/** The Referer header that a request is stored with. */
export function refererIn(headers: RequestRecord['headers']): string | undefined {
  const name = Object.keys(headers).find((name) => name.toLowerCase() === 'referer');
  return name === undefined ? undefined : [headers[name]].flat()[0];
}

/** The link with its Referer header as it is stored. A request with a Referer header of its own keeps it. */
export function withReferer(request: Request, pageUrl: string, policy: ReferrerPolicy): Request {
  if (refererIn(request.headers) !== undefined) return request;
  const referer = refererOf(pageUrl, request.url, policy);
  return referer === null ? request : request.replace({ headers: { ...request.headers, Referer: referer } });
}

/** The value of the header; null for none. It never holds credentials or a fragment. */
export function refererOf(pageUrl: string, url: string, policy: ReferrerPolicy): string | null {
  const [from, to] = [new URL(pageUrl), new URL(url)];
  const isSameOrigin = from.origin === to.origin;
  const isDowngrade = from.protocol === 'https:' && to.protocol === 'http:';
  const origin = `${from.origin}/`;
  const whole = `${from.origin}${from.pathname}${from.search}`;
  switch (policy) {
    case 'no-referrer':
      return null;
    case 'no-referrer-when-downgrade':
      return isDowngrade ? null : whole;
    case 'same-origin':
      return isSameOrigin ? whole : null;
    case 'origin':
      return origin;
    case 'strict-origin':
      return isDowngrade ? null : origin;
    case 'origin-when-cross-origin':
      return isSameOrigin ? whole : origin;
    case 'strict-origin-when-cross-origin':
      if (isSameOrigin) return whole;
      return isDowngrade ? null : origin;
    case 'unsafe-url':
      return whole;
  }
}
