/** `<meta http-equiv="refresh">`: the page that an HTML page leads to, which is followed like a redirect, as in Scrapy. */
import { isAscii } from 'node:buffer';
import { metaRefresh } from '../../http/markup/meta-refresh.js';
import { HEAD_CHARACTERS } from '../../http/markup/page-head.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { Response } from '../../http/message/response.js';
import type { MetaRefreshOptions } from '../node-options.js';

/** Bytes that hold the characters that are looked at, whatever the charset. */
const HEAD_BYTES = 16_384;
const ESC = 0x1b;
/** Also in UTF-16. Most pages have none, and are not decoded. */
const MAY_REFRESH = /r\0?e\0?f\0?r\0?e\0?s\0?h/i;

/**
 * The URL that a page refreshes to; null when the page itself is processed. A page that refreshes to itself is processed
 * (Scrapy drops it, since the new request is a duplicate). @param options null when METAREFRESH_ENABLED is false.
 */
export function refreshTarget(
  response: Response,
  { method, meta }: Pick<RequestRecord, 'method' | 'meta'>,
  options: MetaRefreshOptions | null,
): string | null {
  if (options === null || method === 'HEAD' || meta.dont_redirect === true) return null;
  const type = response.headers['content-type'];
  if (type !== undefined && !/html/i.test(String(type))) return null;
  const { body } = response;
  if (!MAY_REFRESH.test(body.toString('latin1', 0, headBytesOf(body)))) return null;
  const found = metaRefresh(response.text, response.url, options.ignoreTags);
  if (found === null || found.delay >= options.maxDelayS || !/^https?:/i.test(found.url)) return null;
  return withoutFragment(found.url) === withoutFragment(response.url) ? null : found.url;
}

/** How many bytes have to be looked at. In plain ASCII each is a character; NUL and ESC belong to other charsets. */
function headBytesOf(body: Buffer): number {
  const head = body.subarray(0, HEAD_CHARACTERS);
  return isAscii(head) && !head.includes(0) && !head.includes(ESC) ? HEAD_CHARACTERS : HEAD_BYTES;
}

function withoutFragment(url: string): string {
  const at = url.indexOf('#');
  return at < 0 ? url : url.slice(0, at);
}
