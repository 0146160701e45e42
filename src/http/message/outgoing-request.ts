/** A request on its way through downloader middleware, which may change it in place as in Scrapy. */
import { checkHeaders } from './headers.js';
import type { Meta, Request } from './request.js';
import { checkCookies, type RequestCookies } from './request-cookies.js';
import { checkMeta } from './request-meta.js';

/**
 * The request that downloader middleware gets. Its headers, cookies and meta may be changed in place. The changes hold for
 * this download, its response and its errback; they are not stored. All else is changed by returning a copy (`replace`),
 * which makes another request; assigning it throws a TypeError.
 */
export interface OutgoingRequest extends Request {
  /** Names in any case mean the same header. Assigning undefined removes a header. */
  readonly headers: Record<string, string | readonly string[]>;
  /** Sent with this request: by name, or a list of `{ name, value, domain?, path?, secure? }`; null for none. */
  cookies: RequestCookies | null;
  readonly meta: Meta;
}

/** A copy that can be changed without a change to the stored request. */
export function outgoingRequest(request: Request): OutgoingRequest {
  const copy = {
    ...request,
    headers: changeableHeaders(request.headers),
    meta: structuredClone(request.meta),
    cookies: structuredClone(request.cookies),
  };
  const properties = Object.entries(copy).map(
    ([name, value]) => [name, { value, enumerable: true, writable: name === 'cookies' }] as const,
  );
  return Object.create(Object.getPrototypeOf(request), Object.fromEntries(properties));
}

/**
 * Check what a module may have changed in place. Headers are checked where they are set.
 * @throws InvalidRequestError naming a cookie that cannot be sent, or a key of meta with a wrong value
 */
export function checkChanges(request: OutgoingRequest): void {
  checkMeta(request.meta);
  if (request.cookies !== null) request.cookies = checkCookies(request.cookies ?? null);
}

/** Set a header unless the request has it. */
export function setDefaultHeader({ headers }: OutgoingRequest, name: string, value: string): void {
  if (!(name in headers)) headers[name] = value;
}

/** @returns headers with lower-case names, whatever case is used to reach them. What cannot be sent throws where it is set. */
function changeableHeaders(given: Request['headers']): OutgoingRequest['headers'] {
  const headers: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
  const keyOf = (name: string | symbol) => (typeof name === 'string' ? name.toLowerCase() : name);
  return new Proxy(headers, {
    get: (target, name) => Reflect.get(target, keyOf(name)),
    has: (target, name) => Reflect.has(target, keyOf(name)),
    deleteProperty: (target, name) => Reflect.deleteProperty(target, keyOf(name)),
    getOwnPropertyDescriptor: (target, name) => Reflect.getOwnPropertyDescriptor(target, keyOf(name)),
    set: (target, name, value) => {
      if (typeof name !== 'string') return false;
      const key = name.toLowerCase();
      if (value === undefined) delete target[key];
      else target[key] = checkHeaders({ [name]: value })[name]!;
      return true;
    },
  });
}
