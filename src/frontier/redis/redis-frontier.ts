/**
 * The frontier in Redis: every verb is one call of one function (`lua/`), sent again with the same number when its
 * reply is lost, so that it happens once. Ids travel as 20 raw bytes and are hex on this side.
 */
import { loadedOnUse } from '../backup/loaded-on-use.js';
import type { CrashedRequest, Frontier, HeartbeatAnswer, PushAnswer, StartClaim } from '../frontier.js';
import type { OpenOptions, RedisAddress } from '../open-options.js';
import { RecoveredNodes } from '../recovered-nodes.js';
import { cannotForget } from '../refusals.js';
import { startKey } from '../shared-settings/run-arguments.js';
import { clearParts, sweep } from './clear.js';
import { RedisConnection } from './connection/connection.js';
import { int, json, text } from './connection/reply.js';
import { accessTo, type CrawlAccess } from './crawl-access.js';
import { refuseOtherFormat, refuseUnsafeStore } from './doctor/preflight.js';
import { startField } from './join.js';
import { type LeaseVerbs, leaseVerbs } from './leases/lease-verbs.js';
import { RedisPartition } from './partitions/redis-partition.js';
import { countParts, takeSnapshot } from './read/snapshot.js';
import { failedList } from './redis-failed.js';
import { redisFeeds } from './redis-feeds.js';
import { robotsVerbs } from './redis-robots.js';
import { seedVerbs } from './redis-seeds.js';
import { columnsOf, domainName, markOf } from './request-columns.js';
import { statArguments } from './stored-stats.js';

/** Leases moved by one step of recovery: some hundred microseconds. */
const RECOVERY_STEP = 100;

export interface RedisFrontier
  extends Omit<Frontier, keyof LeaseVerbs>,
    LeaseVerbs,
    Pick<RecoveryVerbs, 'recoverInto'> {
  /** The verbs of a partition; unused in a crawl of one. */
  readonly partition: RedisPartition;
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
  const failed = failedList(crawl);
  return {
    engine: 'redis',
    failed,
    feeds: redisFeeds(crawl),
    backups: loadedOnUse(async () => {
      const { redisBackups } = await import('./backup/backups.js');
      return redisBackups(crawl, failed);
    }),
    partition: new RedisPartition(crawl),
    ...memberVerbs(crawl),
    ...recoveryVerbs(crawl),
    ...startVerbs(crawl),
    ...leaseVerbs(crawl),
    ...seedVerbs(crawl),
    ...robotsVerbs(crawl),
    ...runVerbs(crawl),
    ...readVerbs(crawl),
    ...upkeepVerbs(crawl),
    async close() {
      crawl.leaseCalls.flush();
      await crawl.calls.forgetAnswers();
    },
  };
}

function memberVerbs({ call, node }: CrawlAccess): Pick<Frontier, 'join' | 'leave' | 'heartbeat'> {
  return {
    async join(info, options) {
      const joined = await node.join(info, options);
      if (joined.justClosed === null) await sweep(call);
      return joined;
    },
    async leave(reason, heardWithinMs) {
      const left = await node.leave(reason, heardWithinMs);
      if (left.cleared) await sweep(call);
      return left;
    },
    async heartbeat(incarnation, { pagesPerSecond }) {
      const rounded = Math.round(pagesPerSecond * 100) / 100;
      return text(await call('heartbeat', { incarnation, pagesPerSecond: rounded })) as HeartbeatAnswer;
    },
  };
}

/** The answer of `lua/nodes/recover.lua`. */
interface Recovered {
  readonly isDone: boolean;
  readonly nodes: readonly { readonly incarnation: string; readonly id: string; readonly count: number }[];
  readonly failed: readonly CrashedRequest[];
}

interface RecoveryVerbs extends Pick<Frontier, 'recover'> {
  /** As `recover`, of a partition: incarnations that were handled in another one are dead here too. */
  recoverInto(recovered: RecoveredNodes, onFailed: Parameters<Frontier['recover']>[1]): Promise<void>;
}

function recoveryVerbs({ call }: CrawlAccess): RecoveryVerbs {
  const recoverInto: RecoveryVerbs['recoverInto'] = async (recovered, onFailed) => {
    const dead = recovered.incarnations as string[];
    for (let isDone = false; !isDone; ) {
      const reply = await call('recover', { most: RECOVERY_STEP, dead });
      if (reply == null) return;
      const step = json<Recovered>(reply);
      for (const { incarnation, id, count } of Object.values(step.nodes))
        recovered.add(incarnation, id, count);
      for (const request of Object.values(step.failed)) onFailed?.(request);
      isDone = step.isDone;
    }
  };
  return {
    recoverInto,
    async recover(onDead, onFailed) {
      const recovered = new RecoveredNodes();
      await recoverInto(recovered, onFailed);
      return recovered.report(onDead);
    },
  };
}

function startVerbs({
  call,
  node,
  dupefilter,
  forNewMeta,
}: CrawlAccess): Pick<Frontier, 'push' | 'claimStart' | 'claimIdle' | 'endIdle'> {
  return {
    async push(requests, kind, { from, total, key = '' } = { from: 0, total: requests.length }) {
      const answer = await call('push', {
        ...{ kind, from, total: total ?? undefined, start: startField(key), ...forNewMeta() },
        requests: columnsOf(requests, dupefilter()),
      });
      return json<PushAnswer>(answer);
    },
    async claimStart() {
      await node.live();
      const start = startField(startKey(node.options?.args ?? {}));
      return text(await call('claim_start', { start })) as StartClaim;
    },
    async claimIdle(againAfterMs) {
      await node.live();
      return int(await call('ask_idle', { againAfterMs: againAfterMs ?? undefined })) === 1;
    },
    async endIdle() {
      await node.live();
      await call('ask_idle', { ended: true });
    },
  };
}

function runVerbs({ call }: CrawlAccess): Pick<Frontier, 'throttle' | 'addStats' | 'control' | 'closeRun'> {
  return {
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
  };
}

function readVerbs({
  connection,
  options,
  dupefilter,
}: CrawlAccess): Pick<Frontier, 'snapshot' | 'inspect' | 'count' | 'examine'> {
  const { keys, acceptForeignKeys } = options;
  return {
    snapshot: () =>
      connection.patiently(async (client) => {
        if (acceptForeignKeys === true) await refuseOtherFormat(client, keys);
        return takeSnapshot(client, keys);
      }),
    async inspect(request) {
      const { inspectRequest } = await import('./read/inspect.js');
      return inspectRequest(connection, keys, dupefilter(), request);
    },
    count: () => connection.patiently((client) => countParts(client, keys)),
    async examine() {
      const { examineRedis } = await import('./doctor/examine/examine.js');
      return connection.patiently((client) => examineRedis(client, options));
    },
  };
}

function upkeepVerbs(crawl: CrawlAccess): Pick<Frontier, 'forget' | 'clear' | 'repair' | 'verify'> {
  return {
    async forget(fingerprint) {
      const dupefilter = crawl.dupefilter();
      if (dupefilter.class === 'BloomDupeFilter') throw cannotForget();
      return int(await crawl.call('forget', { mark: markOf(fingerprint, dupefilter) })) === 1;
    },
    clear: (parts, { force }) => clearParts(crawl, parts, force),
    async repair(read, { force }) {
      const { repairRedis } = await import('./doctor/repair.js');
      return repairRedis(crawl, read, force);
    },
    async verify() {
      const { verifyInvariants } = await import('./doctor/verify.js');
      return verifyInvariants(crawl);
    },
  };
}
