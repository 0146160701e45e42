/**
 * The entries of a backup, as plain JSON. Both engines use the same entries, so a backup of one can be restored into the
 * other. Entries do not contain key names, so a backup of one spider and job can be restored as another.
 */
import type { CookieChange, StoredCookie } from '../../http/cookies/stored-cookie.js';
import type { StatValue } from '../../stats/stat-change.js';
import type { Dupefilter, Engine, FailedRequest, Part, RequestLife, Shape } from '../types/crawl.js';

/** Text, or bytes that are not UTF-8 in base64. */
export type BackupText = string | { readonly base64: string };

/** A live request that has not failed. A leased one is stored as pending. */
export interface BackupRequest {
  readonly id: string;
  readonly domain: string;
  readonly priority: number;
  /** Its arrival in µs, which orders requests of the same priority. A delayed request gets a new one when it is due. */
  readonly arrival?: number;
  /** When it becomes due; absent when it is pending. */
  readonly dueAtMs?: number;
  /** Absent when it never crashed a node. */
  readonly crashes?: number;
  readonly record: string;
}

export interface BackupCookie extends StoredCookie {
  readonly jar: string;
  readonly domain: string;
}

/** One external seed; a sorted set gives its score as well. */
export type BackupSeed = BackupText | { readonly seed: BackupText; readonly score: number };

export type EntryOf<Kind extends BackupEntry['kind']> = Extract<BackupEntry, { kind: Kind }>;

export type BackupEntry =
  /** The crawl as a whole; the first entry of the queue. */
  | {
      readonly kind: 'crawl';
      readonly queueClass: Shape['queueClass'];
      /** Null before a first node has joined. */
      readonly shape: Omit<Shape, 'dupefilter'> | null;
      /** The number of start requests pushed so far; `pushed` when all were. */
      readonly start: number | 'pushed';
      /** The same for each set of arguments of a run, by `startKey`; absent when no run had arguments. */
      readonly starts?: Readonly<Record<string, number | 'pushed'>>;
      readonly done: number;
      readonly removed: number;
      /** Absent in a backup of an earlier version: none. */
      readonly lost?: number;
      /** As in a `Snapshot`. */
      readonly beganAtMs: number | null;
      readonly seenSinceMs: number | null;
    }
  | { readonly kind: 'requests'; readonly values: readonly BackupRequest[] }
  | { readonly kind: 'failed'; readonly values: readonly FailedRequest[] }
  /** Cookies, with their jar and domain. */
  | { readonly kind: 'cookies'; readonly values: readonly BackupCookie[] }
  /** Precedes the content of the dupefilter. `index` describes the layout of a BloomDupeFilter in this engine, else null. */
  | {
      readonly kind: 'dupefilter';
      readonly choice: Dupefilter;
      readonly engine: Engine;
      readonly index: readonly number[] | null;
    }
  /** Fingerprints in hex: 40 digits, or the 16 digits that a CompactDupeFilter stores. */
  | {
      readonly kind: 'seen';
      readonly values: readonly string[];
      /** Of a class whose fingerprints expire: when each does; null is never. */
      readonly untilMs?: readonly (number | null)[];
      /** Of a class that follows requests. */
      readonly lives?: readonly RequestLife[];
    }
  /** Pieces of the bits of a BloomDupeFilter: the position, which depends on the engine, and the bits in base64. */
  | { readonly kind: 'bits'; readonly values: readonly (readonly [place: string, bits: string])[] }
  /** Seeds of a start_urls key, by its position in the settings. `bad`: from its list of bad seeds. */
  | {
      readonly kind: 'seeds';
      readonly key: number;
      readonly bad: boolean;
      readonly values: readonly BackupSeed[];
    }
  | { readonly kind: 'items'; readonly values: readonly BackupText[] }
  /** A feed file and its checkpoint. Its waiting items follow as `outbox`. */
  | {
      readonly kind: 'feed';
      readonly feed: string;
      readonly host: string;
      readonly path: string;
      readonly format?: string;
      readonly exporting: boolean;
      /** Null when there is no checkpoint yet. */
      readonly checkpoint: {
        readonly sequence: number;
        readonly lengthBytes: number;
        readonly header: string;
      } | null;
    }
  | { readonly kind: 'outbox'; readonly feed: string; readonly values: readonly BackupText[] }
  /** Counters, and with `STAT_PREFIX` before their names the user's own stats. */
  | { readonly kind: 'stats'; readonly values: readonly (readonly [name: string, value: StatValue])[] };

