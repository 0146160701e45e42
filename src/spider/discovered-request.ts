/** What a page asks to follow; in a small form where there is very much of it: a million Requests are 260 MB. */
import { Request } from '../http/message/request.js';

/** A discovered request with the names of its callbacks. A null callback is `parse`, a null errback is none. */
export interface DiscoveredRequest {
  readonly request: Request;
  readonly callback: string | null;
  readonly errback: string | null;
}

/** A link whose Request has nothing but a URL and a callback. It is made again each time it is asked for. */
class PlainLink implements DiscoveredRequest {
  readonly #url: string;
  readonly #given: Request['callback'];
  readonly callback: string | null;

  constructor({ url, callback: given }: Request, callback: string | null) {
    this.#url = url;
    this.#given = given;
    this.callback = callback;
  }

  get errback(): null {
    return null;
  }

  get request(): Request {
    return new Request(this.#url, { callback: this.#given });
  }
}

/** @param callback as in `DiscoveredRequest` @returns the request in its small form; null where it has more than that holds */
export function plainLink(request: Request, callback: string | null): DiscoveredRequest | null {
  if (Object.getPrototypeOf(request) !== Request.prototype) return null;
  for (const [field, value] of Object.entries(request)) {
    if (field === 'url' || field === 'callback') continue;
    const usual: unknown = (usualRequest as unknown as Record<string, unknown>)[field];
    if (value !== usual && !(isEmpty(value) && isEmpty(usual))) return null;
  }
  return new PlainLink(request, callback);
}

const usualRequest = new Request('http://usual.invalid/');

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return !Buffer.isBuffer(value) && Object.keys(value).length === 0;
}
