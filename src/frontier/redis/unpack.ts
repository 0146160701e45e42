/** Read what the scripts pack (leases, domain records) on this side, for inspection and verification. */

export interface UnpackedLease {
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
  /** How many entries of its first chunk have gone, and stand there still. */
  readonly gone: number;
}

const ORDER_BYTES = 12;

/**
 * As `lua/parts/leases.lua` wrote it; the call that gave it, crashes and order are not read here.
 * @throws RangeError for one that is too short.
 */
export function unpackLease(packed: Buffer): UnpackedLease {
  const atMsAt = 2 + packed.readUInt16BE(0);
  const atMs = packed.readUIntBE(atMsAt, 6);
  return {
    incarnation: packed.toString('utf8', 2, atMsAt),
    domain: packed.toString('utf8', atMsAt + 6 + 6 + 4 + ORDER_BYTES),
    atMs,
  };
}

const NO_ORDER = '00'.repeat(12);

/** As `packDomain` of `lua/parts/domains.lua` wrote it. @throws RangeError for one that is too short. */
export function unpackDomain(packed: Buffer): UnpackedDomain {
  const order = (at: number): string => packed.toString('hex', at, at + 12).replace(NO_ORDER, '');
  // Politeness follows where any was ever set.
  const nextAtMs = packed.length < 52 ? 0 : Math.max(packed.readUIntBE(40, 6), packed.readUIntBE(46, 6));
  return {
    number: packed.readUInt32BE(24),
    place: packed.toString('latin1', 4, 5) as UnpackedDomain['place'],
    active: packed.readUInt32BE(0),
    nextAtMs,
    head: order(5),
    tail: order(28),
    gone: packed.readUInt8(23),
  };
}
