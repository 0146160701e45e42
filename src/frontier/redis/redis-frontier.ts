/**
 * The frontier in Redis: every verb is one call of one function (`lua/`), sent again with the same number when its
 * reply is lost, so that it happens once. Ids travel as 20 raw bytes and are hex on this side.
 */
import { loadedOnUse } from '../backup/loaded-on-use.js';
import { careVerbs } from '../care/care-verbs.js';
import { classOf } from '../dupefilter-classes.js';
import type { Frontier, HeartbeatAnswer, PushAnswer } from '../frontier.js';
import type { OpenOptions, RedisAddress } from '../open-options.js';
import { cannotForget } from '../refusals.js';
import { RedisConnection } from './connection/connection.js';
import { refuseOtherFormat, refuseUnsafeStore } from './connection/preflight.js';
import { int, json, text } from './connection/reply.js';
import { acceptLosses, clearParts, sweep } from './crawl/clear.js';
import { countParts, takeSnapshot } from './crawl/snapshot.js';
import { accessTo } from './crawl-access.js';
import { failedList } from './failed/failed-list.js';
import { redisFeeds } from './feeds/outbox.js';
import { leaseVerbs } from './leases/lease-verbs.js';
import { claimVerbs } from './nodes/claims.js';
import { startField } from './nodes/join.js';
import { columnsOf, domainName } from './request-columns.js';
import { robotsVerbs } from './robots/robots.js';
import { seedVerbs } from './seeds/seeds.js';
import { statArguments } from './stored-stats.js';
import { redisTelemetry } from './telemetry/telemetry.js';

export async function openRedisFrontier(options: OpenOptions, address: RedisAddress): Promise<Frontier> {
  const connection = await RedisConnection.open(address, options.connectTimeoutMs, options.waitReplicas);
  try {
    await refuseUnsafeStore(connection, options);
  } catch (error) {
    connection.close();
    throw error;
  }
  return frontierOn(connection, options);
}

function frontierOn(connection: RedisConnection, options: OpenOptions): Frontier {
  const crawl = accessTo(connection, options);
  const { call, calls, node, leaseCalls, dupefilter } = crawl;
  const { keys, acceptForeignKeys } = options;
  const failed = failedList(crawl);
  return {
    engine: 'redis',
    failed,
    feeds: redisFeeds(crawl),
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
    async push(requests, kind, part = { from: 0, total: requests.length }) {
      const place =
        'page' in part
          ? { page: Buffer.from(part.page, 'hex') }
          : { from: part.from, total: part.total ?? undefined, start: startField(part.key ?? '') };
      const columns = columnsOf(requests, dupefilter());
      return json<PushAnswer>(
        await call('push', { kind, ...place, ...crawl.forNewMeta(), requests: columns }),
      );
    },
    async throttle(domain, change) {
      await call('throttle', { domain: domainName(domain), ...change });
    },
    async addStats(changes) {
      await call('add_stats', { changes: statArguments(changes) });
    },
    telemetry: redisTelemetry(crawl),
    async control(control, by) {
      await call('control', { control, by });
    },
    async closeRun(closing) {
      await call('control', { closing });
    },
    snapshot: () =>
      connection.patiently(async (client) => {
        if (acceptForeignKeys === true) await refuseOtherFormat(client, keys);
        return takeSnapshot(client, keys, call);
      }),
    async inspect(request) {
      const { inspectRequest } = await import('./crawl/inspect.js');
      return inspectRequest(crawl, request);
    },
    async forget(fingerprint) {
      const ours = dupefilter();
      const { canForget, markOf } = classOf(ours);
      if (!canForget) throw cannotForget(ours);
      return int(await call('forget', { mark: markOf(fingerprint) })) === 1;
    },
    count: () => connection.patiently((client) => countParts(client, keys)),
    clear: (parts, { force }) => clearParts(crawl, parts, force),
    acceptLosses: () => acceptLosses(crawl),
    async examine() {
      const { examineRedis } = await import('./examine/examine.js');
      return connection.patiently((client) => examineRedis(client, options));
    },
    ...careVerbs(async () => (await import('./care/redis-care.js')).redisCare(crawl)),
    async close() {
      leaseCalls.flush();
      await calls.forgetAnswers();
      connection.close();
    },
  };
}
