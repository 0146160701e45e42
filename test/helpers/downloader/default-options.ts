/** Options of a downloader for tests. */
import type { DownloaderOptions, DownloadOptions } from '../../../src/downloader/downloader.js';

/** A download of a page. */
export const asPage: DownloadOptions = { purpose: 'page' };

/** No limits but a timeout of 10 s; private addresses are allowed, since every site of a test is on this machine. */
export const downloaderOptions: DownloaderOptions = {
  timeoutMs: 10_000,
  maxBodyBytes: 0,
  robotsBytes: 500 * 1024,
  warnBodyBytes: 0,
  minBytesPerSecond: 0,
  failOnDataLoss: true,
  bufferBytes: 0,
  allowPrivateAddresses: true,
  userAgent: 'crawlnode-test',
  defaultHeaders: {},
  concurrency: 4,
};
