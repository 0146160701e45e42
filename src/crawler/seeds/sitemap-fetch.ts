/** Download sitemaps as a crawl downloads pages, with redirects and retries but without a frontier. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError } from '../../downloader/download-error.js';
import { createDownloader } from '../../downloader/downloader.js';
import { CrawlnodeError } from '../../errors.js';
import { Request } from '../../http/message/request.js';
import { MAX_SITEMAP_BYTES } from '../../http/sitemap/sitemap-document.js';
import type { RetryOptions } from '../../node/node-options.js';
import { planRetry, retryAfterMs, statusReason } from '../../node/page/retry-plan.js';
import type { Trust } from '../../node/seeds/seed-requests.js';
import type { Settings } from '../../settings/schema.js';
import { downloaderOptionsOf, retryOptionsOf } from '../project/settings-to-options.js';
import {
  type FetchContext,
  type Fetched,
  followRedirects,
  trustedOrigin,
  untrustedOrigin,
} from '../requests/fetch-page.js';

export interface FetchedFile {
  readonly body: Buffer;
  readonly contentType: string | null;
  /** Whether URLs in the file may be at private addresses. */
  readonly leadsToPrivate: boolean;
}

/** @param trust `trusted` where the URL may be at a private address. @throws CrawlnodeError */
export type SitemapFetch = (url: string, trust: Trust, stop: AbortSignal) => Promise<FetchedFile>;

/** A body may have `MAX_SITEMAP_BYTES`, both compressed and decompressed. */
export function createSitemapFetch(settings: Settings): {
  readonly fetch: SitemapFetch;
  close(): Promise<void>;
} {
  const options = { ...downloaderOptionsOf(settings), maxBodyBytes: MAX_SITEMAP_BYTES };
  const downloader = createDownloader(options);
  const retry = retryOptionsOf(settings);
  return {
    fetch: async (url, trust, stop) => {
      const request = new Request(url).replace({
        origin: trust === 'trusted' ? trustedOrigin : untrustedOrigin,
      });
      const context = { downloader, settings, stop };
      const { response, leadsToPrivate } = await fetchWithRetries(request, context, retry);
      const { status, headers, body } = response;
      if (status !== 200)
        throw new CrawlnodeError('bad_status', `the server answered ${statusReason(status)}`);
      const type = headers['content-type'];
      return { body, contentType: typeof type === 'string' ? type : null, leadsToPrivate };
    },
    close: () => downloader.close(),
  };
}

async function fetchWithRetries(
  request: Request,
  context: FetchContext,
  retry: RetryOptions,
): Promise<Fetched> {
  const { stop } = context;
  let isLenient = false;
  for (let attempts = 0; ; attempts += 1) {
    let waitMs: number | null = null;
    let failure: DownloadError | null = null;
    let fetched: Fetched | null = null;
    try {
      fetched = await followRedirects(
        request.replace({ attempts }),
        { purpose: 'sitemap', isLenient },
        context,
      );
      const { response } = fetched;
      if (!retry.httpCodes.includes(response.status)) return fetched;
      waitMs = retryAfterMs(response.headers['retry-after'], Date.now(), retry.retryAfterCapMs);
    } catch (error) {
      if (!(error instanceof DownloadError) || !error.retryable || stop.aborted) throw error;
      failure = error;
      if (error.malformed) isLenient = true;
    }
    const plan = planRetry({ attempts, priority: 0, meta: {} }, waitMs, retry);
    if (plan === null) {
      if (fetched !== null) return fetched;
      throw failure;
    }
    await sleep(plan.afterMs, undefined, { signal: stop });
  }
}
