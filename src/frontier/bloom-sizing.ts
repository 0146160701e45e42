/**
 * The size of a BloomDupeFilter, the same in both engines. Each engine has its own layout. In both, all bits of a
 * fingerprint are in one chunk or block, so that a look-up reads only one.
 *
 * A slice for n fingerprints at an error rate of p takes m = n ln(1/p) / ln²2 bits and k = m/n ln 2 hashes. When a slice
 * is full, the next one is opened, and a look-up searches all slices. Slice i ≥ 2 has a rate of at most p / (i (i − 1)).
 * These rates sum up to at most p over any number of slices, so the total is p with one slice and at most 2p with more.
 * (Halving the rate with each slice has the same bound, but slice 100 would need a hundred more hashes instead of 14.)
 * The factor 1 / (i (i − 1)) is rounded down to a power of two, 2^-e. The slice then has e more hashes and
 * e × `bitsPerHalving` more bits than the first: whole numbers, which Lua and TypeScript compute equally.
 *
 * The bits are 3 % more than in theory (`MARGIN`), for three reasons: k is rounded to a whole number, the k positions are
 * derived from fewer than k hashes, and blocks are filled unevenly.
 */

/** The parameters of a BloomDupeFilter. */
export interface BloomParameters {
  /** In fingerprints per slice. */
  readonly capacity: number;
  /** The share of new requests wrongly taken for seen when the first slice is full; with further slices it at most doubles. */
  readonly errorRate: number;
}

const MARGIN = 1.03;

/** The sizes of the slices, from the capacity and error rate of a crawl; all whole numbers. */
export interface BloomSizing {
  /** Fingerprints per slice. A slice with so many is full. */
  readonly capacity: number;
  /** Bits and hashes of the first slice. */
  readonly bits: number;
  readonly hashes: number;
  /** Additional bits for each halving of the error rate of a slice, beside one additional hash. */
  readonly bitsPerHalving: number;
}

export function bloomSizing({ capacity, errorRate }: BloomParameters): BloomSizing {
  const bitsEach = MARGIN / Math.LN2 ** 2;
  const bits = Math.ceil(capacity * bitsEach * Math.log(1 / errorRate));
  return {
    capacity,
    bits,
    hashes: Math.max(1, Math.round((bits / capacity) * Math.LN2)),
    bitsPerHalving: Math.ceil(capacity * bitsEach * Math.LN2),
  };
}

/** @param index of the slice, from 1. */
export function bloomSlice(sizing: BloomSizing, index: number): Pick<BloomSizing, 'bits' | 'hashes'> {
  let halvings = 0;
  while (2 ** halvings < index * (index - 1)) halvings += 1;
  return {
    bits: sizing.bits + halvings * sizing.bitsPerHalving,
    hashes: sizing.hashes + halvings,
  };
}
