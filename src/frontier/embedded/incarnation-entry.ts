/** An incarnation as the store keeps it: its liveness in numbers, who it is in JSON. */
import { randomBytes } from 'node:crypto';
import type { NodeInfo } from '../frontier.js';

/** Who joined; never changes. */
export interface IncarnationInfo extends NodeInfo {
  readonly startedAtMs: number;
  /** When its process started, to tell it from another that got the same pid; null where that is unknown. */
  readonly processStart: string | null;
  readonly feeds: readonly string[];
  readonly hasStart: boolean;
}

export interface IncarnationEntry {
  readonly number: number;
  readonly info: IncarnationInfo;
  beatAtMs: number;
  pages: number;
  pagesPerSecond: number;
  leased: number;
  /** Declared dead: its tokens are stale, its leases wait to be moved. */
  isDead: boolean;
}

const HEAD = 40;

/** To bytes. */
export function encodeIncarnation(entry: IncarnationEntry): Buffer {
  const text = textOf(entry.info);
  const bytes = Buffer.allocUnsafe(HEAD + text.length);
  bytes.writeDoubleLE(entry.beatAtMs, 0);
  bytes.writeDoubleLE(entry.pages, 8);
  bytes.writeDoubleLE(entry.pagesPerSecond, 16);
  bytes.writeDoubleLE(entry.leased, 24);
  bytes.writeDoubleLE(entry.isDead ? 1 : 0, 32);
  bytes.set(text, HEAD);
  return bytes;
}

/** From bytes; `number` stands in its key. */
export function decodeIncarnation(number: number, bytes: Buffer): IncarnationEntry {
  return {
    number,
    info: infoOf(number, bytes.subarray(HEAD)),
    beatAtMs: bytes.readDoubleLE(0),
    pages: bytes.readDoubleLE(8),
    pagesPerSecond: bytes.readDoubleLE(16),
    leased: bytes.readDoubleLE(24),
    isDead: bytes.readDoubleLE(32) === 1,
  };
}

/** Infos met by this process, since they never change and every transaction asks for one; by number. */
const known = new Map<number, { readonly text: Buffer; readonly info: IncarnationInfo }>();
const texts = new WeakMap<IncarnationInfo, Buffer>();
const MAX_KNOWN = 1000;

function infoOf(number: number, text: Buffer): IncarnationInfo {
  const found = known.get(number);
  if (found?.text.equals(text)) return found.info;
  if (known.size >= MAX_KNOWN) known.clear();
  const kept = Buffer.from(text);
  const info = JSON.parse(kept.toString()) as IncarnationInfo;
  known.set(number, { text: kept, info });
  texts.set(info, kept);
  return info;
}

function textOf(info: IncarnationInfo): Buffer {
  return texts.get(info) ?? Buffer.from(JSON.stringify(info));
}

/** A number no other incarnation has; never 0. */
export function newIncarnationNumber(): number {
  return randomBytes(4).readUInt32BE(0) || 1;
}

/** Node id and random, as the seam has it. */
export function incarnationName(id: string, number: number): string {
  return `${id}:${number.toString(16).padStart(8, '0')}`;
}

/** The number in an incarnation's name; 0 when it is none of ours. */
export function incarnationNumber(name: string): number {
  const hex = /:([0-9a-f]{8})$/.exec(name)?.[1];
  return hex === undefined ? 0 : Number.parseInt(hex, 16);
}
