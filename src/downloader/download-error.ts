/** The error of a failed download, its reasons, and the translation of errors from got, Node and OpenSSL. */
import { CrawlnodeError, messageOf } from '../errors.js';
import { parseUrl } from '../http/url/parse-url.js';

/**
 * The reasons of a failed download, each with a counter of its own, and whether another attempt may succeed.
 */
const retryableByReason = {
  timeout: true,
  dns_not_found: false,
  dns_try_again: true,
  connection_refused: true,
  connection_reset: true,
  unreachable: true,
  network: true,
  tls: false,
  /** The body, encoded or decoded, exceeds the size limit, or its compression ratio does. */
  too_large: false,
  headers_too_large: false,
  /** The connection was lost, or the encoding ends, in the middle of the body. */
  body_truncated: true,
  bad_encoding: false,
  /** The body was slower than the minimum rate for too long. */
  too_slow: true,
  /** The response is not HTTP. */
  not_http: true,
  /** The status line is not valid. */
  bad_status: true,
  /** A header is not valid HTTP. */
  bad_header: true,
  /** The length of the body, or a chunk of it, is not valid HTTP. */
  bad_framing: true,
  /** The response is not valid HTTP for another reason. */
  bad_response: true,
  /** The proxy cannot be reached, or does not speak its protocol. */
  proxy_error: true,
  /** The proxy does not accept the user name or password. */
  proxy_auth: true,
  /** The proxy did not connect to the site. */
  proxy_refused: true,
  /** The host is, or resolves to, an address that this request may not connect to (`private-addresses.ts`). */
  private_address: false,
  /** The request cannot be sent as it is: its URL, a header or its method. */
  bad_request: false,
  /** The page is not in the HTTP cache, and only pages of the cache are wanted. */
  not_cached: false,
  aborted: true,
} as const;

export type DownloadFailure = keyof typeof retryableByReason;

export const downloadFailures = Object.keys(retryableByReason) as readonly DownloadFailure[];

/** Whether another attempt may succeed. */
export const isRetryable = (reason: DownloadFailure): boolean => retryableByReason[reason];

/** Responses that are not valid HTTP. The next attempt parses leniently (`DownloadOptions`); a second one would fail alike. */
const malformedReasons: ReadonlySet<DownloadFailure> = new Set([
  'not_http',
  'bad_status',
  'bad_header',
  'bad_framing',
  'bad_response',
]);

/**
 * A download without a response. `reason` says why, `retryable` whether another attempt may succeed, `malformed` that only
 * one further attempt may, which parses leniently. The message never contains credentials.
 */
export class DownloadError extends CrawlnodeError {
  readonly reason: DownloadFailure;
  readonly retryable: boolean;
  readonly malformed: boolean;
  /** Proxies that failed for this request, or null when none did. */
  readonly proxies: ProxyFailures | null;

  constructor(
    reason: DownloadFailure,
    message: string,
    options?: { cause?: unknown; proxies?: ProxyFailures },
  ) {
    super(`download_${reason}`, message, options);
    this.reason = reason;
    this.retryable = retryableByReason[reason];
    this.malformed = malformedReasons.has(reason);
    this.proxies = options?.proxies ?? null;
  }

  /** The request did not reach the site. */
  get isOfProxy(): boolean {
    return this.reason === 'proxy_error' || this.reason === 'proxy_auth' || this.reason === 'proxy_refused';
  }
}

/** What became of the proxies of a request that failed. */
export interface ProxyFailures {
  readonly count: number;
  /** Another proxy could be used now, but the download would begin too late (`DownloadOptions.beginByMs`). */
  readonly cutShort: boolean;
  /** All proxies rest for so long. */
  readonly waitMs: number;
}

/** The part of a URL that is safe in messages: host and port, without userinfo, path and query. */
export function hostOf(url: string): string {
  return parseUrl(url)?.host ?? 'an unreadable URL';
}

