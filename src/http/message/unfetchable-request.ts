/**
 * Requests for a link of a page that no client can fetch, such as `mailto:` or `http://[`. The link is the page's, not the
 * author's, so it costs only itself: yielding such a request drops and counts it.
 */
import { Request, type RequestOptions } from './request.js';

const unfetchable = new WeakSet<Request>();

/** @throws InvalidRequestError for bad options, as any request does. */
export function unfetchableRequest(url: string, options: RequestOptions | undefined): Request {
  const request = Object.assign(new Request('http://unfetchable.invalid/', options), { url });
  unfetchable.add(request);
  return request;
}

export function isUnfetchable(request: Request): boolean {
  return unfetchable.has(request);
}
