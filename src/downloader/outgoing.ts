/** What a request puts on the wire: its URL without userinfo, its headers over the defaults, its body. */

import type { Method, OptionsInit } from 'got';
import type { RequestRecord } from '../http/message/request-record.js';
import { parseUrl } from '../http/url/parse-url.js';

/**
 * The part of a request that the downloader reads. `origin.private` lets it connect to private addresses. With `attempts`
 * above 0 it is a retry: it is read leniently, over a connection of its own.
 */
export type DownloadRequest = Pick<RequestRecord, 'url' | 'method' | 'headers' | 'body' | 'cookies'> &
  Partial<Pick<RequestRecord, 'origin' | 'attempts'>>;

export interface Outgoing {
  readonly url: string;
  /** Undefined for a plain GET, the common case: then the client's defaults stand and nothing is merged. */
  readonly options: OptionsInit | undefined;
}

/** Per-request headers win over `cookies` and userinfo; names count without case. */
export function toOutgoing(request: DownloadRequest): Outgoing {
  const { url, credentials } = splitUserinfo(request.url);
  if (credentials === null && isPlain(request)) return { url, options: undefined };
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name.toLowerCase()] = typeof value === 'string' ? value : [...value];
  }
  if (credentials !== null) headers.authorization ??= credentials;
  const cookies = cookieHeader(request.cookies);
  if (cookies !== '')
    headers.cookie = headers.cookie === undefined ? cookies : `${headers.cookie}; ${cookies}`;
  const options: OptionsInit = { method: request.method as Method, headers };
  if (request.body !== null) return { url, options: { ...options, body: request.body, allowGetBody: true } };
  if (request.method === 'GET' || request.method === 'HEAD') return { url, options };
  // got's stream waits for somebody to write the body of a POST; an empty one says that there is none.
  return { url, options: { ...options, body: Buffer.alloc(0) } };
}

function isPlain(request: DownloadRequest): boolean {
  if (request.method !== 'GET' || request.body !== null || request.cookies !== null) return false;
  for (const _ in request.headers) return false;
  return true;
}

/** Userinfo becomes Basic credentials (RFC 7617) and never stays in the URL, which errors and logs may show. */
function splitUserinfo(url: string): { url: string; credentials: string | null } {
  const parsed = url.includes('@') ? parseUrl(url) : null;
  if (parsed === null) return { url, credentials: null };
  if (parsed.username === '' && parsed.password === '') return { url, credentials: null };
  const pair = `${percentDecoded(parsed.username)}:${percentDecoded(parsed.password)}`;
  parsed.username = '';
  parsed.password = '';
  return { url: parsed.href, credentials: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function cookieHeader(cookies: DownloadRequest['cookies']): string {
  if (cookies === null) return '';
  return Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}
