/** When a request is tried again, how long it waits, and with which priority. Pure: chance and clock are passed in. */
import { STATUS_CODES } from 'node:http';
import { priorityInBounds } from '../../http/message/priority.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { RetryOptions } from '../node-options.js';

export interface RetryPlan {
  readonly afterMs: number;
  readonly priority: number;
}

/**
 * Plan the next attempt. Backoff doubles with each attempt up to `capMs`, and its second half is drawn at random,
 * so that requests that failed together do not come back together; a Retry-After that asks for more is obeyed.
 * @param retryAfterMs what the server asked for, already clamped; null when it asked for nothing.
 * @returns null when retries are off (`meta.dont_retry`) or used up (`meta.max_retry_times`, else RETRY_TIMES).
 */
export function planRetry(
  record: Pick<RequestRecord, 'attempts' | 'priority' | 'meta'>,
  retryAfterMs: number | null,
  options: RetryOptions,
  random: () => number = Math.random,
): RetryPlan | null {
  if (!options.enabled || record.meta.dont_retry === true) return null;
  const own = record.meta.max_retry_times;
  const times = typeof own === 'number' ? own : options.times;
  if (record.attempts >= times) return null;

  const backoffMs = Math.min(options.capMs, options.baseMs * 2 ** record.attempts);
  const jitteredMs = backoffMs / 2 + (backoffMs / 2) * random();
  return {
    afterMs: Math.round(Math.max(jitteredMs, retryAfterMs ?? 0)),
    priority: priorityInBounds(record.priority + options.priorityAdjust),
  };
}

/**
 * Read a Retry-After header: delay seconds or an HTTP date (RFC 9110 §10.2.3), clamped to 0…`capMs`.
 * @returns null when there is none or it is neither.
 */
export function retryAfterMs(
  header: string | readonly string[] | undefined,
  nowMs: number,
  capMs: number,
): number | null {
  const text = firstValue(header)?.trim();
  if (!text) return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(capMs, Math.round(Number(text) * 1000));
  // Date.parse is generous ("-5" is a year to it); every form of HTTP date begins with the name of a day.
  if (!/^[A-Za-z]{3}/.test(text)) return null;
  // The oldest form, asctime, names no zone; it is GMT (RFC 9110 §5.6.7).
  const atMs = Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.min(capMs, atMs - nowMs));
}

/** The value of a header; of a repeated one the first. */
export function firstValue(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/** How Scrapy names a status in `retry/reason_count/…`, such as `503 Service Unavailable`. */
export function statusReason(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown Status'}`;
}
