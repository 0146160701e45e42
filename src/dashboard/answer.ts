/** Reading what a request brings, and sending an answer with the headers that all have. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CrawlnodeError, isStoreAway, RefusedError, UsageError } from '../errors.js';

/** An answer other than 200, for which the asker is to blame. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Nothing is loaded from elsewhere, no script runs that is not ours, and no other site may show the page within its own. */
const safety = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** Of the seeds in one request. */
const MAX_BODY_BYTES = 1_000_000;

export type Headers = Readonly<Record<string, string | number>>;

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
  headers: Headers = {},
): void {
  response.writeHead(status, {
    ...safety,
    'cache-control': 'no-store',
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  });
  // Node leaves the body out for HEAD.
  response.end(body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Headers = {},
): void {
  send(response, status, 'application/json; charset=utf-8', `${text}\n`, headers);
}

/** The head of an answer that goes on as long as somebody listens. */
export function openEvents(response: ServerResponse): void {
  response.writeHead(200, {
    ...safety,
    'cache-control': 'no-store',
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy must not collect events.
    'x-accel-buffering': 'no',
  });
}

/** @returns the status and the code of an error, as the API names it. */
export function statusOf(error: unknown): { readonly status: number; readonly code: string } {
  if (error instanceof HttpError) return { status: error.status, code: error.code };
  if (!(error instanceof CrawlnodeError)) return { status: 500, code: 'unexpected' };
  const { code } = error;
  if (isStoreAway(error)) return { status: 503, code };
  if (error instanceof RefusedError || code === 'not_begun') return { status: 409, code };
  return { status: error instanceof UsageError || code === 'invalid_request' ? 400 : 500, code };
}

/** @throws HttpError for a body that is no JSON object, or too large */
export async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new HttpError(415, 'bad_request', 'the body must be application/json');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new HttpError(413, 'bad_request', 'the body is larger than 1 MB');
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new HttpError(400, 'bad_request', 'the body is no JSON object');
}
