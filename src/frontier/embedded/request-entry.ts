/** A live request as the store keeps it: a fixed head, the domain's name, then the record, opaque to us. */

/** In which structure a live request is; `suspect` is pending too, but waits apart. */
export type Phase = 'pending' | 'suspect' | 'delayed' | 'leased' | 'failed';

const phases: readonly Phase[] = ['pending', 'suspect', 'delayed', 'leased', 'failed'];

export interface RequestEntry {
  phase: Phase;
  crashes: number;
  unfiltered: boolean;
  priority: number;
  /** µs, strictly increasing; its place among equals. */
  arrival: number;
  /** leased: since when, ms · delayed: when it is due, µs · failed: its number in the failed list · else 0. */
  at: number;
  /** leased: who holds it, and the number that makes its token. */
  incarnation: number;
  token: number;
  domain: string;
  /** Empty for a failed request beyond the limit of kept records. */
  record: string;
}

const HEAD = 40;

/** To bytes. */
export function encodeRequest(entry: RequestEntry): Buffer {
  const domainLength = Buffer.byteLength(entry.domain);
  const bytes = Buffer.allocUnsafe(HEAD + domainLength + Buffer.byteLength(entry.record));
  bytes[0] = phases.indexOf(entry.phase);
  bytes[1] = entry.crashes;
  bytes[2] = entry.unfiltered ? 1 : 0;
  bytes[3] = 0;
  bytes.writeUInt32LE(entry.incarnation, 4);
  bytes.writeInt32LE(entry.priority, 8);
  bytes.writeUInt32LE(domainLength, 12);
  bytes.writeDoubleLE(entry.arrival, 16);
  bytes.writeDoubleLE(entry.at, 24);
  bytes.writeDoubleLE(entry.token, 32);
  bytes.write(entry.domain, HEAD, 'utf8');
  bytes.write(entry.record, HEAD + domainLength, 'utf8');
  return bytes;
}

/** From bytes. */
export function decodeRequest(bytes: Buffer): RequestEntry {
  const recordAt = HEAD + bytes.readUInt32LE(12);
  return {
    phase: phaseOf(bytes),
    crashes: bytes[1] ?? 0,
    unfiltered: bytes[2] === 1,
    incarnation: bytes.readUInt32LE(4),
    priority: bytes.readInt32LE(8),
    arrival: bytes.readDoubleLE(16),
    at: bytes.readDoubleLE(24),
    token: bytes.readDoubleLE(32),
    domain: bytes.toString('utf8', HEAD, recordAt),
    record: bytes.toString('utf8', recordAt),
  };
}

/** The phase alone, without decoding the rest. */
export function phaseOf(bytes: Uint8Array): Phase {
  return phases[bytes[0] ?? 0] ?? 'pending';
}

/** What fences a lease: a token of an incarnation that is gone can never be met again. */
export function tokenText(entry: Pick<RequestEntry, 'incarnation' | 'token'>): string {
  return `${entry.incarnation.toString(16)}.${entry.token.toString(36)}`;
}
