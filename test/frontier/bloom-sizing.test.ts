/** The arithmetic of the Bloom filter: sizes near the theory, rates that sum up. */
import { describe, expect, it } from 'vitest';
import { bloomSizing, bloomSlice } from '../../src/frontier/bloom-sizing.js';

const sizing = (capacity: number, errorRate: number) => bloomSizing({ capacity, errorRate });

describe('a Bloom filter', () => {
  it.each([0.5, 0.36, 0.3, 0.01, 0.001, 0.000_000_1])(
    'is within its rate at capacity, and within a tenth of the theoretical size, for a rate of %d',
    (rate) => {
      const { bits, hashes, capacity } = sizing(1_000_000, rate);
      const expected = (1 - Math.exp((-hashes * capacity) / bits)) ** hashes;
      expect(expected).toBeLessThanOrEqual(rate);
      expect(bits / ((capacity * Math.log(1 / rate)) / Math.LN2 ** 2)).toBeLessThan(1.04);
    },
  );

  it('keeps all its slices together within twice its rate', () => {
    const rate = 0.001;
    const all = sizing(1_000, rate);
    let sum = 0;
    for (let index = 1; index <= 1_000; index += 1) {
      const { bits, hashes } = bloomSlice(all, index);
      sum += (1 - Math.exp((-hashes * all.capacity) / bits)) ** hashes;
    }
    expect(sum).toBeLessThan(2 * rate);
    expect(bloomSlice(all, 1_000).hashes).toBe(all.hashes + 20);
  });
});
