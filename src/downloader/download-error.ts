/** How a download fails: one error class, its reasons, and the translation of what the network reports. */

import { CrawlnodeError, messageOf } from '../errors.js';
import { parseUrl } from '../http/url/parse-url.js';

/**
 * Why no response came out of a download; each is a counter of its own. With `true` another attempt may
 * succeed; `false` is an answer that the next attempt would get as well.
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
  /** The body, on the wire or decoded, is larger than allowed or inflates beyond all measure. */
  too_large: false,
  headers_too_large: false,
  /** The connection was lost, or the encoding ends, in the middle of the body. */
  body_truncated: true,
  bad_encoding: false,
  /** The body came more slowly than the minimum rate for too long. */
  too_slow: true,
  /** What came is not HTTP at all. */
  not_http: true,
  /** A status line that is none. */
  bad_status: true,
  /** A header that breaks the rules of HTTP. */
  bad_header: true,
  /** The length of the body, or a chunk of it, is given in a way that breaks the rules of HTTP. */
  bad_framing: true,
  /** The answer breaks the rules of HTTP in another way. */
  bad_response: true,
  /** The host is, or resolves to, an address that this request may not connect to (`reach.ts`). */
  private_address: false,
  /** The request cannot be sent as it is: its URL, a header or its method. */
  bad_request: false,
  aborted: true,
} as const;

export type DownloadFailure = keyof typeof retryableByReason;

/** All of them. */
export const downloadFailures = Object.keys(retryableByReason) as readonly DownloadFailure[];

/** A retry reads the answer leniently (`DownloadRequest`), so a second one is of no use. */
const malformed: ReadonlySet<DownloadFailure> = new Set([
  'not_http',
  'bad_status',
  'bad_header',
  'bad_framing',
  'bad_response',
]);

/**
 * No response: `reason` names why, `retryable` whether another attempt may help, `malformed` that one is enough. The
 * message never holds credentials.
 */
export class DownloadError extends CrawlnodeError {
  readonly reason: DownloadFailure;
  readonly retryable: boolean;
  readonly malformed: boolean;

  constructor(reason: DownloadFailure, message: string, options?: { cause?: unknown }) {
    super(`download_${reason}`, message, options);
    this.reason = reason;
    this.retryable = retryableByReason[reason];
    this.malformed = malformed.has(reason);
  }
}

/** The part of a URL that messages may name: its host and port, never userinfo, path or query. */
export function hostOf(url: string): string {
  return parseUrl(url)?.host ?? 'an unreadable URL';
}

/** Turn what got, Node or OpenSSL reported into a `DownloadError` that names the host. */
export function toDownloadError(error: unknown, url: string): DownloadError {
  if (error instanceof DownloadError) return error;
  // got wraps the original; got's own error carries the request with its headers, so it is not kept as the cause.
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
        says: `the server closed the connection without an answer (${code})`,
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
    return { reason: parseFailure(code), says: `the answer is not valid HTTP (${detail})` };
  if (isTlsError(code)) return { reason: 'tls', says: `TLS failed: ${detail.trim()} (${code})` };
  if (code === '' || cause instanceof TypeError)
    return { reason: 'bad_request', says: 'the request cannot be sent' };
  return { reason: 'network', says: `${detail} (${code})` };
}

/** The names of llhttp's errors, as Node hands them on. */
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
