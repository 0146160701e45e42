/**
 * What a client's last transaction left behind, decoded. Its next one begins with that unless anybody has written in
 * between, which the numbers of the transactions tell: a page then costs no look at what every page changes.
 */
import type { DomainEntry } from './domain-entry.js';
import type { Held } from './holding.js';
import type { IncarnationEntry } from './incarnation-entry.js';
import type { IndexHead } from './index-head.js';
import type { Ledger } from './ledger.js';
import type { CachedRecords } from './record-cache.js';
import type { State } from './state.js';

/** How much a list holds, and its next sequence. */
export interface Header {
  count: number;
  next: number;
}

/** Records of a kind; a crawl of more domains than this meets most of them too seldom for it to matter. */
const MAX_RECORDS = 10_000;

export class Kept {
  readonly domains: CachedRecords<DomainEntry> = new Map();
  readonly incarnations: CachedRecords<IncarnationEntry> = new Map();
  readonly headers: CachedRecords<Header> = new Map();
  readonly counters: CachedRecords<number> = new Map();
  /** Leased requests by number: who leased one settles it. */
  readonly leased = new Map<number, Held>();
  /** By the table, of the queues by what stands for the domain. */
  readonly heads = new Map<string | number, IndexHead>();
  /** null where there is none, undefined until somebody has looked. */
  state: State | null | undefined;
  ledger: Ledger | null | undefined;

  /** Whether it is worth being kept for the next transaction. */
  get isSmall(): boolean {
    const { domains, incarnations, headers, counters, leased } = this;
    return [domains, incarnations, headers, counters, leased].every(({ size }) => size <= MAX_RECORDS);
  }
}
