/** The clock of a crawl, from that of the machine. */
import { expect, it } from 'vitest';
import { crawlClock, type StoredClock } from '../../../src/frontier/embedded/base/crawl-clock.js';

/** Follow the clock of a machine. @returns the instants of the crawl. */
function follow(walls: readonly number[]): { instants: number[]; stored: StoredClock; stores: number } {
  let stored: StoredClock = { lastMs: 0, aheadMs: 0 };
  let stores = 0;
  const instants = walls.map((wall) => {
    const { atMs, aheadMs, isToStore } = crawlClock(stored, wall);
    if (isToStore) {
      stored = { lastMs: atMs, aheadMs };
      stores += 1;
    }
    return atMs;
  });
  return { instants, stored, stores };
}

const HOUR = 3_600_000;
const from = 1_700_000_000_000;
const seconds = (count: number, start: number, byMs = 100) =>
  Array.from({ length: count * 10 }, (_, n) => start + n * byMs);

it('is that of the machine while this goes on, and is stored once a second', () => {
  const walls = seconds(10, from);
  const { instants, stores } = follow(walls);
  expect(instants).toEqual(walls);
  expect(stores).toBeLessThanOrEqual(11);
});

it('goes on after a step back, never back by more than a second, and comes back to the machine by 1 % of the time', () => {
  const { instants } = follow([...seconds(10, from), ...seconds(100, from - HOUR)]);
  const lowest = Math.min(...instants.slice(1).map((instant, n) => instant - instants[n]!));
  expect(lowest).toBeGreaterThan(-1_000);
  const after = instants.slice(100);
  expect(after.slice(1).every((instant, n) => instant >= after[n]!)).toBe(true);
  const passed = after.at(-1)! - after[0]!;
  expect(passed).toBeGreaterThan(98_000);
  expect(passed).toBeLessThanOrEqual(99_900);
});

it('does not add up steps back and forth, as failovers between two servers give them', () => {
  let start = from;
  const walls: number[] = [];
  for (let failover = 0; failover < 20; failover += 1) {
    walls.push(...seconds(10, start - (failover % 2) * 60_000));
    start += 10_000;
  }
  const { stored } = follow(walls);
  expect(stored.aheadMs).toBeLessThanOrEqual(60_000);
});

it('follows a step forward, and a bridge ends where the machine has caught up', () => {
  const { instants, stored } = follow([
    ...seconds(3, from),
    ...seconds(3, from + HOUR),
    ...seconds(3, from + 2 * HOUR),
  ]);
  expect(instants.at(-1)).toBe(from + 2 * HOUR + 2_900);
  expect(stored.aheadMs).toBe(0);
});
