/** The arithmetic of the Bloom filter: sizes near the theory, rates that sum up, positions that both engines share. */
import { describe, expect, it } from 'vitest';
import { bloomHashes, bloomPositions, bloomSizing, bloomSlice } from '../src/frontier/bloom-sizing.js';
import { sha1 } from './frontier-contract/world.js';

const sizing = (capacity: number, errorRate: number) =>
  bloomSizing({ class: 'BloomDupeFilter', capacity, errorRate });

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

  it('places a fingerprint by its first 96 bits', () => {
    const fingerprint = sha1('a');
    const [first, second] = bloomHashes(fingerprint);
    expect(first).toBe(Number.parseInt(fingerprint.slice(0, 12), 16));
    expect(BigInt(second)).toBe(BigInt(`0x${fingerprint.slice(12, 24)}`) | 1n);
    const slice = bloomSlice(sizing(1_000_000, 0.001), 3);
    const exact = Array.from({ length: slice.hashes }, (_, i) =>
      Number((BigInt(first) + BigInt(i) * BigInt(second)) % BigInt(slice.bits)),
    );
    expect(bloomPositions(fingerprint, slice)).toEqual(exact);
  });

  it('has positions that stay the same for ever: filters on disk depend on them', () => {
    const slice = bloomSlice(sizing(1_000, 0.01), 1);
    expect(slice).toEqual({ bits: 9_873, hashes: 7 });
    expect(bloomPositions('572305668c02da5fd349752b8e93bb46f1a2bb36', slice)).toMatchInlineSnapshot(`
      [
        5765,
        6087,
        6409,
        6731,
        7053,
        7375,
        7697,
      ]
    `);
  });
});
