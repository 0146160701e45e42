/**
 * The versioned JSON record of a request, as the frontier stores it. A frontier holds millions of records, so keys are
 * short and defaults are left out. Other programs can write to the store, so records are validated: strict schema,
 * bounded size, no code.
 *
 * Keys: v version, u url, m method, h headers, b body (base64), x meta, g cbKwargs, c callback, e errback, p priority,
 * n dontFilter, d depth, o origin (`!` at its end: it may connect to private addresses), q parent, a attempts,
 * l lenient, r redirects, k cookies, j cookie jar, t accepted at, f the item that waits for this file (`waiting-item.ts`).
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { InvalidRequestError } from '../../../errors.js';
import { domainOf } from '../../url/domain.js';
import { parseUrl } from '../../url/parse-url.js';
import { SAFE_URL } from '../../url/safe-url.js';
import { isToken, noHeaders } from '../headers.js';
import { MAX_PRIORITY, MIN_PRIORITY } from '../priority.js';
import type { Request } from '../request.js';
import { cookieJarOf } from '../request-meta.js';
import { jsonCopy, leastJsonChars } from './json-safe.js';
import { endingOf } from './record-suffix.js';
import type { FrontierRequest, JsonObject, Origin, RequestRecord, WaitingItem } from './request-record.js';
import { decodeWaitingItem, encodeWaitingItem, storedWaitingItem } from './waiting-item.js';

export const RECORD_VERSION = 1;
export const MAX_RECORD_BYTES = 1024 * 1024;

/**
 * @throws InvalidRequestError with code `record_too_large` past 1 MB
 */
export function encodeRecord(record: RequestRecord): string {
  // Concatenated rather than built as an object: this runs for every link of every page.
  let text = `{"v":${RECORD_VERSION},"u":${JSON.stringify(record.url)}`;
  if (record.method !== 'GET') text += `,"m":${JSON.stringify(record.method)}`;
  if (!isEmpty(record.headers)) text += `,"h":${jsonThatFits(record.headers, record)}`;
  if (record.body !== null) text += `,"b":"${record.body.toString('base64')}"`;
  if (!isEmpty(record.meta)) text += `,"x":${jsonThatFits(record.meta, record)}`;
  if (!isEmpty(record.cbKwargs)) text += `,"g":${jsonThatFits(record.cbKwargs, record)}`;
  if (record.waitingItem !== null)
    text += `,"f":${jsonThatFits(encodeWaitingItem(record.waitingItem), record)}`;
  text += endingOf(record);
  // A UTF-16 code unit takes at most three bytes of UTF-8, so most records need no byte count.
  if (text.length * 3 > MAX_RECORD_BYTES && Buffer.byteLength(text) > MAX_RECORD_BYTES)
    throw tooLarge(record);
  return text;
}

/** Its length is judged before it is made: the text of a page may become six times as long. */
function jsonThatFits(value: unknown, record: RequestRecord): string {
  if (leastJsonChars(value, MAX_RECORD_BYTES) > MAX_RECORD_BYTES) throw tooLarge(record);
  return JSON.stringify(value);
}

function tooLarge({ url }: RequestRecord): InvalidRequestError {
  return new InvalidRequestError(
    `The request of ${url.slice(0, 200)} takes more than 1 MB with its body and meta; keep large data elsewhere.`,
    { code: 'record_too_large' },
  );
}

/** The record of a plain GET link, the most frequent kind: URL, callback, depth, origin, instant of acceptance. */
const PLAIN_RECORD =
  /^\{"v":1,"u":"([^"\\]+)"(?:,"c":"([^"\\\x00-\x1f]*)")?(?:,"d":([1-9][0-9]{0,8}))?(?:,"o":"([0-9a-f]{8})(!?)")?(?:,"t":([1-9][0-9]{0,14}))?\}$/;

const count = z.int().min(0);
const text = z.string().max(MAX_RECORD_BYTES);
const headerName = text.refine(isToken);
const jsonObject = z.custom<JsonObject>((x) => typeof x === 'object' && x !== null && !Array.isArray(x));
const cookie = z.strictObject({
  name: text,
  value: text,
  domain: text.exactOptional(),
  path: text.exactOptional(),
  secure: z.boolean().exactOptional(),
});
const base64 = text.refine((value) => Buffer.from(value, 'base64').toString('base64') === value);

