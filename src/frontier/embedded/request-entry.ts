/** A live request as the store keeps it: a fixed head, the domain's name, then the record, opaque to us. */
import { ID_BYTES, NUMBER_BYTES, writeId } from './keys.js';
import { Scratch } from './scratch.js';

/** In which structure a live request is; `suspect` is pending too, but waits apart. */
export type Phase = 'pending' | 'suspect' | 'delayed' | 'failed';

/** As they are stored. A leased request stays as it was pending: who holds it is said by the lease alone. */
const phases: readonly Phase[] = ['pending', 'suspect', 'delayed', 'failed'];

export interface RequestEntry {
  /** 40 hex digits. */
  id: string;
  phase: Phase;
  crashes: number;
  unfiltered: boolean;
  priority: number;
  /** pending, suspect: µs, strictly increasing, its place among equals · else 0. */
  arrival: number;
  /** delayed: when it is due, µs · failed: its number in the failed list · else 0. */
  at: number;
  /** Of the dupefilter when it was recorded (`Seen.stamp`): while that is the same, its id bears a mark · 0: it may not. */
  recorded: number;
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

const HEAD = 42;
/** Past the last number that a key can hold. */
const MOST_NUMBERS = 2 ** (8 * NUMBER_BYTES);
const UNFILTERED = 0x80;

/** Longer requests get a Buffer of their own. */
const scratch = new Scratch(4096);

/** To bytes, to be put at once: the next ones are written over them. */
export function encodeRequest(entry: RequestEntry): Buffer {
  // In one piece, which is nearly always plain ASCII, and not measured before it is written: half of what that costs.
  const text = entry.domain + entry.record;
  const isShort = HEAD + 3 * text.length <= scratch.bytes.length;
  const bytes = isShort ? scratch.bytes : Buffer.allocUnsafe(HEAD + Buffer.byteLength(text));
  const length = bytes.write(text, HEAD);
  const domainLength = length === text.length ? entry.domain.length : Buffer.byteLength(entry.domain);
  writeId(bytes, entry.id, 0);
  bytes[20] = phases.indexOf(entry.phase) | (entry.unfiltered ? UNFILTERED : 0);
  bytes[21] = entry.crashes;
  bytes.writeInt32LE(entry.priority, 22);
  bytes.writeDoubleLE(isQueued(entry.phase) ? entry.arrival : entry.at, 26);
  bytes.writeUInt32LE(entry.recorded, 34);
  bytes.writeUInt32LE(domainLength, 38);
  return isShort ? scratch.first(HEAD + length) : bytes;
}

/** From bytes. */
export function decodeRequest(bytes: Buffer): RequestEntry {
  const recordAt = HEAD + bytes.readUInt32LE(38);
  const phase = phaseOf(bytes);
  const instant = bytes.readDoubleLE(26);
  return {
    id: idOf(bytes),
    phase,
    crashes: bytes[21] ?? 0,
    unfiltered: ((bytes[20] ?? 0) & UNFILTERED) !== 0,
    priority: bytes.readInt32LE(22),
    arrival: isQueued(phase) ? instant : 0,
    at: isQueued(phase) ? 0 : instant,
    recorded: bytes.readUInt32LE(34),
    domain: bytes.toString('utf8', HEAD, recordAt),
    record: bytes.toString('utf8', recordAt),
  };
}

/** The id alone. */
export function idOf(bytes: Buffer): string {
  return bytes.toString('hex', 0, ID_BYTES);
}

/** Whether it has a place among its equals; what has not is known by an instant or a number instead. */
function isQueued(phase: Phase): boolean {
  return phase === 'pending' || phase === 'suspect';
}

/** The phase alone, without decoding the rest. */
export function phaseOf(bytes: Uint8Array): Phase {
  return phases[(bytes[20] ?? 0) & ~UNFILTERED] ?? 'pending';
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

/** What fences a lease: a token of an incarnation that is gone can never be met again. It ends with the request's number. */
export function tokenText({ incarnation, token }: LeaseEntry, number: number): string {
  return `${incarnation.toString(16)}.${token.toString(36)}.${number.toString(36)}`;
}

/** The request's number in a token; 0 in what is none of ours. */
export function numberInToken(text: string): number {
  const number = Number.parseInt(text.slice(text.lastIndexOf('.') + 1), 36);
  return number > 0 && number < MOST_NUMBERS ? number : 0;
}