/** Convert an error of got, Node or OpenSSL into a `DownloadError` that names the host. */
export function toDownloadError(error: unknown, url: string): DownloadError {
  if (error instanceof DownloadError) return error;
  // got wraps the original error. got's error holds the request with its headers, so it is not used as the cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof DownloadError)
    return new DownloadError(cause.reason, `${hostOf(url)}: ${cause.message}`);
  const code = codeOf(cause) ?? codeOf(error) ?? '';
  const detail = messageOf(cause);
  const { reason, says } = classify(code, detail, cause);
  const keep = reason === 'bad_request' ? {} : { cause };
  return new DownloadError(reason, `${hostOf(url)}: ${says}`, keep);
}

function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : null;
}

function classify(code: string, detail: string, cause: unknown): { reason: DownloadFailure; says: string } {
  switch (code) {
    case 'ENOTFOUND':
      return { reason: 'dns_not_found', says: 'no such host name (ENOTFOUND)' };
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
    case 'EAI_FAIL':
    case 'ESERVFAIL':
    case 'ETIMEOUT':
      return { reason: 'dns_try_again', says: `the host name could not be resolved for now (${code})` };
    case 'ECONNREFUSED':
      return { reason: 'connection_refused', says: 'the connection was refused (ECONNREFUSED)' };
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ECONNABORTED':
      return {
        reason: 'connection_reset',
        says: `the server closed the connection without a response (${code})`,
      };
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
    case 'ENETDOWN':
      return { reason: 'unreachable', says: `the host cannot be reached (${code})` };
    case 'ETIMEDOUT':
      return { reason: 'timeout', says: timeoutText(detail, cause) };
    case 'HPE_HEADER_OVERFLOW':
      return { reason: 'headers_too_large', says: 'the response headers are larger than 16 KiB' };
    case 'ERR_INVALID_URL':
    case 'ERR_INVALID_CHAR':
    case 'ERR_HTTP_INVALID_HEADER_VALUE':
    case 'ERR_INVALID_HTTP_TOKEN':
    case 'ERR_UNESCAPED_CHARACTERS':
    case 'ERR_INVALID_PROTOCOL':
    case 'ERR_UNSUPPORTED_PROTOCOL':
    // got itself refuses the request, such as the host name "unix".
    case 'ERR_GOT_REQUEST_ERROR':
      return { reason: 'bad_request', says: `the request cannot be sent (${code})` };
    default:
      break;
  }
  if (code.startsWith('HPE_'))
    return { reason: parseFailure(code), says: `the response is not valid HTTP (${detail})` };
  if (/wrong version number|packet length too long/.test(detail))
    return {
      reason: 'tls',
      says: 'the server does not speak TLS at this port: is it http:// in place of https://?',
    };
  if (isTlsError(code)) return { reason: 'tls', says: `TLS failed: ${detail.trim()} (${code})` };
  if (code === '' || cause instanceof TypeError)
    return { reason: 'bad_request', says: 'the request cannot be sent' };
  return { reason: 'network', says: `${detail} (${code})` };
}

/** @param code the name of an error of llhttp, as Node reports it. */
function parseFailure(code: string): DownloadFailure {
  if (/CONTENT_LENGTH|TRANSFER_ENCODING|CHUNK/.test(code)) return 'bad_framing';
  if (/HEADER|_EXPECTED$/.test(code)) return 'bad_header';
  if (/CONSTANT|VERSION/.test(code)) return 'not_http';
  return /STATUS/.test(code) ? 'bad_status' : 'bad_response';
}

function timeoutText(detail: string, cause: unknown): string {
  const phase = (cause as { event?: unknown }).event;
  const ms = /for (\d+)ms/.exec(detail)?.[1];
  if (typeof phase !== 'string') return 'timed out while connecting';
  return `timed out in the phase "${phase}"${ms ? ` after ${Number(ms) / 1000} s` : ''}`;
}

/** OpenSSL's protocol errors and its names of certificate problems (`X509_V_ERR_…` without the prefix). */
function isTlsError(code: string): boolean {
  return (
    code === 'EPROTO' ||
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_') ||
    /CERT|SIGNATURE|CRL|CHAIN|ISSUER|SELF_SIGNED/.test(code)
  );
}
