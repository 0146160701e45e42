/** How a batch of requests travels to a script: see `lua/parts/acceptance.lua`. */
import { priorityInBounds } from '../../http/priority.js';
import { delayInBounds, requireIds } from '../bounds.js';
import type { FrontierRequest } from '../frontier.js';

export type Argument = string | number | Buffer;

const HEAD_BYTES = 8;
const ID_BYTES = 20;
const FINGERPRINT_BYTES = 40;
const NUMBERS_BYTES = 22;

/** What sorts ascending as the priority falls: 2³¹ − priority. */
const rankOf = (priority: number): number => 2 ** 31 - priorityInBounds(priority);

/** Five bytes that sort as the requests do. */
export function packPriority(priority: number): Buffer {
  const packed = Buffer.allocUnsafe(5);
  packed.writeUIntBE(rankOf(priority), 0, 5);
  return packed;
}

/** A name as the store keeps it. NUL ends a name in a list of them, so it cannot be in one. */
export function withoutNul(name: string): string {
  return name.includes('\0') ? name.replaceAll('\0', '\u{fffd}') : name;
}

/**
 * A batch as one argument, its requests in order.
 * @throws InvalidRequestError for an id that is not 40 hex digits: it would shift those of all others.
 */
export function packBatch(requests: readonly FrontierRequest[]): Buffer {
  requireIds(requests);
  let names = '';
  let nameBytes = 0;
  const indexes = new Map<string, number>();
  let ids = '';
  let fingerprints = '';
  let records = '';
  let recordBytes = 0;
  const numbers = Buffer.allocUnsafe(requests.length * NUMBERS_BYTES);
  let at = 0;
  for (const request of requests) {
    let index = indexes.get(request.domain);
    if (index === undefined) {
      index = indexes.size;
      indexes.set(request.domain, index);
      const name = `${withoutNul(request.domain)}\0`;
      names += name;
      nameBytes += Buffer.byteLength(name);
    }
    const bytes = Buffer.byteLength(request.record);
    ids += request.id;
    fingerprints += request.fingerprint;
    records += request.record;
    numbers.writeUIntBE(rankOf(request.priority), at, 5);
    numbers.writeUInt16BE(index, at + 5);
    numbers.writeUInt8(request.unfiltered ? 1 : 0, at + 7);
    numbers.writeUIntBE(delayInBounds(request.delayMs), at + 8, 6);
    numbers.writeUInt32BE(recordBytes, at + 14);
    numbers.writeUInt32BE(bytes, at + 18);
    recordBytes += bytes;
    at += NUMBERS_BYTES;
  }
  const numbersAt = HEAD_BYTES + requests.length * (ID_BYTES + FINGERPRINT_BYTES);
  const batch = Buffer.allocUnsafe(numbersAt + numbers.length + nameBytes + recordBytes);
  batch.writeUInt32BE(nameBytes, 0);
  batch.writeUInt32BE(recordBytes, 4);
  batch.write(ids, HEAD_BYTES, 'hex');
  batch.write(fingerprints, HEAD_BYTES + requests.length * ID_BYTES, 'latin1');
  numbers.copy(batch, numbersAt);
  batch.write(names, numbersAt + numbers.length);
  batch.write(records, numbersAt + numbers.length + nameBytes);
  return batch;
}
