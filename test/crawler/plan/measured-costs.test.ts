/** What pages cost, from histories made by hand. `npm run bench:capacity` compares a plan with a real crawl. */
import { expect, it } from 'vitest';
import { benchedPage } from '../../../src/crawler/plan/costs.js';
import { costsOf } from '../../../src/crawler/plan/measured-costs.js';
import type { HistoryPoint } from '../../../src/frontier/frontier.js';
import { historyPoint } from '../../frontier-contract/telemetry-examples.js';

const crawl = {
  ...{ done: 1_990, failed: 10 },
  counters: { 'downloader/response_bytes': 5e6, 'downloader/request_count': 3_000 },
};

/** At 40 pages a second by half a core: every 15 s a point. */
const points = (more: (n: number) => Partial<HistoryPoint> = () => ({})) =>
  [0, 1, 2, 3].map((n) =>
    historyPoint({
      ...{
        atMs: n * 15_000,
        pages: n * 600,
        accepted: 4_000,
        pending: 1_190 - n * 300,
        delayed: 0,
        leased: 10,
      },
      ...{ nodesCpu: 0.5, storeCpuSeconds: 100 + n * 2 },
      ...more(n),
    }),
  );

it('a page costs what all nodes, slots and the server spent in the time of the history', () => {
  const { costs, pages, isRedisMeasured } = costsOf(crawl, points());
  expect({ pages, isRedisMeasured }).toEqual({ pages: 1_800, isRedisMeasured: true });
  expect(costs).toMatchObject({ bytes: 2_500, downloads: 1.5, waitingShare: 1_200 / 4_000 });
  expect(costs.nodeMs).toBeCloseTo((0.5 * 45_000) / 1_800);
  expect(costs.slotMs).toBeCloseTo((10 * 45_000) / 1_800);
  expect(costs.redisMs).toBeCloseTo(6_000 / 1_800);
});

it('a time without nodes or in which a node left, and a reset, do not count', () => {
  const idle = costsOf(
    crawl,
    points((n) => ({ atMs: n * 15_000 + (n === 3 ? 600_000 : 0) })),
  );
  expect(idle.pages).toBe(1_200);
  expect(idle.costs.nodeMs).toBeCloseTo((0.5 * 30_000) / 1_200);
  expect(
    costsOf(
      crawl,
      points((n) => ({ pages: n === 3 ? 0 : n * 600 })),
    ).pages,
  ).toBe(1_200);
  expect(
    costsOf(
      crawl,
      points((n) => ({ nodes: n === 3 ? 1 : 2 })),
    ).pages,
  ).toBe(1_200);
});

it('a server that was started again, or does not tell, costs what it is known of', () => {
  const again = costsOf(
    crawl,
    points((n) => ({ storeCpuSeconds: n < 2 ? 100 + n * 2 : n * 2 })),
  );
  expect(again.costs.redisMs).toBeCloseTo(4_000 / 1_800);
  const silent = costsOf(
    crawl,
    points(() => ({ storeCpuSeconds: null })),
  );
  expect(silent).toMatchObject({ isRedisMeasured: false, costs: { redisMs: benchedPage.redisMs } });
});
