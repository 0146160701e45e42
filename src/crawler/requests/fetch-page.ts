/** Download one page for `fetch` and `parse` as the crawl would, with redirects but without a frontier. */
import type { Downloader, DownloadOptions } from '../../downloader/downloader.js';
import { type Authorize, type AuthSpider, httpAuthOf } from '../../downloader/http-auth.js';
import { CrawlnodeError } from '../../errors.js';
import type { Origin, RequestRecord } from '../../http/message/record/request-record.js';
import { inheritedOrigin } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import { Response } from '../../http/message/response.js';
import type { Logger } from '../../log.js';
import { isRedirect, redirected } from '../../node/page/redirected-request.js';
import type { Settings } from '../../settings/schema.js';
import { downloaderOptionsOf } from '../project/settings-to-options.js';

/**
 * Download a page that the user named. It may be at a private address.
 * @param stop aborted to cancel the download. @param spider whose credentials its site gets.
 * @throws DownloadError; CrawlnodeError past REDIRECT_MAX_TIMES
 */
export async function fetchPage(
  request: Request,
  settings: Settings,
  log: Logger,
  stop: AbortSignal,
  spider: AuthSpider = {},
): Promise<Response> {
  const { createDownloader } = await import('../../downloader/downloader.js');
  const downloader = createDownloader({ ...downloaderOptionsOf(settings), log });
  try {
    const trusted = request.replace({ origin: trustedOrigin });
    const context = { downloader, settings, stop, authorize: httpAuthOf(spider) };
    return (await followRedirects(trusted, { purpose: 'page' }, context)).response;
  } finally {
    await downloader.close();
  }
}

/** The origin of URLs that the user named. They may connect to private addresses. */
export const trustedOrigin: Origin = { seed: '00000000', private: true };
/** The origin of URLs that a site named. */
export const untrustedOrigin: Origin = { seed: '00000000', private: false };

/** The end of a chain of redirects. */
export interface Fetched {
  readonly response: Response;
  /**
   * Whether links of the page may lead to private addresses: the request was trusted and reached the page over private
   * addresses only.
   */
  readonly leadsToPrivate: boolean;
}

/** What `followRedirects` works with. */
export interface FetchContext {
  readonly downloader: Downloader;
  readonly settings: Settings;
  readonly stop: AbortSignal;
  /** Adds credentials; by default none. */
  readonly authorize?: Authorize;
}

/**
 * Download a page and follow its redirects.
 * @param request whose origin decides whether it may connect to private addresses. @param how the first hop is made; the
 *   others are parsed strictly.
 * @throws DownloadError; CrawlnodeError past REDIRECT_MAX_TIMES
 */
export async function followRedirects(
  request: Request,
  how: DownloadOptions,
  { downloader, settings, stop, authorize = (request) => request }: FetchContext,
): Promise<Fetched> {
  const hops = settings.REDIRECT_ENABLED ? settings.REDIRECT_MAX_TIMES : 0;
  for (let at = request; ; ) {
    const options = at === request ? how : { ...how, isLenient: false };
    const download = await downloader.fetch(authorize(at), options, stop);
    const { location } = download.headers;
    const origin = inheritedOrigin(at.origin, download.fromPrivateAddress);
    const response = new Response({ ...download, request: at, maxNodes: settings.DOWNLOAD_MAX_NODES });
    const end = { response, leadsToPrivate: origin?.private === true };
    if (hops === 0 || !isRedirect(download.status) || typeof location !== 'string') return end;
    if (at.redirects >= hops) {
      throw new CrawlnodeError('too_many_redirects', `${request.url} redirects more than ${hops} times`);
    }
    const next = redirected({ ...recordOf(at), origin }, download.status, location);
    if (next === null) return end;
    at = Request.fromRecord(next);
  }
}

function recordOf(request: Request): RequestRecord {
  const ofCrawl = { callback: null, errback: null, parent: null, cookieJar: null, waitingItem: null };
  return { ...request, ...ofCrawl, acceptedAtMs: 0 };
}
