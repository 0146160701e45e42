/**
 * How large a BloomDupeFilter is, the same in both engines. Where a fingerprint's bits lie is each engine's own: all in
 * one chunk or block, which is read at once.
 *
 * A slice made for n fingerprints at an error rate of p takes m = n ln(1/p) / ln²2 bits and k = m/n ln 2 hashes. When
 * a slice is full the next one is opened, and what is asked is looked for in all. Slice i ≥ 2 has a rate of at most
 * p / (i (i − 1)), and those sum up to p over any number of slices: so p in the first slice, and never more than 2p
 * beyond. (Halving the rate from slice to slice keeps the same promise, but slice 100 would need a hundred hashes
 * more; this way it needs 14.) The share is rounded down to a power of two, 2^-e: then a slice has e hashes and
 * e × `bitsPerHalving` bits more than the first, whole numbers that Lua and TypeScript agree on.
 *
 * The bits are 3 % more than in theory (`MARGIN`): k is rounded to a whole number, which costs up to 3 % of the rate,
 * the k positions come from fewer hashes than k, and blocks are not all filled alike.
 */
import type { Dupefilter } from './frontier.js';

type Bloom = Extract<Dupefilter, { class: 'BloomDupeFilter' }>;

const MARGIN = 1.03;

/** What a crawl's capacity and error rate make of its slices; all whole numbers. */
export interface BloomSizing {
  /** Fingerprints a slice is made for; the next one is opened when it holds them. */
  readonly capacity: number;
  /** Bits and hashes of the first slice. */
  readonly bits: number;
  readonly hashes: number;
  /** Bits that a slice needs more for each halving of its rate; it has one hash more as well. */
  readonly bitsPerHalving: number;
}

export interface BloomSlice {
  readonly bits: number;
  readonly hashes: number;
}

export function bloomSizing({ capacity, errorRate }: Bloom): BloomSizing {
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
export function bloomSlice(sizing: BloomSizing, index: number): BloomSlice {
  let halvings = 0;
  while (2 ** halvings < index * (index - 1)) halvings += 1;
  return {
    bits: sizing.bits + halvings * sizing.bitsPerHalving,
    hashes: sizing.hashes + halvings,
  };
}
