/** When a request is tried again, and how a Retry-After is read. */
import { describe, expect, it } from 'vitest';
import type { RetryOptions } from '../../../src/node/node-options.js';
import { planRetry, retryAfterMs, statusReason } from '../../../src/node/page/retry-plan.js';

const options: RetryOptions = {
  enabled: true,
  times: 2,
  httpCodes: [503],
  priorityAdjust: -1,
  baseMs: 1_000,
  capMs: 60_000,
  retryAfterCapMs: 3_600_000,
};
const record = { attempts: 0, priority: 5, meta: {} };

describe('planRetry', () => {
  it('draws the wait from the second half of the backoff', () => {
    expect(planRetry(record, null, options, () => 0)?.afterMs).toBe(500);
    expect(planRetry(record, null, options, () => 1)?.afterMs).toBe(1_000);
  });

  it('doubles the backoff with each attempt, up to the cap', () => {
    const often = { ...options, times: 100 };
    const waits = [1, 2, 3, 90].map(
      (attempts) => planRetry({ ...record, attempts }, null, often, () => 1)?.afterMs,
    );
    expect(waits).toEqual([2_000, 4_000, 8_000, 60_000]);
  });

  it('obeys a Retry-After that asks for more, not one that asks for less', () => {
    expect(planRetry(record, 30_000, options, () => 1)?.afterMs).toBe(30_000);
    expect(planRetry(record, 10, options, () => 1)?.afterMs).toBe(1_000);
  });

  it('lowers the priority, never out of the range the frontier can order', () => {
    expect(planRetry(record, null, options)?.priority).toBe(4);
    const lowest = { ...record, priority: -(2 ** 31) };
    expect(planRetry(lowest, null, options)?.priority).toBe(-(2 ** 31));
  });

  it('gives up after RETRY_TIMES retries', () => {
    expect(planRetry({ ...record, attempts: 1 }, null, options)).not.toBeNull();
    expect(planRetry({ ...record, attempts: 2 }, null, options)).toBeNull();
  });

  it('lets a request say for itself how often, or not at all', () => {
    expect(planRetry({ ...record, attempts: 2, meta: { max_retry_times: 3 } }, null, options)).not.toBeNull();
    expect(planRetry({ ...record, meta: { max_retry_times: 0 } }, null, options)).toBeNull();
    expect(planRetry({ ...record, meta: { dont_retry: true } }, null, options)).toBeNull();
  });

  it('plans nothing when retries are off', () => {
    expect(planRetry(record, null, { ...options, enabled: false })).toBeNull();
  });
});

describe('retryAfterMs', () => {
  const now = Date.parse('Wed, 21 Oct 2015 07:28:00 GMT');

  it('reads seconds', () => {
    expect(retryAfterMs('120', now, 3_600_000)).toBe(120_000);
    expect(retryAfterMs(' 1.5 ', now, 3_600_000)).toBe(1_500);
  });

  it('reads an HTTP date, and one that has passed as no wait', () => {
    expect(retryAfterMs('Wed, 21 Oct 2015 07:29:00 GMT', now, 3_600_000)).toBe(60_000);
    expect(retryAfterMs('Wednesday, 21-Oct-15 07:29:00 GMT', now, 3_600_000)).toBe(60_000);
    expect(retryAfterMs('Wed, 21 Oct 2015 07:27:00 GMT', now, 3_600_000)).toBe(0);
  });

  it('reads the oldest form of a date as GMT, wherever this machine is', () => {
    const { TZ } = process.env;
    process.env.TZ = 'America/New_York';
    try {
      expect(retryAfterMs('Wed Oct 21 07:29:00 2015', now, 3_600_000)).toBe(60_000);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it('cuts what is asked for to the cap', () => {
    expect(retryAfterMs('99999999999999999999', now, 1_000)).toBe(1_000);
    expect(retryAfterMs('Fri, 01 Jan 2100 00:00:00 GMT', now, 1_000)).toBe(1_000);
  });

  it('takes the first of several, and anything else for none', () => {
    expect(retryAfterMs(['3', '9'], now, 60_000)).toBe(3_000);
    for (const header of [undefined, '', '-5', 'soon', '1e3', 'Infinity', []]) {
      expect(retryAfterMs(header, now, 60_000)).toBeNull();
    }
  });
});

it('a status is named as Scrapy names it in its counters', () => {
  expect(statusReason(503)).toBe('503 Service Unavailable');
  expect(statusReason(522)).toBe('522 Unknown Status');
});
