/** The limits of one download: those of the settings, unless the `meta` of the request has its own. */

export interface Limits {
  /** Timeout of the whole download, including the body (DOWNLOAD_TIMEOUT). */
  readonly timeoutMs: number;
  /** Limit on the size of the body, encoded and decoded (DOWNLOAD_MAXSIZE); 0 for none. */
  readonly maxBodyBytes: number;
  /** Bytes of a robots.txt that are read and decoded; the rest is left. */
  readonly robotsBytes: number;
  /** A larger body is logged (DOWNLOAD_WARNSIZE); 0 for never. */
  readonly warnBodyBytes: number;
  /** A body that stays slower for `rateWindowMs` fails the download (DOWNLOAD_MIN_RATE); 0 for none. */
  readonly minBytesPerSecond: number;
  /** By default 30,000. */
  readonly rateWindowMs?: number;
  /** A body that ends too early fails the download; false hands over what came (DOWNLOAD_FAIL_ON_DATALOSS). */
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