const schema = z.strictObject({
  v: z.literal(RECORD_VERSION),
  u: text.regex(/^https?:\/\/[^/?#]/i).refine((url) => SAFE_URL.test(url) || parseUrl(url) !== null),
  m: text.refine((method) => isToken(method) && method === method.toUpperCase()).optional(),
  h: z.record(headerName, z.union([text, z.array(text)])).optional(),
  b: base64.optional(),
  x: jsonObject.optional(),
  g: jsonObject.optional(),
  c: text.optional(),
  e: text.optional(),
  p: z.int().min(MIN_PRIORITY).max(MAX_PRIORITY).optional(),
  n: z.literal(1).optional(),
  d: count.optional(),
  o: z
    .string()
    .regex(/^[0-9a-f]{8}!?$/)
    .optional(),
  q: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional(),
  a: count.optional(),
  l: z.literal(1).optional(),
  r: count.optional(),
  k: z.union([z.record(text, text), z.array(cookie)]).optional(),
  j: text.optional(),
  t: count.optional(),
  f: storedWaitingItem.optional(),
});

/**
 * @throws InvalidRequestError with code `bad_record` when the text is not a complete record of this version of at most
 *   1 MB; the message gives the reason
 */
export function decodeRecord(record: string): RequestRecord {
  if (record.length > MAX_RECORD_BYTES) bad(`it has ${record.length} characters, more than 1 MB`);
  const plain = decodePlain(record);
  if (plain !== null) return plain;
  const fields = schema.safeParse(parse(record));
  if (!fields.success) bad(explain(fields.error));
  const f = fields.data;
  return {
    url: f.u,
    method: f.m ?? 'GET',
    headers: f.h === undefined ? noHeaders : Object.assign(Object.create(null), f.h),
    body: f.b === undefined ? null : Buffer.from(f.b, 'base64'),
    meta: f.x ?? {},
    cbKwargs: f.g ?? {},
    callback: f.c ?? null,
    errback: f.e ?? null,
    priority: f.p ?? 0,
    dontFilter: f.n === 1,
    depth: f.d ?? 0,
    origin: f.o === undefined ? null : { seed: f.o.slice(0, 8), private: f.o.endsWith('!') },
    parent: f.q ?? null,
    attempts: f.a ?? 0,
    ...(f.l === 1 && { lenient: true as const }),
    redirects: f.r ?? 0,
    cookies: f.k === undefined ? null : Array.isArray(f.k) ? f.k : Object.assign(Object.create(null), f.k),
    cookieJar: f.j ?? null,
    acceptedAtMs: f.t ?? 0,
    waitingItem: f.f === undefined ? null : decodeWaitingItem(f.f),
  };
}

/** The fast path, for records that `PLAIN_RECORD` matches; null for any other. */
function decodePlain(record: string): RequestRecord | null {
  const found = PLAIN_RECORD.exec(record);
  if (found === null || !SAFE_URL.test(found[1]!)) return null;
  const [, url, callback, depth, seed, mark, acceptedAtMs] = found;
  return {
    url: url!,
    method: 'GET',
    headers: noHeaders,
    body: null,
    meta: {},
    cbKwargs: {},
    callback: callback ?? null,
    errback: null,
    priority: 0,
    dontFilter: false,
    depth: Number(depth ?? 0),
    origin: seed === undefined ? null : { seed, private: mark === '!' },
    parent: null,
    attempts: 0,
    redirects: 0,
    cookies: null,
    cookieJar: null,
    acceptedAtMs: Number(acceptedAtMs ?? 0),
    waitingItem: null,
  };
}

function parse(record: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(record);
  } catch (cause) {
    bad('it is not JSON', cause);
  }
  // jsonCopy removes `__proto__` and bounds the nesting. The name may be written with `\u` escapes.
  if (!/"[xgf]"|__proto__|\\u/.test(record)) return value;
  try {
    return jsonCopy(value, 'record');
  } catch (cause) {
    bad((cause as Error).message, cause);
  }
}

function explain(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'it does not fit the format';
  return issue.path.length === 0 ? issue.message : `its field ${issue.path.join('.')}: ${issue.message}`;
}

function bad(why: string, cause?: unknown): never {
  throw new InvalidRequestError(`A stored request cannot be read: ${why}.`, { code: 'bad_record', cause });
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** Where a request comes from, and how its id is computed. */
export interface RequestContext {
  /** Names of spider methods, already resolved. */
  readonly callback: string | null;
  readonly errback: string | null;
  /** Id of the page that yielded it; null for a seed or start request. */
  readonly parentId: string | null;
  /** Its position among the requests of that page, or among the start requests. */
  readonly ordinal: number;
  readonly depth: number;
  /** Null for a seed, which is its own origin. */
  readonly origin: Origin | null;
  /** For a seed: it comes from the user, not from the store or a site, and may connect to private addresses. */
  readonly isTrustedSeed: boolean;
  fingerprint(request: Request): string;
  readonly domainKey: 'host' | 'registered';
  readonly nowMs: number;
  readonly job: string | null;
  readonly delayMs?: number;
  /** The item that waits for what is fetched; absent for a page. */
  readonly waitingItem?: WaitingItem | null;
}

/**
 * Converts a request for the frontier. Its id is the fingerprint. With dontFilter it is a hash of the fingerprint, the
 * page (or job) and the ordinal, so that pushing the request again has no effect.
 * @throws InvalidRequestError with code `record_too_large`
 */
export function toFrontierRequest(request: Request, context: RequestContext): FrontierRequest {
  const fingerprint = context.fingerprint(request);
  const id = request.dontFilter ? dontFilterId(fingerprint, context) : fingerprint;
  const waitingItem = context.waitingItem ?? null;
  const record = encodeRecord({
    url: request.url,
    method: request.method,
    headers: request.headers,
    body: request.body,
    meta: request.meta,
    cbKwargs: request.cbKwargs,
    callback: context.callback,
    errback: context.errback,
    priority: request.priority,
    dontFilter: request.dontFilter,
    depth: context.depth,
    origin: context.origin ?? { seed: id.slice(0, 8), private: context.isTrustedSeed },
    parent: request.dontFilter ? context.parentId : null,
    attempts: request.attempts,
    redirects: request.redirects,
    cookies: request.cookies,
    cookieJar: cookieJarOf(request.meta),
    acceptedAtMs: context.nowMs,
    waitingItem,
  });
  const slot: unknown = request.meta.download_slot;
  const frontierRequest = {
    id,
    fingerprint,
    record,
    domain: typeof slot === 'string' && slot !== '' ? slot : domainOf(request.url, context.domainKey),
    priority: request.priority,
    dontFilter: request.dontFilter,
  };
  if (context.delayMs === undefined && waitingItem === null) return frontierRequest;
  return {
    ...frontierRequest,
    ...(context.delayMs !== undefined && { delayMs: context.delayMs }),
    ...(waitingItem !== null && { carriesItem: true as const }),
  };
}

function dontFilterId(fingerprint: string, context: RequestContext): string {
  const identity = `${fingerprint} ${context.parentId ?? `job ${context.job ?? ''}`} ${context.ordinal}`;
  return createHash('sha1').update(identity).digest('hex');
}
