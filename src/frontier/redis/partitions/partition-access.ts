/** What the code over several partitions uses of one of them, beside the verbs of a crawl of one. */
import type { StartPart } from '../../frontier.js';
import type { Calls } from '../connection/calls.js';
import { placeOf } from '../connection/errors.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import type { RedisNode } from '../redis-node.js';

export interface PartitionAccess {
  readonly crawl: CrawlAccess;
  readonly node: RedisNode;
  /** Unlike `crawl.call`, without sending the settles that wait. */
  readonly calls: Calls;
}

/** A part of the start requests, of which one partition gets its own. */
export interface StartShare extends StartPart {
  /** How many the part has in all partitions. */
  readonly span: number;
  /** The place of each request in the part, from 1. */
  readonly offsets: readonly number[];
  /** Parts without a request of this partition are left out. */
  readonly skips: boolean;
}

/** Fields of `meta` (`lua/base/meta.lua`); null where there is none. */
export function metaFields(
  { crawl: { connection, options } }: PartitionAccess,
  ...names: readonly string[]
): Promise<(string | null)[]> {
  return connection.patiently((client) => client.hmget(internalKey(options.keys, 'meta'), ...names));
}

/** The server of a partition, for messages. */
export function serverOf({ crawl: { options } }: PartitionAccess): string {
  return options.store.engine === 'redis' ? placeOf(options.store.address) : '';
}
