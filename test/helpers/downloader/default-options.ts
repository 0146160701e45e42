/** Options of a downloader for tests. */
import type { DownloaderOptions } from '../../../src/downloader/downloader.js';

/** No limits but a timeout of 10 s; private addresses are allowed, since every site of a test is on this machine. */
export const downloaderOptions: DownloaderOptions = {
  timeoutMs: 10_000,
  maxBodyBytes: 0,
  warnBodyBytes: 0,
  minBytesPerSecond: 0,
  failOnDataLoss: true,
  bufferBytes: 0,
  allowPrivateAddresses: true,
  userAgent: 'crawlnode-test',
  defaultHeaders: {},
  concurrency: 4,
};
