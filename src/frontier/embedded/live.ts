/** Live requests: found by their number or by their id, written, and ended. */

import { requestKey } from './keys.js';
import type { KnownIds } from './known.js';
import { encodeRequest, idOf, type RequestEntry } from './request-entry.js';
import type { Tables } from './tables.js';
import type { Transaction } from './transaction.js';

/** A live request as it is stored. */
export interface Stored {
  readonly number: number;
  readonly bytes: Buffer;
}

/** The live request of an id (40 hex digits), or null. */
export function liveRequest(tx: Transaction, id: string): Stored | null {
  return requestOf(tx, tx.spaces.crawl, tx.known.numberOf(id), id);
}

/** The request of a number if it is this id's, in the space of any crawl; null where a number outlived its request. */
export function requestOf(tables: Tables, space: Buffer, number: number, id: string): Stored | null {
  const bytes = number === 0 ? undefined : tables.get(requestKey(space, number));
  return bytes !== undefined && idOf(bytes) === id.toLowerCase() ? { number, bytes } : null;
}

/** Number a request that is accepted, and have it found by its id. */
export function takeNumber(tx: Transaction, id: string): number {
  const number = tx.nextNumber();
  tx.known.setNumber(id, number);
  return number;
}

/** Write a request; `before` is the size it had, so that the sum of sizes stays right. */
export function keepRequest(tx: Transaction, number: number, entry: RequestEntry, before: number): void {
  const bytes = encodeRequest(entry);
  tx.putRequest(number, bytes, before);
  tx.state().bytes += bytes.length - before;
}

/** Delete a request of this size; its id is known no longer, unless it bears a mark. */
export function dropRequest(
  tx: Transaction,
  number: number,
  { id, recorded }: Pick<RequestEntry, 'id' | 'recorded'>,
  before: number,
): void {
  tx.deleteRequest(number, before);
  tx.state().bytes -= before;
  if (recorded === 0 || recorded !== tx.dupefilter.stamp()) forgetNumber(tx.known, id);
}

/** A mark outlives the request, and then the number may as well. */
function forgetNumber(ids: KnownIds, id: string): void {
  if (ids.numberOf(id) !== 0 && ids.generationOf(id) === 0) ids.setNumber(id, 0);
}
