/**
 * What an engine offers to `verify` and `repair`: its request records and, apart from them, its queue entries, counters and
 * domains, in batches of bounded size. Everything within one batch was read at one instant; between two batches a running
 * crawl goes on.
 */
import type { RecordedRequest, Repaired } from '../frontier.js';

/** Reads the fields of a record; null where it cannot be read. */
export type ReadRecord = (id: string, record: string) => RecordedRequest | null;

/** Queue entries: requests that wait. */
export interface EntryBatch {
  /** The ids, 20 bytes each. */
  readonly ids: readonly Uint8Array[];
  /** What they wait as, in an engine where a request may be in two queues. */
  readonly state?: 'pending' | 'delayed';
}

/** A request that is in several states, or has no record. */
export interface OddEntry {
  readonly id: Uint8Array;
  readonly states: readonly string[];
  readonly hasRecord: boolean;
}

/** A domain: what its record says, and what its requests say. */
export interface DomainView {
  readonly name: string;
  /** Requests say that there is such a domain, and it has no record. */
  readonly isMissing?: boolean;
  readonly isUnreadable?: boolean;
  readonly state?: 'ready' | 'waiting' | 'full' | 'idle';
  /** The count of leases in its record. */
  readonly active?: number;
  readonly leased: number;
  /** Its pending requests; of a domain with a record 1 stands for any number. */
  readonly pending?: number;
  /** Whether its record names the first of its pending requests. */
  readonly knowsFirst?: boolean;
  /** Whether a lease finds it among the ready domains. */
  readonly isReady?: boolean;
  /** Whether it is among the waiting domains, and until when. */
  readonly wakes?: 'never' | 'in time' | 'at another instant';
  /** Its delay timer runs until an instant that no delay and no throttle explains. */
  readonly waitsTooLong?: boolean;
}

/** A feed: what lies in its outbox, and what its record says. */
export interface FeedView {
  readonly feed: string;
  readonly items: number;
  /** Those of them with numbers that wait by its record. */
  readonly fits: number;
  /** Items that its record says wait; null where there is no record that can be read. */
  readonly said: number | null;
}

/** A node's count of leases as it is stored, and its leases. */
export interface NodeView {
  readonly name: string;
  readonly held: number | string;
  readonly leased: number;
}

/** The counters of a crawl and the sizes of its structures, at one instant. */
export interface Totals {
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly failed: number;
  readonly done: number;
  readonly removed: number;
  readonly lost: number;
  readonly accepted: number;
  readonly isRepairing: boolean;
  /** The repair is the rebuild of a live node (`Stall`). */
  readonly isRebuilding: boolean;
  /** Stored sizes that an engine keeps beside its structures: what they count, the size, and what is stored. */
  readonly stored: readonly { readonly noun: string; readonly size: number; readonly stored: number }[];
}

/** A step of an examination; each field is absent where the step has nothing of it. */
export interface Examined {
  readonly entries?: EntryBatch;
  readonly odd?: readonly OddEntry[];
  readonly domains?: readonly DomainView[];
  readonly nodes?: readonly NodeView[];
  readonly feeds?: readonly FeedView[];
  readonly totals?: Totals;
  /** Sentences about what only this engine has. */
  readonly breaches?: readonly string[];
}

/** A request that must be in one queue, and was found in none or in two. */
export interface Suspect {
  readonly id: Uint8Array;
  /** The number of its record, where the engine has one. */
  readonly n?: number;
}

/** A record, and the id it is stored by. */
export interface StoredRecord extends Suspect {
  readonly record: string;
  /** Its request is neither leased nor failed: it must be in a queue. */
  readonly isWaiting: boolean;
}

/** A record to put back; `request` is null where it cannot be read. */
export interface PutRecord<Stored extends StoredRecord = StoredRecord> {
  readonly stored: Stored;
  readonly request: RecordedRequest | null;
}

export type Rebuilt = Omit<Repaired, 'unreadable'>;

/** What a crawl in a store offers. Losses are sentences without a verb, such as `3 items that waited for the feed x`. */
export interface CareStore<Stored extends StoredRecord = StoredRecord> {
  /**
   * Check that there is a crawl that can be examined.
   * @returns null where there is, else all that can be said. @throws DamagedStoreError
   */
  unexaminable(): Promise<readonly string[] | null>;
  /** All records; each call reads them from the start. */
  records(): AsyncIterable<readonly Stored[]>;
  /** All queue entries; each call reads them from the start. */
  entries(): AsyncIterable<Examined>;
  /**
   * What shows without walking through the crawl: counters and sizes at one instant, and whether a bounded number of requests have
   * records. Nothing where there is no crawl.
   */
  counts(): Promise<Examined>;
  /** Everything else. */
  examine(): AsyncIterable<Examined>;
  /** Those of these requests that must be waiting at this instant: most have been leased, or are done. */
  unexplained(suspects: readonly Suspect[]): Promise<readonly Suspect[]>;

  /**
   * Pause the crawl, make every token stale, and clear queues and counters. @returns losses that show only now.
   * @throws RefusedError while nodes live, unless `force`.
   */
  beginRepair(force: boolean): Promise<readonly string[]>;
  /**
   * The same for a crawl that stands still (`Stall`), whose nodes stay registered. @returns false where a request is leased again:
   * then it does not stand still any more, and nothing was done.
   */
  beginRebuild(): Promise<boolean>;
  /** Put requests where their records and failures say. Harmless when repeated. */
  put(batch: readonly PutRecord<Stored>[]): Promise<void>;
  /** Count everything anew, what is gone too, and let the crawl go on as it was. */
  endRepair(): Promise<Rebuilt>;
}

/** The hex digits of an id. */
export const idText = (id: Uint8Array): string =>
  Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');

/** What a damaged feed has lost, as sentences. The part of its file behind the last checkpoint is in the outbox too. */
export function feedLosses({ feed, fits, said }: FeedView): string[] {
  if (said === null)
    return [
      `the record of the feed ${feed}: what its file has already of the items that wait is not known, so that some may be in it twice`,
    ];
  return said > fits ? [`${said - fits} items that waited for the feed ${feed}`] : [];
}

/** A restore that ended before its end, and the loss where it is given up. */
export const BROKEN_RESTORE = 'a backup was brought back only in part';
export const BROKEN_RESTORE_LOSS = 'the rest of a backup that was brought back only in part';

/** The loss of what a crawl says of itself. */
export const CRAWL_RECORD_LOSS =
  'the record of the crawl: what it has counted, and that its start requests were pushed, so that the next run fetches them again';
