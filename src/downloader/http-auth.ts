/**
 * HTTP basic authentication by the members `httpUser`, `httpPass` and `httpAuthDomain` of a spider, as in Scrapy. The
 * credentials are added to each download of their domain and never stored, so no redirect can carry them elsewhere.
 */

import { parseUrl } from '../http/url/parse-url.js';
import type { DownloadRequest } from './downloader.js';

/** The members of a spider with its credentials for a site. */
export interface AuthSpider {
  readonly httpUser?: string;
  readonly httpPass?: string;
  readonly httpAuthDomain?: string | null;
}

/** Returns the request with credentials. The spider's own request stays without them. */
export type Authorize = (request: DownloadRequest) => DownloadRequest;

/** What adds the credentials of a spider to requests of its domain. A request with an Authorization header keeps it. */
export function httpAuthOf({ httpUser = '', httpPass = '', httpAuthDomain }: AuthSpider): Authorize {
  if ((httpUser === '' && httpPass === '') || httpAuthDomain === undefined) return (request) => request;
  const credentials = `Basic ${Buffer.from(`${httpUser}:${httpPass}`).toString('base64')}`;
  const domain = httpAuthDomain?.toLowerCase() ?? null;
  return (request) => {
    if (domain !== null && !isWithin(request.url, domain)) return request;
    if (Object.keys(request.headers).some((name) => name.toLowerCase() === 'authorization')) return request;
    return { ...request, headers: { ...request.headers, Authorization: credentials } };
  };
}

/** Whether the host of a URL, with its port if it has one, is the domain or below it. */
function isWithin(url: string, domain: string): boolean {
  const host = parseUrl(url)?.host ?? '';
  return host === domain || host.endsWith(`.${domain}`);
}
