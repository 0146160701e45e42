/** A request as a spider creates it. The constructor checks all values, so later code need not. */
import { InvalidRequestError } from '../../errors.js';
import type { FormPage } from '../markup/html-form.js';
import { checkUrl } from '../url/http-url.js';
import { encodeForm } from './form/form-data.js';
import { type FormRequestOptions, formRequest } from './form/form-request.js';
import { checkHeaders, type Headers, isToken, noHeaders } from './headers.js';
import { MAX_PRIORITY, MIN_PRIORITY } from './priority.js';
import { jsonCopy, jsonObjectCopy } from './record/json-safe.js';
import type { Origin, RequestRecord } from './record/request-record.js';
import { checkCookies, type RequestCookies } from './request-cookies.js';
import { checkMeta, type Meta, withProxy } from './request-meta.js';
import {
  type Callback,
  type CbKwargs,
  type CbKwargsFor,
  checkOptionNames,
  type Errback,
  type RequestOptions,
} from './request-options.js';

export type { Meta } from './request-meta.js';
export type {
  Callback,
  CallbackResults,
  CbKwargs,
  CbKwargsFor,
  Errback,
  FailedRequest,
  RequestOptions,
  Result,
  Yielded,
} from './request-options.js';

/** Fields of a request that crawlnode sets. */
export interface Bookkeeping {
  /** Links followed from the seed. */
  readonly depth: number;
  /** HTTP attempts so far that ended in a retry. */
  readonly attempts: number;
  /** Redirects followed so far. */
  readonly redirects: number;
  /** The seed that the request descends from; null until the request is stored. */
  readonly origin: Origin | null;
}

/** Shared by all requests without arguments. */
const noCbKwargs: CbKwargs = Object.freeze({});

const newBookkeeping: Bookkeeping = { depth: 0, attempts: 0, redirects: 0, origin: null };

/**
 * A request for one URL. It is immutable; `replace` makes a changed copy.
 * ```ts
 * yield new Request('https://example.org/list', { callback: this.parseList, meta: { page: 1 } });
 * yield new Request('https://example.org/login', { formdata: { user: 'me' }, priority: 10 });
 * ```
 */
export class Request<K extends CbKwargs = CbKwargs> implements Bookkeeping {
  /** Absolute http(s) URL, escaped as Scrapy does it. */
  readonly url: string;
  /** Upper case. */
  readonly method: string;
  /** Headers by name, as given. */
  readonly headers: Headers;
  /** The bytes to send, from `body`, `json` or `formdata`; null for none. */
  readonly body: Buffer | null;
  /** Passed to the callback. */
  readonly meta: Meta;
  /** The second argument of callback and errback. */
  readonly cbKwargs: CbKwargs;
  /** Requests with a higher priority are processed first. */
  readonly priority: number;
  /** Whether the request is downloaded even when the same one was seen before. */
  readonly dontFilter: boolean;
  /** Null stands for `parse`. */
  readonly callback: Callback | string | null;
  /** Null for none. */
  readonly errback: Errback | string | null;
  /** Cookies by name, or a list where one has a domain, a path or `secure`; null for none. */
  readonly cookies: RequestCookies | null;
  readonly depth: number;
  readonly attempts: number;
  readonly redirects: number;
  readonly origin: Origin | null;

