/** Downloading one file for a command: as a crawl does, with its redirects and retries, but without a frontier. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError } from '../../downloader/download-error.js';
import { createDownloader, type Downloader } from '../../downloader/downloader.js';
import type { RetryOptions } from '../../engine/engine-options.js';
import { planRetry, retryAfterMs, statusReason } from '../../engine/page/retry-policy.js';
import { CrawlnodeError } from '../../errors.js';
import { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Settings } from '../../settings/schema.js';
import { downloaderOptionsOf, retryOptionsOf } from '../project/engine-settings.js';
import { followRedirects } from '../requests/fetch-page.js';

export interface FetchedFile {
  readonly body: Buffer;
  readonly contentType: string | null;
}

/** @param admit is asked about each URL before it is requested, and throws to refuse it. @throws CrawlnodeError */
export type SitemapFetch = (
  url: string,
  admit: (url: string) => void,
  stop: AbortSignal,
) => Promise<FetchedFile>;

/** `fetch` until `close`. @param maxBytes of a body, on the wire and without its content encoding. */
export function createSitemapFetch(
  settings: Settings,
  maxBytes: number,
): { readonly fetch: SitemapFetch; close(): Promise<void> } {
  const downloader = createDownloader({ ...downloaderOptionsOf(settings), maxBodyBytes: maxBytes });
  const retry = retryOptionsOf(settings);
  return {
    fetch: async (url, admit, stop) => {
      const { status, headers, body } = await persistently(url, admit, { downloader, settings, retry, stop });
      if (status !== 200)
        throw new CrawlnodeError('bad_status', `the server answered ${statusReason(status)}`);
      const type = headers['content-type'];
      return { body, contentType: typeof type === 'string' ? type : null };
    },
    close: () => downloader.close(),
  };
}

interface Means {
  readonly downloader: Downloader;
  readonly settings: Settings;
  readonly retry: RetryOptions;
  readonly stop: AbortSignal;
}

async function persistently(
  url: string,
  admit: (url: string) => void,
  { downloader, settings, retry, stop }: Means,
): Promise<Response> {
  for (let attempts = 0; ; attempts += 1) {
    let waitMs: number | null = null;
    let failure: DownloadError | null = null;
    let response: Response | null = null;
    try {
      response = await followRedirects(new Request(url), downloader, settings, stop, admit);
      if (!retry.httpCodes.includes(response.status)) return response;
      waitMs = retryAfterMs(response.headers['retry-after'], Date.now(), retry.retryAfterCapMs);
    } catch (error) {
      if (!(error instanceof DownloadError) || !error.retryable || stop.aborted) throw error;
      failure = error;
    }
    const plan = planRetry({ attempts, priority: 0, meta: {} }, waitMs, retry);
    if (plan === null) {
      if (response !== null) return response;
      throw failure;
    }
    await sleep(plan.afterMs, undefined, { signal: stop });
  }
}
