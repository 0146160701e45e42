/** How a batch of requests travels to a script: see `lua/parts/acceptance.lua`. */
import { priorityInBounds } from '../../http/priority.js';
import { delayInBounds, requireIds } from '../bounds.js';
import type { FrontierRequest } from '../frontier.js';

export type Argument = string | number | Buffer;

const NUMBERS_BYTES = 14;

/** What sorts ascending as the priority falls: 2³¹ − priority. */
const rankOf = (priority: number): number => 2 ** 31 - priorityInBounds(priority);

/** Five bytes that sort as the requests do. */
export function packPriority(priority: number): Buffer {
  const packed = Buffer.allocUnsafe(5);
  packed.writeUIntBE(rankOf(priority), 0, 5);
  return packed;
}

/** A domain's name as the store keeps it. NUL ends a name in a batch, so it cannot be in one. */
export function domainName(domain: string): string {
  return domain.includes('\0') ? domain.replaceAll('\0', '\u{fffd}') : domain;
}

/**
 * The four batch arguments and the records, in the order of the requests.
 * @throws InvalidRequestError for an id that is not 40 hex digits: it would shift those of all others.
 */
export function packBatch(requests: readonly FrontierRequest[]): { head: Argument[]; records: string[] } {
  requireIds(requests);
  let ids = '';
  let fingerprints = '';
  let names = '';
  const numbers = Buffer.allocUnsafe(requests.length * NUMBERS_BYTES);
  const records: string[] = [];
  const indexes = new Map<string, number>();
  let at = 0;
  for (const request of requests) {
    let index = indexes.get(request.domain);
    if (index === undefined) {
      index = indexes.size;
      indexes.set(request.domain, index);
      names += `${domainName(request.domain)}\0`;
    }
    ids += request.id;
    fingerprints += request.fingerprint;
    records.push(request.record);
    numbers.writeUIntBE(rankOf(request.priority), at, 5);
    numbers.writeUInt16BE(index, at + 5);
    numbers.writeUInt8(request.unfiltered ? 1 : 0, at + 7);
    numbers.writeUIntBE(delayInBounds(request.delayMs), at + 8, 6);
    at += NUMBERS_BYTES;
  }
  return { head: [Buffer.from(ids, 'hex'), fingerprints, numbers, names], records };
}
