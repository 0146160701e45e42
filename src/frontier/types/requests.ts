/** How requests come into the frontier: pushes, external seeds and start requests. */
import type { FrontierRequest } from '../../http/message/record/request-record.js';

export type { FrontierRequest };

/**
 * The kind of a push. `links` are checked by the dupefilter. `seeds` skip that check (unless `seeds-judged`), are still
 * recorded, and make a failed request pending again. `start` are seeds that are accepted once per job and arguments.
 * `start-generated` come from a generator, which another node runs again from its beginning when its node dies: the
 * dupefilter checks them, and those with dontFilter are accepted once by their place in the generator.
 */
export type PushKind = 'links' | 'seeds' | 'seeds-judged' | 'start' | 'start-generated';

/** The part of the start requests that a push contains. A list too long for one push is split, in order. */
export interface StartPart {
  /** The place of the first one. */
  readonly from: number;
  /** How many there are; null while more may follow. */
  readonly total: number | null;
  /** `startKey` of the arguments that they were made with; none by default. */
  readonly key?: string;
}

/**
 * Links of a page that are pushed before its settle, since it has too many. They stay accepted if the lease is lost, and the
 * page is then processed again. The ids of those with dontFilter are therefore kept with the page until its request is done, purged
 * or reset: no dupefilter would know a link that is done meanwhile. They are not part of a backup.
 */
export interface EarlyPart {
  /** The id of the page's request. When it is not live any more, links with dontFilter are not accepted. */
  readonly page: string;
}

/** The answer to a node that wants to run `start()`: it may, another live node does, or all of it was pushed. */
export type StartClaim = 'claimed' | 'taken' | 'pushed';

export interface PushAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  /**
   * Links that were neither accepted nor recorded as seen, since the queue is at twice its limit
   * (`Tunables.queueLimit`); absent when there were none.
   */
  readonly dropped?: number;
  /** Links dropped likewise because of `Tunables.pagesPerDomain`; absent when there were none. */
  readonly trapped?: number;
  /** Requests that are pending or delayed now; only in the answer to requests of a generator. */
  readonly waiting?: number;
}

/** The unchanged bytes of an external seed. */
export interface RawSeed {
  readonly key: string;
  readonly value: Buffer;
  /** The id of an entry of a Redis stream; absent for seeds of other keys. */
  readonly id?: string;
}

/** A seed after `makeRequestFromData`: its requests, or why it is bad. */
export type ConvertedSeed =
  | { readonly seed: RawSeed; readonly requests: readonly FrontierRequest[] }
  | { readonly seed: RawSeed; readonly bad: string };

export interface IntakeAnswer extends PushAnswer {
  readonly bad: number;
}
