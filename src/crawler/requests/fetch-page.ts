/** One page for `fetch` and `parse`: as the crawl would download it, redirects followed, no frontier involved. */

import type { Downloader } from '../../downloader/downloader.js';
import { isRedirect, redirected } from '../../engine/page/redirect.js';
import { CrawlnodeError } from '../../errors.js';
import { Request } from '../../http/message/request.js';
import type { RequestRecord } from '../../http/message/request-record.js';
import { Response } from '../../http/message/response.js';
import type { Logger } from '../../log.js';
import type { Settings } from '../../settings/schema.js';
import { downloaderOptionsOf } from '../project/engine-settings.js';

/** @param stop aborted to give it up. @throws DownloadError; CrawlnodeError past REDIRECT_MAX_TIMES */
export async function fetchPage(
  request: Request,
  settings: Settings,
  log: Logger,
  stop: AbortSignal,
): Promise<Response> {
  const { createDownloader } = await import('../../downloader/downloader.js');
  const downloader = createDownloader({ ...downloaderOptionsOf(settings), log });
  try {
    return await followRedirects(request, downloader, settings, stop);
  } finally {
    await downloader.close();
  }
}

/**
 * One page at the end of its redirects.
 * @param admit is asked about each URL before it is requested, and throws to refuse it.
 * @throws DownloadError; CrawlnodeError past REDIRECT_MAX_TIMES
 */
export async function followRedirects(
  request: Request,
  downloader: Downloader,
  settings: Settings,
  stop: AbortSignal,
  admit: (url: string) => void = () => {},
): Promise<Response> {
  const hops = settings.REDIRECT_ENABLED ? settings.REDIRECT_MAX_TIMES : 0;
  for (let at = request; ; ) {
    admit(at.url);
    const download = await downloader.fetch(at, stop);
    const { location } = download.headers;
    const response = new Response({ ...download, request: at });
    if (hops === 0 || !isRedirect(download.status) || typeof location !== 'string') return response;
    if (at.redirects >= hops) {
      throw new CrawlnodeError('too_many_redirects', `${request.url} redirects more than ${hops} times`);
    }
    const next = redirected(recordOf(at), download.status, location);
    if (next === null) return response;
    at = Request.fromRecord(next);
  }
}

function recordOf(request: Request): RequestRecord {
  const { url, method, headers, body, priority, dontFilter, depth, attempts, redirects, origin } = request;
  return {
    ...{ url, method, headers, body, priority, dontFilter, depth, attempts, redirects, origin },
    meta: request.meta,
    callback: null,
    errback: null,
    parent: null,
    cookies: request.cookies,
    cookieJar: null,
    acceptedAtMs: 0,
  };
}