  /**
   * @param bookkeeping set by crawlnode, not by spiders
   * @throws InvalidRequestError naming a value that cannot be stored or sent, such as a URL that is not http(s), a value
   *   in `meta` that JSON cannot represent, or a header with a line break
   */
  constructor(
    url: string | URL,
    given: RequestOptions<K> & CbKwargsFor<K> = {} as RequestOptions<K> & CbKwargsFor<K>,
    bookkeeping: Bookkeeping = newBookkeeping,
  ) {
    const options: RequestOptions = given;
    checkOptionNames(options);
    const content = contentOf(options);
    const method = options.method === undefined ? (content ? 'POST' : 'GET') : checkMethod(options.method);
    const safe = checkUrl(url);
    const headers = options.headers === undefined ? noHeaders : checkHeaders(options.headers);
    const asQuery = content?.form === true && method === 'GET';

    this.url = asQuery ? checkUrl(withQuery(safe, content.body.toString())) : safe;
    this.method = method;
    this.headers = content && !asQuery ? withContentType(headers, content.type) : headers;
    this.body = content ? (asQuery ? null : content.body) : checkBody(options.body);
    this.meta = metaOf(options);
    this.cbKwargs =
      options.cbKwargs === undefined ? noCbKwargs : jsonObjectCopy(options.cbKwargs, 'cbKwargs');
    this.priority = options.priority === undefined ? 0 : checkPriority(options.priority);
    this.dontFilter = options.dontFilter === undefined ? false : checkBoolean(options.dontFilter);
    this.callback = checkCallback<Callback>(options, 'callback');
    this.errback = checkCallback<Errback>(options, 'errback');
    this.cookies = options.cookies === undefined ? null : checkCookies(options.cookies);
    this.depth = bookkeeping.depth;
    this.attempts = bookkeeping.attempts;
    this.redirects = bookkeeping.redirects;
    this.origin = bookkeeping.origin;
  }

  /**
   * The request that submits a form of a page, as a browser would: hidden fields, checked boxes, selected options, the first
   * submit button, its `action` and `method`.
   * ```ts
   * yield Request.fromForm(response, { formdata: { user: 'me', password: 'secret' }, callback: this.afterLogin });
   * ```
   * @throws InvalidRequestError when the page has no form that `selector` matches, or no button that `click` matches
   */
  static fromForm(page: FormPage, options: FormRequestOptions = {}): Request {
    const submission = formRequest(page, options);
    return new Request(submission.url, submission.options);
  }

  /** The request of a record. The record is not checked, since `decodeRecord` has done so. */
  static fromRecord(record: RequestRecord): Request {
    const parts: { [K in keyof Request as Request[K] extends Callback ? never : K]: Request[K] } = {
      url: record.url,
      method: record.method,
      headers: record.headers,
      body: record.body,
      meta: record.meta as Meta,
      cbKwargs: record.cbKwargs,
      priority: record.priority,
      dontFilter: record.dontFilter,
      callback: record.callback,
      errback: record.errback,
      cookies: record.cookies,
      depth: record.depth,
      attempts: record.attempts,
      redirects: record.redirects,
      origin: record.origin,
    };
    return Object.assign(Object.create(Request.prototype), parts);
  }

  /** A copy with some fields changed. All others stay, including those that crawlnode sets. */
  replace(changes: RequestOptions & Partial<Bookkeeping> & { readonly url?: string | URL }): Request {
    const { url = this.url, depth, attempts, redirects, origin, ...options } = changes;
    const newContent = options.json !== undefined || options.formdata !== undefined;
    const current: RequestOptions = {
      ...(newContent ? {} : { method: this.method, body: this.body }),
      headers: this.headers,
      meta: this.meta,
      cbKwargs: this.cbKwargs,
      priority: this.priority,
      dontFilter: this.dontFilter,
      callback: this.callback,
      errback: this.errback,
      cookies: this.cookies,
    };
    return new Request(
      url,
      { ...current, ...options },
      {
        depth: depth ?? this.depth,
        attempts: attempts ?? this.attempts,
        redirects: redirects ?? this.redirects,
        origin: origin === undefined ? this.origin : origin,
      },
    );
  }
}

interface Content {
  readonly body: Buffer;
  readonly type: string;
  readonly form: boolean;
}

