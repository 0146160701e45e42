/** Read the scripts' MessagePack values (domain records and leases) on this side, for inspection and verification. */
import { Unpackr } from 'msgpackr';

const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true });

export interface UnpackedLease {
  readonly token: string;
  readonly incarnation: string;
  readonly domain: string;
}

export interface UnpackedDomain {
  readonly number: number;
  readonly active: number;
  readonly place: 'r' | 'w' | 'f' | 'i';
}

/** The order within a lease is raw bytes and not read here. */
export function unpackLease(packed: Buffer): UnpackedLease {
  const [token, incarnation, , domain] = unpackr.unpack(packed) as [string, string, unknown, string];
  return { token, incarnation, domain };
}

export function unpackDomain(packed: Buffer): UnpackedDomain {
  const fields = unpackr.unpack(packed) as [number, number, ...unknown[]];
  return { number: fields[0], active: fields[1], place: fields[8] as UnpackedDomain['place'] };
}
