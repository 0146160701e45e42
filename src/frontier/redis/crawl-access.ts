/** The access to one crawl that the parts of a frontier in Redis share. */
import type { Dupefilter } from '../frontier.js';
import type { OpenOptions } from '../open-options.js';
import { type Call, Calls } from './connection/calls.js';
import type { RedisConnection } from './connection/connection.js';
import { LeaseCalls } from './leases/lease-calls.js';
import { newEpoch } from './nodes/join.js';
import { RedisNode } from './nodes/redis-node.js';

export interface NewMeta {
  readonly queueClass: string;
  readonly epoch: string | undefined;
}

/** One crawl in one Redis. */
export interface CrawlAccess {
  readonly connection: RedisConnection;
  readonly options: OpenOptions;
  readonly calls: Calls;
  readonly leaseCalls: LeaseCalls;
  readonly node: RedisNode;
  /** Settles that wait are sent before. */
  readonly call: Call;
  /** Queue class and epoch of a meta that does not exist yet; no epoch: make none. */
  forNewMeta(): NewMeta;
  dupefilter(): Dupefilter;
}

export function accessTo(connection: RedisConnection, options: OpenOptions): CrawlAccess {
  const calls = new Calls(connection, options.keys, options.shape.dupefilter);
  const leaseCalls = new LeaseCalls(calls, () => node.options?.feeds ?? []);
  const call: Call = (verb, args) => {
    leaseCalls.flush();
    return calls.run(verb, args);
  };
  const node = new RedisNode(connection, options, calls, call);
  return {
    ...{ connection, options, calls, leaseCalls, node, call },
    dupefilter: () => calls.dupefilter,
    // A node that has joined makes no meta (no epoch): it would hide that the crawl is gone.
    forNewMeta: () => ({
      queueClass: (node.options?.shape ?? options.shape).queueClass,
      epoch: node.isJoined ? undefined : newEpoch(),
    }),
  };
}
