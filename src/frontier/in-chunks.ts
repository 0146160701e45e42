/** Splits values into chunks that are bounded by count and bytes, so that each call to a store is bounded. */
import { type FrontierRequest, MAX_SETTLE_BYTES, MAX_SETTLE_REQUESTS } from './frontier.js';

export interface Weight {
  readonly count: number;
  readonly bytes: number;
}

/** The weight of a request. The length of its record stands for the bytes, since records are mostly ASCII. */
export function requestWeight({ record }: FrontierRequest): Weight {
  return { count: 1, bytes: record.length };
}

/** Yields the values in order. A chunk exceeds the bounds only if it has a single value that does. */
export function* inChunks<T>(
  values: Iterable<T>,
  weigh: (value: T) => Weight,
  max = MAX_SETTLE_REQUESTS,
): Generator<T[]> {
  let chunk: T[] = [];
  let count = 0;
  let bytes = 0;
  for (const value of values) {
    const weight = weigh(value);
    if (chunk.length > 0 && (count + weight.count > max || bytes + weight.bytes > MAX_SETTLE_BYTES)) {
      yield chunk;
      chunk = [];
      count = 0;
      bytes = 0;
    }
    chunk.push(value);
    count += weight.count;
    bytes += weight.bytes;
  }
  if (chunk.length > 0) yield chunk;
}
