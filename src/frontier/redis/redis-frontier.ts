/**
 * The frontier in Redis: every verb is one call of one function (`lua/`), sent again with the same number when its
 * reply is lost, so that it happens once. Ids travel as 20 raw bytes and are hex on this side.
 */
import { loadedOnUse } from '../backup/loaded-on-use.js';
import type { Frontier, FrontierRequest, HeartbeatAnswer, Joined, Left, PushKind } from '../frontier.js';
import type { OpenOptions, RedisAddress } from '../open-options.js';
import { cannotForget } from '../refusals.js';
import { clearParts, sweep } from './clear.js';
import { RedisConnection } from './connection/connection.js';
import { int, json, text } from './connection/reply.js';
import { accessTo } from './crawl-access.js';
import { refuseOtherFormat, refuseUnsafeStore } from './connection/preflight.js';
import { startField } from './join.js';
import { type LeaseVerbs, leaseVerbs } from './leases/lease-verbs.js';
import type { Judged } from './leases/settle-message.js';
import type { PartitionAccess, StartShare } from './partitions/partition-access.js';
import { countParts, takeSnapshot } from './read/snapshot.js';
import { type ClaimVerbs, claimVerbs } from './redis-claims.js';
import { failedList } from './redis-failed.js';
import { type RedisFeeds, redisFeeds } from './redis-feeds.js';
import type { RedisNode } from './redis-node.js';
import { robotsVerbs } from './redis-robots.js';
import { seedVerbs } from './redis-seeds.js';
import { columnsOf, domainName, markOf } from './request-columns.js';
import { statArguments } from './stored-stats.js';

/** A frontier, with what the code over several partitions (`frontier/partitions/`) uses of one. */
export interface RedisFrontier
  extends Omit<Frontier, 'join' | 'leave' | 'feeds' | keyof LeaseVerbs | keyof ClaimVerbs>,
    LeaseVerbs,
    ClaimVerbs {
  readonly feeds: RedisFeeds;
  readonly partition: PartitionAccess;
  join(...how: Parameters<RedisNode['join']>): Promise<Joined>;
  leave(...how: Parameters<RedisNode['leave']>): Promise<Left>;
  /** As `push`, of a partition. */
  pushPart(requests: readonly FrontierRequest[], kind: PushKind, share?: StartShare): Promise<Judged>;
}

export async function openRedisFrontier(options: OpenOptions, address: RedisAddress): Promise<RedisFrontier> {
  const connection = await RedisConnection.open(address, options.connectTimeoutMs, options.waitReplicas);
  try {
    const frontier = await frontierOn(connection, options);
    const close = () => frontier.close().then(() => connection.close());
    return { ...frontier, close };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** A frontier on a connection that it shares with others, and does not close. @throws as `openRedisFrontier`. */
export async function frontierOn(connection: RedisConnection, options: OpenOptions): Promise<RedisFrontier> {
  await refuseUnsafeStore(connection, options);
  const crawl = accessTo(connection, options);
  const { call, calls, node, leaseCalls, dupefilter } = crawl;
  const { keys, acceptForeignKeys } = options;
  const failed = failedList(crawl);
  const push = async <Answer>(isPart: boolean, ...how: Parameters<RedisFrontier['push' | 'pushPart']>) => {
    const [requests, kind, { key = '', total, ...place } = { from: 0, total: requests.length }] = how;
    const args = { kind, ...place, isPart, total: total ?? undefined, start: startField(key) };
    const columns = columnsOf(requests, dupefilter());
    return json<Answer>(await call('push', { ...args, ...crawl.forNewMeta(), requests: columns }));
  };
  return {
    engine: 'redis',
    failed,
    feeds: redisFeeds(crawl),
    partition: { crawl, node, calls },
    backups: loadedOnUse(async () => {
      const { redisBackups } = await import('./backup/backups.js');
      return redisBackups(crawl, failed);
    }),
    ...claimVerbs(crawl),
    ...leaseVerbs(crawl),
    ...seedVerbs(crawl),
    ...robotsVerbs(crawl),
    async join(...how) {
      const joined = await node.join(...how);
      if (joined.justClosed === null) await sweep(call);
      return joined;
    },
    async leave(...how) {
      const left = await node.leave(...how);
      if (left.cleared) await sweep(call);
      return left;
    },
    async heartbeat(incarnation, pagesPerSecond) {
      const rounded = Math.round(pagesPerSecond * 100) / 100;
      return text(await call('heartbeat', { incarnation, pagesPerSecond: rounded })) as HeartbeatAnswer;
    },
    push: (...requests) => push(false, ...requests),
    pushPart: (...requests) => push(true, ...requests),
    async throttle(domain, change) {
      await call('throttle', { domain: domainName(domain), ...change });
    },
    async addStats(changes) {
      await call('add_stats', { changes: statArguments(changes) });
    },
    async control(control) {
      await call('control', { control });
    },
    async closeRun(closing) {
      await call('control', { closing });
    },
    snapshot: () =>
      connection.patiently(async (client) => {
        if (acceptForeignKeys === true) await refuseOtherFormat(client, keys);
        return takeSnapshot(client, keys);
      }),
    async inspect(request) {
      const { inspectRequest } = await import('./read/inspect.js');
      return inspectRequest(crawl, request);
    },
    async forget(fingerprint) {
      if (dupefilter().class === 'BloomDupeFilter') throw cannotForget();
      return int(await call('forget', { mark: markOf(fingerprint, dupefilter()) })) === 1;
    },
    count: () => connection.patiently((client) => countParts(client, keys)),
    clear: (parts, { force }) => clearParts(crawl, parts, force),
    async examine() {
      const { examineRedis } = await import('./examine/examine.js');
      return connection.patiently((client) => examineRedis(client, options));
    },
    async repair(read, { force }) {
      const [{ repair }, { redisCare }] = await Promise.all([
        import('../care/repair.js'),
        import('./care/redis-care.js'),
      ]);
      return repair(redisCare(crawl), read, force);
    },
    async verify() {
      const [{ verify }, { redisCare }] = await Promise.all([
        import('../care/verify.js'),
        import('./care/redis-care.js'),
      ]);
      return verify(redisCare(crawl));
    },
    async close() {
      leaseCalls.flush();
      await calls.forgetAnswers();
    },
  };
}