/** An entry is full at so many values or bytes. */
export const ENTRY_VALUES = 1_000;
export const ENTRY_BYTES = 1024 * 1024;

/** The parts that an entry belongs to. A reset of the queue deletes feeds, which belong to the items as well. */
const partsOf: Readonly<Record<BackupEntry['kind'], readonly Part[]>> = {
  crawl: ['queue'],
  requests: ['queue'],
  cookies: ['queue'],
  failed: ['failed'],
  dupefilter: ['dupefilter'],
  seen: ['dupefilter'],
  bits: ['dupefilter'],
  seeds: ['start_urls'],
  feed: ['queue', 'items'],
  items: ['items'],
  outbox: ['items'],
  stats: ['stats'],
};

/** Whether an entry belongs to one of the parts. One of a kind that a later version added belongs to none. */
export function isOfParts({ kind }: BackupEntry, parts: ReadonlySet<Part>): boolean {
  return Object.hasOwn(partsOf, kind) && partsOf[kind].some((part) => parts.has(part));
}

/** Whether a fingerprint has expired, so that no backup takes it and no dupefilter gets it back. */
export function hasExpired(untilMs: number | null | undefined, nowMs: number): boolean {
  return typeof untilMs === 'number' && untilMs <= nowMs;
}

/** Identifies a restore while it is under way. */
export interface RestoreTicket {
  /** Derived from the backup and the wanted parts. An interrupted restore can be continued only under the same id. */
  readonly id: string;
  readonly parts: readonly Part[];
  /** Parts that must be empty even with `force`, since the bits of two filters cannot be merged. */
  readonly exclusive: readonly Part[];
  /** Restore even while nodes live or parts are not empty: existing entries stay, the others are added. */
  readonly force: boolean;
}

export interface Backups {
  /** The entries of the parts, in bounded batches. The crawl must not change meanwhile. */
  read(parts: readonly Part[]): AsyncIterable<BackupEntry>;
  /**
   * Begin a restore, or continue an interrupted one. Until `end` no node can join the crawl.
   * @returns how many entries were applied already; null when this backup was restored completely before.
   * @throws RefusedError while nodes live, when a part is not empty, or when another restore was interrupted.
   */
  begin(ticket: RestoreTicket): Promise<number | null>;
  /** Apply an entry. `number` counts the entries of the backup. An entry that was applied already has no effect. */
  apply(id: string, number: number, entry: BackupEntry): Promise<void>;
  /** End the restore: raise the epoch and let nodes join. */
  end(id: string): Promise<void>;
}

/** The bytes of an external seed, and its score in a sorted set. */
export function seedOf(seed: BackupSeed): { readonly value: Buffer; readonly score: number } {
  if (typeof seed === 'object' && 'seed' in seed) return { value: textBytes(seed.seed), score: seed.score };
  return { value: textBytes(seed), score: 0 };
}

/** A cookie of a backup, as a change. */
export function restoredCookie({ expiresAtMs, ...cookie }: BackupCookie): CookieChange {
  return { ...cookie, ...(expiresAtMs !== null && { expiresAtMs }) };
}

/** Encodes bytes for a backup. */
export function backupText(bytes: Buffer): BackupText {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}

/** Decodes the bytes of a backup. */
export function textBytes(text: BackupText): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.base64, 'base64');
}

/** Splits pages of values into entries of bounded size. @param sizeOf the size of a value, in bytes. */
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