/** The body made from `json` or `formdata`; null when neither is given. */
function contentOf(options: RequestOptions): Content | null {
  if (options.json === undefined && options.formdata === undefined) return null;
  if ((options.body ?? null) !== null || (options.json !== undefined && options.formdata !== undefined)) {
    throw new InvalidRequestError('A request takes one of body, json and formdata, not two of them.');
  }
  if (options.formdata !== undefined) {
    const body = Buffer.from(encodeForm(options.formdata));
    // An empty form changes nothing, as in Scrapy.
    if (body.length === 0) return null;
    return { body, type: 'application/x-www-form-urlencoded', form: true };
  }
  const body = Buffer.from(JSON.stringify(jsonCopy(options.json, 'json')));
  return { body, type: 'application/json', form: false };
}

function withContentType(headers: Headers, type: string): Headers {
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')) return headers;
  return Object.assign(Object.create(null), headers, { 'Content-Type': type });
}

/** `meta` with the options that are stored in it. */
function metaOf({ meta, timeout, cookieJar, proxy }: RequestOptions): Meta {
  let own: Meta = meta === undefined ? {} : jsonObjectCopy(meta, 'meta');
  if (timeout !== undefined) own = { ...own, download_timeout: timeout };
  if (cookieJar !== undefined) own = { ...own, cookiejar: cookieJar };
  checkMeta(own);
  return proxy === undefined && own.proxy == null ? own : withProxy(own, proxy);
}

function withQuery(url: string, query: string): string {
  const [, path = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  return `${path}?${query}${fragment}`;
}

function checkMethod(method: unknown): string {
  if (typeof method === 'string' && isToken(method)) return method.toUpperCase();
  throw new InvalidRequestError(`method is ${JSON.stringify(method)}, which is no HTTP method.`);
}

function checkBody(body: unknown): Buffer | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return Buffer.from(body);
  if (Buffer.isBuffer(body)) return body;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new InvalidRequestError(
    'body is neither text nor bytes; use json for an object, formdata for a form.',
  );
}

function checkPriority(priority: unknown): number {
  if (Number.isInteger(priority)) {
    const integer = priority as number;
    if (integer >= MIN_PRIORITY && integer <= MAX_PRIORITY) return integer === 0 ? 0 : integer;
  }
  throw new InvalidRequestError(`priority is ${String(priority)}; it must be an integer within ±2³¹.`);
}

function checkBoolean(dontFilter: unknown): boolean {
  if (typeof dontFilter === 'boolean') return dontFilter;
  throw new InvalidRequestError(`dontFilter is ${String(dontFilter)}; it must be true or false.`);
}

/** The error for an undefined callback, such as `this.parsPage`: a misspelt name must not silently mean `parse`. */
export function undefinedCallback(field: 'callback' | 'errback'): InvalidRequestError {
  const instead = field === 'callback' ? 'parse' : 'none';
  return new InvalidRequestError(
    `${field} is undefined: is the name of the method misspelt? Leave it out, or give null, for ${instead}`,
  );
}

function checkCallback<F>(options: RequestOptions, field: 'callback' | 'errback'): F | string | null {
  const callback: unknown = options[field];
  if (callback === undefined && field in options) throw undefinedCallback(field);
  if (callback === undefined || callback === null) return null;
  if (typeof callback === 'function') return callback as F;
  if (typeof callback === 'string' && callback !== '') return callback;
  const what = `${field} is ${typeof callback === 'object' ? 'an object' : JSON.stringify(callback)}`;
  const hint = typeof callback === 'object' ? '; the options of follow and followAll come after it' : '';
  throw new InvalidRequestError(`${what}, neither a method of the spider nor the name of one${hint}.`);
}

const unfetchable = new WeakSet<Request>();

/**
 * A request for a link of a page that no client can fetch, such as `mailto:` or `http://[`. The link is the page's, not the
 * author's, so it costs only itself: yielding such a request drops and counts it.
 * @throws InvalidRequestError for bad options, as any request does.
 */
export function unfetchableRequest(url: string, options: RequestOptions | undefined): Request {
  const request = Object.assign(new Request('http://unfetchable.invalid/', options), { url });
  unfetchable.add(request);
  return request;
}

export function isUnfetchable(request: Request): boolean {
  return unfetchable.has(request);
}
