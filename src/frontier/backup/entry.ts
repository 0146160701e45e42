/**
 * What a crawl holds, piece by piece, as plain JSON: the same from both engines, so that what one gave the other takes.
 * Nothing in it names a key of a store: a backup of one spider and job can be brought back as another.
 */
import type { Dupefilter, Engine, FailedRequest, Part, RequestLife, Shape } from '../crawl-types.js';

/** Text as it is, or bytes that are no UTF-8 in base64. */
export type BackupText = string | { readonly base64: string };

/** A live request that has not failed. One that was leased stands here as pending. */
export interface BackupRequest {
  readonly id: string;
  readonly domain: string;
  readonly priority: number;
  /** Its place among its equals, in µs; a delayed one takes a new place when it is due. */
  readonly arrival?: number;
  /** When it becomes due; absent when it is pending. */
  readonly dueAtMs?: number;
  /** Absent when it never crashed a node. */
  readonly crashes?: number;
  /** Known to the embedded engine alone, where it helps a StateDupeFilter. */
  readonly unfiltered?: true;
  readonly record: string;
}

/** One external seed; a sorted set gives its score as well. */
export type BackupSeed = BackupText | { readonly seed: BackupText; readonly score: number };

export type BackupEntry =
  /** The crawl as a whole; the first entry of the queue. */
  | {
      readonly kind: 'crawl';
      readonly queueClass: Shape['queueClass'];
      /** Null before a first node has joined. */
      readonly shape: Omit<Shape, 'dupefilter'> | null;
      /** How many start requests were pushed, while it takes several pushes; then `pushed`. */
      readonly start: number | 'pushed';
      readonly done: number;
      readonly removed: number;
      /** As in a `Snapshot`. */
      readonly beganAtMs: number | null;
      readonly seenSinceMs: number | null;
    }
  | { readonly kind: 'requests'; readonly values: readonly BackupRequest[] }
  | { readonly kind: 'failed'; readonly values: readonly FailedRequest[] }
  /** Comes before what the dupefilter holds. `index` is a BloomDupeFilter's alone: how its bits lie in this engine. */
  | {
      readonly kind: 'dupefilter';
      readonly choice: Dupefilter;
      readonly engine: Engine;
      readonly index: readonly number[] | null;
    }
  /** Fingerprints in hex: 40 digits, or of a CompactDupeFilter the 16 that it keeps. */
  | {
      readonly kind: 'seen';
      readonly values: readonly string[];
      /** Of a TimedRFPDupeFilter: when each is forgotten; null is never. */
      readonly untilMs?: readonly (number | null)[];
      /** Of a StateDupeFilter. */
      readonly lives?: readonly RequestLife[];
    }
  /** The bits of a BloomDupeFilter, piece by piece: where in its engine, and what in base64. */
  | { readonly kind: 'bits'; readonly values: readonly (readonly [place: string, bits: string])[] }
  /** Of the start_urls key of this number, in the order the settings name them; `bad`: of its list of bad ones. */
  | {
      readonly kind: 'seeds';
      readonly key: number;
      readonly bad: boolean;
      readonly values: readonly BackupSeed[];
    }
  | { readonly kind: 'items'; readonly values: readonly BackupText[] }
  /** A feed file and how far it is written; what waits for it follows as `outbox`. */
  | {
      readonly kind: 'feed';
      readonly feed: string;
      readonly host: string;
      readonly path: string;
      readonly format?: string;
      readonly exporting: boolean;
      /** Null when nothing is known to be written. */
      readonly checkpoint: {
        readonly sequence: number;
        readonly lengthBytes: number;
        readonly header: string;
      } | null;
    }
  | { readonly kind: 'outbox'; readonly feed: string; readonly values: readonly BackupText[] }
  | { readonly kind: 'stats'; readonly values: readonly (readonly [name: string, value: number])[] };

/** Values of one entry at most, and the bytes after which an entry is full. */
export const ENTRY_VALUES = 1_000;
export const ENTRY_BYTES = 1024 * 1024;

/** Which part an entry belongs to. Feeds go with the queue, which forgets them, and hold items. */
export function isOfParts(entry: BackupEntry, parts: ReadonlySet<Part>): boolean {
  switch (entry.kind) {
    case 'crawl':
    case 'requests':
      return parts.has('queue');
    case 'failed':
      return parts.has('failed');
    case 'dupefilter':
    case 'seen':
    case 'bits':
      return parts.has('dupefilter');
    case 'seeds':
      return parts.has('start_urls');
    case 'feed':
      return parts.has('queue') || parts.has('items');
    case 'items':
    case 'outbox':
      return parts.has('items');
    case 'stats':
      return parts.has('stats');
  }
}

/** How a restore is known to the store while it lasts. */
export interface RestoreTicket {
  /** Of the backup and the parts wanted of it: a restore that was cut off goes on under the same id only. */
  readonly id: string;
  readonly parts: readonly Part[];
  /** Those of them that must be empty even with `force`: bits of two filters cannot be told apart. */
  readonly exclusive: readonly Part[];
  /** Also while nodes live, and into parts that hold something: what is there stays, the rest is added. */
  readonly force: boolean;
}

export interface Backups {
  /** What the parts hold, in bounded batches; nothing of it may change meanwhile. */
  read(parts: readonly Part[]): AsyncIterable<BackupEntry>;
  /**
   * Begin to bring a backup back, or go on where it was cut off. Until `end` no node can join the crawl.
   * @returns how many entries are in the crawl already; null when this very backup was brought back before, whole.
   * @throws RefusedError while nodes live, where a part is not empty, or where another restore was cut off.
   */
  begin(ticket: RestoreTicket): Promise<number | null>;
  /** Put an entry into the crawl; `number` counts the entries of the backup. One that is there already changes nothing. */
  apply(id: string, number: number, entry: BackupEntry): Promise<void>;
  /** Every entry is in the crawl: raise the epoch, and let nodes join. */
  end(id: string): Promise<void>;
}

/** The bytes of one external seed, and its score in a sorted set. */
export function seedOf(seed: BackupSeed): { readonly value: Buffer; readonly score: number } {
  if (typeof seed === 'object' && 'seed' in seed) return { value: textBytes(seed.seed), score: seed.score };
  return { value: textBytes(seed), score: 0 };
}

/** Bytes as a backup has them. */
export function backupText(bytes: Buffer): BackupText {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}

/** The bytes again. */
export function textBytes(text: BackupText): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.base64, 'base64');
}

/** Cut pages of values into entries of bounded size. @param sizeOf a value, in bytes. */
export async function* inEntries<T>(
  pages: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  sizeOf: (value: T) => number,
): AsyncIterable<T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const value of page) {
      batch.push(value);
      bytes += sizeOf(value);
      if (batch.length < ENTRY_VALUES && bytes < ENTRY_BYTES) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
