/** How a batch of requests travels to a script: see "Acceptance" in `lua/prelude.lua`. */
import { InvalidRequestError } from '../../errors.js';
import type { FrontierRequest } from '../frontier.js';

export type Argument = string | number | Buffer;

const ID_DIGITS = 40;
const NUMBERS_BYTES = 14;
const MAX_DELAY_MS = 2 ** 48 - 1;
const MAX_PRIORITY = 2 ** 31;

/** What sorts ascending as the priority falls: 2³¹ − priority, 0 to 2³². */
const rankOf = (priority: number): number =>
  MAX_PRIORITY - Math.max(-MAX_PRIORITY, Math.min(MAX_PRIORITY, Math.trunc(priority) || 0));

/** Five bytes that sort as the requests do. */
export function packPriority(priority: number): Buffer {
  const packed = Buffer.allocUnsafe(5);
  packed.writeUIntBE(rankOf(priority), 0, 5);
  return packed;
}

/** A delay as the store takes it: whole ms, not negative, not beyond all bounds. */
export function packDelay(delayMs: number): number {
  return Math.max(0, Math.min(MAX_DELAY_MS, Math.round(delayMs) || 0));
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
    if (request.id.length !== ID_DIGITS || request.fingerprint.length !== ID_DIGITS) refuseId(request);
    ids += request.id;
    fingerprints += request.fingerprint;
    records.push(request.record);
    numbers.writeUIntBE(rankOf(request.priority), at, 5);
    numbers.writeUInt16BE(index, at + 5);
    numbers.writeUInt8(request.unfiltered ? 1 : 0, at + 7);
    numbers.writeUIntBE(packDelay(request.delayMs ?? 0), at + 8, 6);
    at += NUMBERS_BYTES;
  }
  const packedIds = Buffer.from(ids, 'hex');
  const wrong = packedIds.length * 2;
  if (wrong < ids.length) refuseId(requests[Math.floor(wrong / ID_DIGITS)]);
  return { head: [packedIds, fingerprints, numbers, names], records };
}

function refuseId(request: FrontierRequest | undefined): never {
  throw new InvalidRequestError(
    `the fingerprint of a request must be 40 hex digits, not ${JSON.stringify(request?.fingerprint)} (id ${JSON.stringify(request?.id)}): see the spider's fingerprint()`,
  );
}
