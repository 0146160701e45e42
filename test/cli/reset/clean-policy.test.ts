/** When a reset with a policy happens, and how durations read. */
import { describe, expect, it } from 'vitest';
import { inWords, parseDuration } from '../../../src/cli/options/duration.js';
import { evaluatePolicy } from '../../../src/cli/reset/clean-policy.js';
import { allParts } from '../../../src/frontier/frontier.js';

const day = 86_400_000;
const now = 100 * day;
const crawl = { seen: 500, beganAtMs: now - 10 * day, seenSinceMs: now - 3 * day, usedAtMs: now - 2 * day };

describe('a clean policy', () => {
  it.each([
    [{ olderThanMs: 7 * day }, allParts, true, 'the crawl began 1w 3d ago (limit 1w)'],
    [{ olderThanMs: 11 * day }, allParts, false, 'the crawl began 1w 3d ago (limit 1w 4d)'],
    // What would go is young, though the crawl is not: cleaned yesterday, it is not cleaned again today.
    [{ olderThanMs: 7 * day }, ['dupefilter'] as const, false, 'its dupefilter began 3d ago (limit 1w)'],
    [{ olderThanMs: 7 * day }, ['queue'] as const, true, 'the crawl began 1w 3d ago (limit 1w)'],
    [{ olderThanMs: 3 * day, isUnused: true }, allParts, false, 'the crawl was last used 2d ago (limit 3d)'],
    [{ olderThanMs: day, isUnused: true }, allParts, true, 'the crawl was last used 2d ago (limit 1d)'],
    [{ largerThan: 500 }, allParts, false, 'the dupefilter holds 500 fingerprints (limit 500)'],
    [{ largerThan: 499 }, allParts, true, 'the dupefilter holds 500 fingerprints (limit 499)'],
    [
      { olderThanMs: 30 * day, largerThan: 10 },
      allParts,
      true,
      'the crawl began 1w 3d ago (limit 4w 2d), the dupefilter holds 500 fingerprints (limit 10)',
    ],
  ])('%j on %j', (policy, parts, isDue, why) => {
    expect(evaluatePolicy(policy, crawl, parts, now)).toEqual({ isDue, why });
  });

  it('is never due where nothing has begun', () => {
    const nothing = { seen: 0, beganAtMs: null, seenSinceMs: null, usedAtMs: null };
    expect(evaluatePolicy({ olderThanMs: 1 }, nothing, allParts, now)).toEqual({
      isDue: false,
      why: 'the crawl has not begun',
    });
  });
});

describe('a duration', () => {
  it('is a number with a unit', () => {
    const given = ['90s', '15m', '12h', '7d', '2w', '1.5h'].map(parseDuration);
    expect(given).toEqual([90_000, 900_000, 43_200_000, 7 * day, 14 * day, 5_400_000]);
    for (const wrong of ['7', 'd', '-1d', '7 d', 'soon', ''])
      expect(() => parseDuration(wrong)).toThrow('unit');
  });

  it('reads in its two largest units', () => {
    expect([0, 999, 61_000, 3 * day + 5 * 3_600_000 + 60_000].map(inWords)).toEqual([
      '0s',
      '0s',
      '1m 1s',
      '3d 5h',
    ]);
  });
});
