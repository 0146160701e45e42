/** The limits of one download: those of the settings, unless the `meta` of the request has its own. */

/** The limits of `DownloaderOptions`. */
export interface Limits {
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly warnBodyBytes: number;
  readonly minBytesPerSecond: number;
  readonly rateWindowMs?: number;
  readonly failOnDataLoss: boolean;
}

/** The limits of a request. `meta` was checked when the request was created (`request-meta.ts`). */
export function limitsOf(limits: Limits, meta: Readonly<Record<string, unknown>> | undefined): Limits {
  if (meta === undefined) return limits;
  const { download_timeout, download_maxsize, download_fail_on_dataloss } = meta;
  const own = {
    ...(typeof download_timeout === 'number' && { timeoutMs: Math.ceil(download_timeout * 1_000) }),
    ...(typeof download_maxsize === 'number' && { maxBodyBytes: download_maxsize }),
    ...(typeof download_fail_on_dataloss === 'boolean' && { failOnDataLoss: download_fail_on_dataloss }),
  };
  for (const _ in own) return { ...limits, ...own };
  return limits;
}
