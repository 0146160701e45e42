/**
 * A downloader that keeps pages in files, for development and for tests without a network. It is Scrapy's dummy policy: each page is
 * downloaded once and then comes from its file, whatever its headers say.
 */
import { messageOf } from '../../errors.js';
import type { Logger } from '../../log.js';
import { DownloadError, hostOf } from '../download-error.js';
import type { Downloader, DownloadOptions } from '../downloader.js';
import type { Download, DownloadUnderWay } from '../exchange.js';
import type { DownloadRequest } from '../wire-request.js';
import { CacheFiles } from './cache-files.js';

export interface HttpCacheOptions {
  /** HTTPCACHE_DIR, and a folder of the spider in it. */
  readonly dir: string;
  /** HTTPCACHE_EXPIRATION_SECS; 0 is never. */
  readonly maxAgeMs: number;
  /** HTTPCACHE_IGNORE_HTTP_CODES. */
  readonly ignoredStatuses: readonly number[];
  /** HTTPCACHE_IGNORE_MISSING. */
  readonly failsIfMissing: boolean;
  /** HTTPCACHE_IGNORE_SCHEMES. */
  readonly ignoredSchemes: readonly string[];
  /** HTTPCACHE_GZIP. */
  readonly isCompressed: boolean;
  /** The identity of a request, 40 hex digits. */
  readonly fingerprint: (request: DownloadRequest) => string;
  readonly log: Logger;
}

const cachedFlags: readonly string[] = ['cached'];

/** Put a cache before a downloader. `meta.dont_cache` leaves a request out. */
export function withHttpCache(downloader: Downloader, options: HttpCacheOptions): Downloader {
  const cache = new Cache(downloader, options);
  const { start } = cache;
  return {
    start,
    async fetch(request, how, signal) {
      if (signal.aborted) throw aborted();
      const call = start(request, how);
      const abort = () => call.abort();
      signal.addEventListener('abort', abort);
      try {
        return await call.result;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    enter: (bodyBytes) => downloader.enter(bodyBytes),
    close: () => downloader.close(),
  };
}

class Cache {
  readonly #downloader: Downloader;
  readonly #options: HttpCacheOptions;
  readonly #files: CacheFiles;
  #hasWarned = false;

  constructor(downloader: Downloader, options: HttpCacheOptions) {
    this.#downloader = downloader;
    this.#options = options;
    this.#files = new CacheFiles(options.dir, options.isCompressed);
  }

  readonly start = (request: DownloadRequest, how: DownloadOptions): DownloadUnderWay => {
    const { url, meta } = request;
    const isIgnored = this.#options.ignoredSchemes.includes(url.slice(0, url.indexOf(':')));
    const download = () => this.#downloader.start(request, how);
    if (isIgnored || meta?.dont_cache === true) return download();
    return new CachedDownload(
      () => this.#read(request),
      download,
      (page) => this.#write(request, page),
    );
  };

  /** @returns null when the page must be downloaded. @throws DownloadError `not_cached` */
  async #read(request: DownloadRequest): Promise<Download | null> {
    const { fingerprint, maxAgeMs, failsIfMissing } = this.#options;
    const { url, attempts = 0 } = request;
    // A retry is always sent, since the stored response may be what is retried.
    const stored = attempts > 0 ? null : await this.#files.read(fingerprint(request), Date.now(), maxAgeMs);
    if (stored !== null) {
      return { ...stored, url, wireBytes: 0, latencyMs: 0, flags: cachedFlags, cache: 'hit' };
    }
    if (!failsIfMissing) return null;
    const says = 'the page is not in the HTTP cache, and HTTPCACHE_IGNORE_MISSING is set';
    throw new DownloadError('not_cached', `${hostOf(url)}: ${says}`);
  }

  async #write(request: DownloadRequest, page: Download): Promise<Download> {
    const { dir, fingerprint, ignoredStatuses, log } = this.#options;
    // A page with a flag is incomplete.
    if (ignoredStatuses.includes(page.status) || page.flags.length > 0) return page;
    try {
      await this.#files.write(fingerprint(request), request.url, page, Date.now());
      return { ...page, cache: 'stored' };
    } catch (error) {
      if (!this.#hasWarned) log.warn({ dir }, `pages cannot be cached: ${messageOf(error)}`);
      this.#hasWarned = true;
      return page;
    }
  }
}

class CachedDownload implements DownloadUnderWay {
  readonly result: Promise<Download>;
  #download: DownloadUnderWay | null = null;
  #isAborted = false;

  constructor(
    read: () => Promise<Download | null>,
    download: () => DownloadUnderWay,
    write: (page: Download) => Promise<Download>,
  ) {
    this.result = this.#run(read, download, write);
  }

  get isStalled(): boolean {
    return this.#download?.isStalled === true;
  }

  get isReceived(): boolean {
    return this.#download?.isReceived === true;
  }

  timeOut(says: string): void {
    this.#download?.timeOut(says);
  }

  abort(): void {
    this.#isAborted = true;
    this.#download?.abort();
  }

  async #run(
    read: () => Promise<Download | null>,
    download: () => DownloadUnderWay,
    write: (page: Download) => Promise<Download>,
  ): Promise<Download> {
    const stored = await read();
    if (this.#isAborted) throw aborted();
    if (stored !== null) return stored;
    this.#download = download();
    return write(await this.#download.result);
  }
}

function aborted(): DownloadError {
  return new DownloadError('aborted', 'the download was aborted');
}
