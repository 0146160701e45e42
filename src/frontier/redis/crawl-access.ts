/** The access to one crawl that the parts of a frontier in Redis share. */
import type { Dupefilter } from '../frontier.js';
import type { OpenOptions } from '../open-options.js';
import type { Call } from './connection/calls.js';
import type { RedisConnection } from './connection/connection.js';

export interface NewMeta {
  readonly queueClass: string;
  readonly epoch: string | undefined;
  /** `index/count`; absent in a crawl of one partition. */
  readonly partition: string | undefined;
}

/** One crawl in one Redis. */
export interface CrawlAccess {
  readonly connection: RedisConnection;
  readonly options: OpenOptions;
  /** Settles that wait are sent before. */
  readonly call: Call;
  /** Queue class, epoch and partition of a meta that does not exist yet; no epoch: make none. */
  forNewMeta(): NewMeta;
  dupefilter(): Dupefilter;
}
