/** What the response to a request for robots.txt means (RFC 9309 §2.3.1). Pure functions. */
import type { Download } from '../../downloader/downloader.js';
import { MAX_ROBOTS_BYTES } from '../../frontier/robots/robots-state.js';
import { decodeBody } from '../../http/charset/decode-body.js';
import { robotsLines } from '../../http/robots-lines.js';
import type { Robots } from '../../robots/parse-robots.js';
import { isRedirect, resolveLocation } from '../page/redirected-request.js';

/** RFC 9309 §2.3.1.2. */
export const MAX_ROBOTS_REDIRECTS = 5;

export type RobotsVerdict =
  /** The text is empty when everything is allowed. */
  | { readonly kind: 'rules'; readonly text: string }
  | { readonly kind: 'redirect'; readonly to: URL }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Judge a response. A 2xx contains the rules. A 4xx allows everything, and so does a redirect to nowhere or one redirect
 * too many. Any other status is a failure, which forbids everything for a time. @param hops redirects followed before.
 */
export function judgeRobots(
  { url, status, headers, body }: Pick<Download, 'url' | 'status' | 'headers' | 'body'>,
  hops: number,
): RobotsVerdict {
  const header = (name: string): string | null => [headers[name]].flat()[0] ?? null;
  if (status >= 200 && status < 300) {
    return { kind: 'rules', text: rulesOf(body, header('content-type')) };
  }
  if (isRedirect(status) && hops < MAX_ROBOTS_REDIRECTS) {
    const to = resolveLocation(header('location') ?? '', new URL(url));
    if (to !== null && header('location') !== null) {
      to.hash = '';
      return { kind: 'redirect', to };
    }
  }
  if (status >= 300 && status < 500) return { kind: 'rules', text: '' };
  return { kind: 'failed', why: `${url} answered ${status}` };
}

/** The only lines that have a meaning for a crawler (`parse-robots.ts`), misspelt ones included. */
const RULES = new Set(['user-agent', 'allow', 'disallow', 'crawl-delay']);
const HTML = /^\s*<(?:!doctype|html)/i;

/**
 * The rules of a robots.txt, without comments and sitemaps, so that the store keeps little. An HTML page has no rules. The
 * last line of a text that is too long may be cut, and is dropped.
 */
export function rulesOf(body: Buffer, contentType: string | null): string {
  const text = decodeBody(body.subarray(0, MAX_ROBOTS_BYTES), contentType).replace(/^\uFEFF/, '');
  if (HTML.test(text)) return '';
  const lines = text.split(/\r\n|\r|\n/);
  if (body.length >= MAX_ROBOTS_BYTES) lines.pop();
  // The stores accept no NUL character. In a path it is written as %00.
  return lines
    .filter((line) => [...robotsLines(line)].some(({ key }) => RULES.has(key)))
    .join('\n')
    .replaceAll('\0', '%00');
}

/** The Crawl-delay for a crawler in ms; 0 where there is none. @param capMs a longer one is cut to this. */
export function crawlDelayMs(robots: Robots, userAgent: string, capMs: number): number {
  const seconds = robots.crawlDelay(userAgent) ?? 0;
  return Math.min(capMs, Math.max(0, Math.round(seconds * 1_000)));
}
