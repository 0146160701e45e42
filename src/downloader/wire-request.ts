/** Converts a request to the options of got: its URL without userinfo, its headers over the defaults, its body. */
import type { Method, OptionsInit } from 'got';
import type { RequestRecord } from '../http/message/record/request-record.js';
import { cookiesFor } from '../http/message/request-cookies.js';
import { parseUrl } from '../http/url/parse-url.js';

/**
 * The part of a request that the downloader uses. `origin.private` allows private addresses. `attempts` above 0 makes the
 * HTTP cache send the request again.
 */
export type DownloadRequest = Pick<RequestRecord, 'url' | 'method' | 'headers' | 'body' | 'cookies'> &
  Partial<Pick<RequestRecord, 'origin' | 'attempts'>> & {
    /** Its own limits (`request-limits.ts`), `proxy` and `cookiejar`. */
    readonly meta?: Readonly<Record<string, unknown>>;
  };

export interface Outgoing {
  readonly url: string;
  /** Undefined for a plain GET, the common case, so that got need not merge options. */
  readonly options: OptionsInit | undefined;
}

/**
 * Headers of the request take precedence over `cookies` and userinfo. Header names are case-insensitive.
 * @param ownTimeoutMs a timeout of the request alone, which may be longer than the phases of the settings allow.
 */
export function toOutgoing(request: DownloadRequest, ownTimeoutMs: number | null = null): Outgoing {
  const { url, options } = withHeaders(request);
  if (ownTimeoutMs === null) return { url, options };
  return { url, options: { ...options, timeout: { response: ownTimeoutMs } } };
}

function withHeaders(request: DownloadRequest): Outgoing {
  const { url, credentials } = splitUserinfo(request.url);
  if (credentials === null && isPlain(request)) return { url, options: undefined };
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name.toLowerCase()] = typeof value === 'string' ? value : [...value];
  }
  if (credentials !== null) headers.authorization ??= credentials;
  const cookies = cookieHeader(request);
  if (cookies !== '')
    headers.cookie = headers.cookie === undefined ? cookies : `${headers.cookie}; ${cookies}`;
  const options: OptionsInit = { method: request.method as Method, headers };
  if (request.body !== null) return { url, options: { ...options, body: request.body, allowGetBody: true } };
  if (request.method === 'GET' || request.method === 'HEAD') return { url, options };
  // got's stream waits until a body is written for a POST, so a missing body is sent as an empty one.
  return { url, options: { ...options, body: Buffer.alloc(0) } };
}

function isPlain(request: DownloadRequest): boolean {
  if (request.method !== 'GET' || request.body !== null || request.cookies !== null) return false;
  for (const _ in request.headers) return false;
  return true;
}

/** Moves the userinfo into Basic credentials (RFC 7617), since errors and logs may show the URL. */
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

function cookieHeader({ url, cookies }: Pick<DownloadRequest, 'url' | 'cookies'>): string {
  if (cookies === null) return '';
  return cookiesFor(url, cookies)
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
}
