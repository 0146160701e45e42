/** The partition of a domain. */
import { describe, expect, it } from 'vitest';
import { partitionOf } from '../../../src/frontier/partitions/partition-of.js';

describe('the partition of a domain', () => {
  it('is stable, since it is stored', () => {
    expect(
      ['a.example', 'b.example', 'xn--bcher-kva.example:8080', ''].map((name) => partitionOf(name, 64)),
    ).toEqual([30, 60, 2, 11]);
  });

  it('spreads domains evenly', () => {
    const counts = new Array<number>(8).fill(0);
    for (let n = 0; n < 8_000; n++) counts[partitionOf(`host-${n}.example`, 8)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });
});
