/**
 * What each ending of a download means. Pure functions: they judge, `crawl-one.ts` acts.
 *
 * ```
 *   2xx or allowed ───────────────► callback ──► done
 *   3xx with a Location ──────────► redirect ──► done, and a new request
 *   RETRY_HTTP_CODES, retryable ──► retry ─────► delayed
 *        the same, used up ───────► exhausted ─► errback, failed
 *   any other status ─────────────► ignored ───► errback, done
 *   any other download error ─────► final ────► errback, failed
 * ```
 */
import type { Outcome } from '../../frontier/frontier.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { add, type Counters } from '../links/filter-links.js';
import type { NodeOptions } from '../node-options.js';
import { isRedirect } from './redirected-request.js';
import { firstValue, planRetry, type RetryPlan, retryAfterMs, statusReason } from './retry-plan.js';

/** Response headers with lower-case names, as the downloader hands them over. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Verdict =
  | { readonly kind: 'callback' }
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'retry';
      readonly reason: string;
      /** The reason under Scrapy's `retry/reason_count/`. */
      readonly reasonCount: string;
      readonly plan: RetryPlan;
      /** The response was not valid HTTP: the next one is parsed leniently. */
      readonly isLenient?: boolean;
    }
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'ignored' };

/**
 * Judge an HTTP status, as Scrapy does: first retries, then `handle_httpstatus_list`, then redirects, then
 * HTTPERROR_ALLOWED_CODES.
 * @param pauseMs what the server asked for in Retry-After (`askedPause`), or null.
 * @param passed the last built-in step (redirect, then retry) that the response has passed on its way through middleware.
 */
export function judgeStatus(
  status: number,
  headers: Headers,
  record: RequestRecord,
  options: NodeOptions,
  pauseMs: number | null,
  passed: 'redirect' | 'retry' | null = null,
): Verdict {
  if (status >= 200 && status < 300) return { kind: 'callback' };

  const retryable =
    options.retry.httpCodes.includes(status) && options.retry.enabled && record.meta.dont_retry !== true;
  if (retryable && passed !== 'retry') {
    const plan = planRetry(record, pauseMs, options.retry);
    if (plan !== null)
      return { kind: 'retry', reason: 'http_status', reasonCount: statusReason(status), plan };
  }
  if (isHandledByRequest(status, record)) return { kind: 'callback' };

  const location = firstValue(headers.location);
  if (
    isRedirect(status) &&
    location &&
    passed === null &&
    options.redirectMaxTimes !== null &&
    record.meta.dont_redirect !== true
  ) {
    return { kind: 'redirect', location };
  }
  if (options.allowAllStatuses || options.allowedStatuses.includes(status)) return { kind: 'callback' };
  return retryable ? { kind: 'exhausted' } : { kind: 'ignored' };
}

/**
 * Judge a failed download.
 * @param error its reason, and whether another attempt may succeed. `malformed`: the response was not valid HTTP, so only an
 *   attempt that parses leniently may. `proxies`: when one can be used again.
 */
export function judgeFailure(
  error: {
    readonly reason: string;
    readonly retryable: boolean;
    readonly malformed?: boolean;
    readonly proxies?: { readonly waitMs: number } | null;
  },
  record: RequestRecord,
  options: NodeOptions,
): Extract<Verdict, { kind: 'retry' | 'exhausted' }> | { readonly kind: 'final' } {
  const isLenient = error.malformed === true;
  if (!error.retryable || (isLenient && record.lenient === true)) return { kind: 'final' };
  if (!options.retry.enabled || record.meta.dont_retry === true) return { kind: 'final' };
  const plan = planRetry(record, error.proxies?.waitMs ?? null, options.retry);
  if (plan === null) return { kind: 'exhausted' };
  return { kind: 'retry', reason: error.reason, reasonCount: error.reason, plan, isLenient };
}

/** For how long a 429 or 503 asks the crawl to leave its domain alone; null when it does not say. */
export function askedPause(status: number, headers: Headers, nowMs: number, capMs: number): number | null {
  return status === 429 || status === 503 ? retryAfterMs(headers['retry-after'], nowMs, capMs) : null;
}

/**
 * How long after its lease was asked for the download of a domain with a delay must begin. After that, the next download of
 * the domain, by another node, may come less than the delay behind it.
 */
export function beginWithinMs(delayMs: number): number {
  return delayMs > 0 ? Math.max(50, Math.min(delayMs / 4, 500)) : Number.POSITIVE_INFINITY;
}

/** Stands for the status of pages that failed without a response. */
export const NO_RESPONSE = 'none';

/** The counters of a settle that ends a page, by its final status, or fails a request, by the reason. */
export function endingCounters(outcome: Outcome): Counters {
  const counters: Counters = {};
  const name = finalStatusCounter(outcome);
  if (name !== null) add(counters, name);
  if (outcome.kind === 'failed') add(counters, `page/failed_reason_count/${outcome.reason}`);
  return counters;
}

/**
 * The counter of the page that a settle ends; null where none ends (a retry, a redirect hop), or where none was downloaded, as
 * with robots.txt.
 */
function finalStatusCounter(outcome: Outcome): string | null {
  if (outcome.kind !== 'done' && outcome.kind !== 'failed') return null;
  const { kind, status, reason, unstarted } = outcome;
  if (unstarted === true || reason === 'redirect' || reason === 'meta_refresh') return null;
  if (kind === 'done' && status === undefined) return null;
  return `page/final_status_count/${status ?? NO_RESPONSE}`;
}

/** Pages by final status, from the counters. */
export const pagesByStatus = (counters: Counted) => countersBelow('page/final_status_count/', counters);

/** Failed requests by reason, from the counters. The store itself fails those that were given up as crashed. */
export function failuresByReason(counters: Counted): Record<string, number> {
  const crashed = counters['crashed/count'] ?? 0;
  return { ...countersBelow('page/failed_reason_count/', counters), ...(crashed > 0 ? { crashed } : {}) };
}

type Counted = Readonly<Record<string, number>>;

function countersBelow(prefix: string, counters: Counted): Record<string, number> {
  const named = Object.entries(counters).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(named.map(([name, count]) => [name.slice(prefix.length), count]));
}

/** Whether the spider wants to see a response of this status itself. */
export function isHandledByRequest(status: number, { meta }: Pick<RequestRecord, 'meta'>): boolean {
  const { handle_httpstatus_list: list, handle_httpstatus_all: all } = meta;
  return all === true || (Array.isArray(list) && list.includes(status));
}
