/** How a batch of requests travels to a script: see "Acceptance" in `lua/prelude.lua`. */
import type { FrontierRequest } from '../frontier.js';

export type Argument = string | number | Buffer;

const NUMBERS_BYTES = 14;
const MAX_DELAY_MS = 2 ** 48 - 1;

/** Five bytes that sort ascending as the priority falls: 2³¹ − priority. */
export function packPriority(priority: number): Buffer {
  const packed = Buffer.allocUnsafe(5);
  packed.writeUIntBE(2 ** 31 - priority, 0, 5);
  return packed;
}

/** The four batch arguments and the records, in the order of the requests. */
export function packBatch(requests: readonly FrontierRequest[]): { head: Argument[]; records: string[] } {
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
      names += `${request.domain}\0`;
    }
    ids += request.id;
    fingerprints += request.fingerprint;
    records.push(request.record);
    numbers.writeUIntBE(2 ** 31 - request.priority, at, 5);
    numbers.writeUInt16BE(index, at + 5);
    numbers.writeUInt8(request.unfiltered ? 1 : 0, at + 7);
    numbers.writeUIntBE(Math.min(request.delayMs ?? 0, MAX_DELAY_MS), at + 8, 6);
    at += NUMBERS_BYTES;
  }
  return { head: [Buffer.from(ids, 'hex'), fingerprints, numbers, names], records };
}
