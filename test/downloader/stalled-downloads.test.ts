/** When a download counts as stalled, and when its body as slower than the minimum rate. */
import { expect, test } from 'vitest';
import { createDownloader } from '../../src/downloader/downloader.js';
import { PACE_INTERVAL_MS, Pace } from '../../src/downloader/stalled-downloads.js';
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
  const { isFast } = paceOf(5, 100);
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
