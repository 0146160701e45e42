/** When a download counts as stalled, and when its body as slower than the minimum rate. */
import { expect, test } from 'vitest';
import { createDownloader } from '../../src/downloader/downloader.js';
import { PACE_INTERVAL_MS, Pace, UsualLatency } from '../../src/downloader/stalled-downloads.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';
import { rawSite } from '../helpers/sites/raw-site.js';
import { waitFor } from '../helpers/wait-for.js';

const INTERVALS = 30_000 / PACE_INTERVAL_MS;

/** What `isFastEnough` says at each interval of a body that gets so many bytes in each. */
function paceOf(bytesPerInterval: number, minBytesPerSecond: number): { isFast: boolean[]; pace: Pace } {
  const pace = new Pace(minBytesPerSecond);
  const isFast = Array.from({ length: INTERVALS }, (_, n) =>
    pace.isFastEnough((n + 1) * bytesPerInterval, true),
  );
  return { isFast, pace };
}

test('a body below the minimum rate is too slow after 30 s, not before', () => {
  const { isFast } = paceOf(10, 100);
  expect(isFast).toEqual([...Array(INTERVALS - 1).fill(true), false]);
});

test('a body at the minimum rate is fast enough', () => {
  const { isFast, pace } = paceOf(50, 100);
  expect(isFast).toEqual(Array(INTERVALS).fill(true));
  expect(pace.isStalled).toBe(false);
});

test('without a minimum rate no body is too slow; one without progress for a second is stalled', () => {
  const { isFast, pace } = paceOf(0, 0);
  expect(isFast).toEqual(Array(INTERVALS).fill(true));
  expect(pace.isStalled).toBe(true);
  pace.progressed();
  const idle = Array.from({ length: 1_000 / PACE_INTERVAL_MS }, () => [
    pace.isFastEnough(0, true),
    pace.isStalled,
  ]);
  expect(idle).toEqual([...idle.slice(1).map(() => [true, false]), [true, true]]);
});

test('where servers answer fast, a silent download is stalled after an eighth of a second, whatever a few of them take', () => {
  const usual = new UsualLatency();
  const intervals = () => {
    const pace = new Pace(0, 30_000, usual);
    let count = 0;
    for (; !pace.isStalled; count++) pace.isFastEnough(0, false);
    return count;
  };
  const note = (times: number, latencyMs: number) => {
    for (let n = 0; n < times; n++) usual.note(latencyMs);
  };
  const inSecond = 1_000 / PACE_INTERVAL_MS;
  expect(intervals()).toBe(inSecond);
  note(100, 20);
  note(3, 5_000);
  // The first interval counts from when the download began, so that it may be a short one.
  expect(intervals()).toBe(2);
  note(100, 300);
  expect(intervals()).toBe(inSecond);
});

test('whoever starts a download hears once when it stalls', async () => {
  const site = await rawSite(() => {});
  const downloader = createDownloader(downloaderOptions);
  const request = { url: site.url, method: 'GET', headers: {}, body: null, cookies: null };
  let stalls = 0;
  const { result, isStalled } = downloader.start(request, { ...asPage, onStall: () => stalls++ });
  const ended = expect(result).rejects.toMatchObject({ reason: 'aborted' });
  expect({ isStalled, stalls }).toEqual({ isStalled: false, stalls: 0 });
  await waitFor(() => stalls > 0);
  await new Promise((resolve) => setTimeout(resolve, 3 * PACE_INTERVAL_MS));
  expect(stalls).toBe(1);
  await downloader.close();
  await ended;
  await site.close();
});
