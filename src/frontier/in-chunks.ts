/** Batches of bounded work: what is to be sent to a store, cut by count and by bytes. */
import { type FrontierRequest, MAX_SETTLE_BYTES, MAX_SETTLE_REQUESTS } from './frontier.js';

export interface Weight {
  readonly count: number;
  readonly bytes: number;
}

/** Of one request. A record is counted by its characters: nearly all of it is ASCII. */
export function requestWeight({ record }: FrontierRequest): Weight {
  return { count: 1, bytes: record.length };
}

/** In order; a chunk holds more than the bounds only where a single thing does. */
export function* inChunks<T>(
  things: Iterable<T>,
  weigh: (thing: T) => Weight,
  max = MAX_SETTLE_REQUESTS,
): Generator<T[]> {
  let chunk: T[] = [];
  let count = 0;
  let bytes = 0;
  for (const thing of things) {
    const weight = weigh(thing);
    if (chunk.length > 0 && (count + weight.count > max || bytes + weight.bytes > MAX_SETTLE_BYTES)) {
      yield chunk;
      chunk = [];
      count = 0;
      bytes = 0;
    }
    chunk.push(thing);
    count += weight.count;
    bytes += weight.bytes;
  }
  if (chunk.length > 0) yield chunk;
}
