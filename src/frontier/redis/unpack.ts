/** Read the scripts' values (leases, in MessagePack; domain records) on this side, for inspection and verification. */
import { Unpackr } from 'msgpackr';

const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true });

export interface UnpackedLease {
  readonly token: string;
  readonly incarnation: string;
  readonly domain: string;
  readonly atMs: number;
}

export interface UnpackedDomain {
  readonly number: number;
  readonly active: number;
  /** Not before this instant, by its delay or because the site said so. */
  readonly nextAtMs: number;
  readonly place: 'r' | 'w' | 'f' | 'i';
  /** Order of its best request and bound of its last chunk, hex; '' for none and for the first. */
  readonly head: string;
  readonly tail: string;
}

/** The order within a lease is raw bytes and not read here. */
export function unpackLease(packed: Buffer): UnpackedLease {
  const fields = unpackr.unpack(packed) as [string, string, unknown, string, number | bigint];
  const [token, incarnation, , domain, atMs] = fields;
  // msgpackr reads 64-bit numbers as BigInt.
  return { token, incarnation, domain, atMs: Number(atMs) };
}

const NO_ORDER = '00'.repeat(12);

/** As `packDomain` of `lua/parts/domains.lua` wrote it. @throws RangeError for one that is too short. */
export function unpackDomain(packed: Buffer): UnpackedDomain {
  const order = (at: number): string => packed.toString('hex', at, at + 12).replace(NO_ORDER, '');
  // Politeness follows where any was ever set.
  const nextAtMs = packed.length < 45 ? 0 : Math.max(packed.readUIntBE(33, 6), packed.readUIntBE(39, 6));
  return {
    number: packed.readUInt32BE(0),
    place: packed.toString('latin1', 4, 5) as UnpackedDomain['place'],
    active: packed.readUInt32BE(5),
    nextAtMs,
    head: order(9),
    tail: order(21),
  };
}
