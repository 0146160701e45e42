/** A live request as the store keeps it: a fixed head, the domain's name, then the record, opaque to us. */

/** In which structure a live request is; `suspect` is pending too, but waits apart. */
export type Phase = 'pending' | 'suspect' | 'delayed' | 'failed';

/** As they are stored. A leased request stays as it was pending: who holds it is said by the lease alone. */
const phases: readonly Phase[] = ['pending', 'suspect', 'delayed', 'failed'];

export interface RequestEntry {
  phase: Phase;
  crashes: number;
  unfiltered: boolean;
  priority: number;
  /** µs, strictly increasing; its place among equals. */
  arrival: number;
  /** delayed: when it is due, µs · failed: its number in the failed list · else 0. */
  at: number;
  domain: string;
  /** Empty for a failed request beyond the limit of kept records. */
  record: string;
}

/** A lease: since when, in ms, and the number that makes its token; who holds it stands in its key. */
export interface LeaseEntry {
  readonly incarnation: number;
  readonly atMs: number;
  readonly token: number;
}

const HEAD = 28;

/** To bytes. */
export function encodeRequest(entry: RequestEntry): Buffer {
  const domainLength = Buffer.byteLength(entry.domain);
  const bytes = Buffer.allocUnsafe(HEAD + domainLength + Buffer.byteLength(entry.record));
  bytes[0] = phases.indexOf(entry.phase);
  bytes[1] = entry.crashes;
  bytes[2] = entry.unfiltered ? 1 : 0;
  bytes[3] = 0;
  bytes.writeInt32LE(entry.priority, 4);
  bytes.writeUInt32LE(domainLength, 8);
  bytes.writeDoubleLE(entry.arrival, 12);
  bytes.writeDoubleLE(entry.at, 20);
  bytes.write(entry.domain, HEAD, 'utf8');
  bytes.write(entry.record, HEAD + domainLength, 'utf8');
  return bytes;
}

/** From bytes. */
export function decodeRequest(bytes: Buffer): RequestEntry {
  const recordAt = HEAD + bytes.readUInt32LE(8);
  return {
    phase: phaseOf(bytes),
    crashes: bytes[1] ?? 0,
    unfiltered: bytes[2] === 1,
    priority: bytes.readInt32LE(4),
    arrival: bytes.readDoubleLE(12),
    at: bytes.readDoubleLE(20),
    domain: bytes.toString('utf8', HEAD, recordAt),
    record: bytes.toString('utf8', recordAt),
  };
}

/** The phase alone, without decoding the rest. */
export function phaseOf(bytes: Uint8Array): Phase {
  return phases[bytes[0] ?? 0] ?? 'pending';
}

/** To bytes. */
export function encodeLease({ atMs, token }: LeaseEntry): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeDoubleLE(atMs, 0);
  bytes.writeDoubleLE(token, 8);
  return bytes;
}

/** From bytes. */
export function decodeLease(incarnation: number, bytes: Buffer): LeaseEntry {
  return { incarnation, atMs: bytes.readDoubleLE(0), token: bytes.readDoubleLE(8) };
}

/** What fences a lease: a token of an incarnation that is gone can never be met again. */
export function tokenText({ incarnation, token }: LeaseEntry): string {
  return `${incarnation.toString(16)}.${token.toString(36)}`;
}
