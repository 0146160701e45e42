/**
 * The checks of `doctor` for a Redis server: version, limits, disk, clock, replicas and speed. In a Cluster each server
 * with keys is checked. A check is skipped when its right is missing, which is reported once.
 */
import type { Redis } from 'ioredis';
import { byteSize, duration } from '../../../format-amounts.js';
import type { Findings } from '../../findings.js';
import type { Snapshot } from '../../types/reports.js';
import { type Client, serversOf } from '../connection/client.js';
import { ifAllowed } from '../connection/errors.js';
import { clockOf } from '../crawl/measuring.js';
import { examineVersion } from './version.js';

/** Pings, of which the median counts. */
const PINGS = 11;
const SLOW_MS = 20;
const CLOCK_OFF_MS = 2_000;
/** A SET of whole numbers stays small in memory up to this many; a CompactDupeFilter fills its buckets nearly so far. */
export const INTSET_ENTRIES = 512;

/** The fields of INFO by name; null when INFO is not allowed. */
export type Info = ReadonlyMap<string, string> | null;

/** Everything about one server. @returns whether it takes writes. */
export async function examineServer(client: Redis, found: Findings): Promise<boolean> {
  const info = await readInfo(client);
  if (info === null) {
    found.info(
      'info',
      'INFO may not be asked, so version, memory and persistence of Redis stay unknown',
      'allow it to this user (ACL SETUSER … +info), or have somebody look who may',
    );
  } else {
    examineVersion(info, found);
    eviction(info, found);
    memory(info, found);
    await persistence(client, info, found);
    replication(info, found);
  }
  await latency(client, found);
  await clock(client, found);
  return info?.get('role') !== 'slave';
}

/** @param section the section of INFO; by default the default sections. */
export async function readInfo(client: Client, section = 'default'): Promise<Info> {
  const text = await ifAllowed(client.info(section), null);
  const fields = text?.matchAll(/^([a-z0-9_]+):(.*?)\r?$/gm) ?? null;
  return fields && new Map(Array.from(fields, ([, name, value]) => [name!, value!]));
}

/** The policy that would evict our keys, with its limit in bytes; null when none would. */
function evictingPolicy(info: Info): { policy: string; limit: number } | null {
  const policy = info?.get('maxmemory_policy') ?? '';
  const limit = number(info, 'maxmemory');
  return limit > 0 && policy.startsWith('allkeys-') ? { policy, limit } : null;
}

/**
 * The memory in use of a server and its limit; null where it has none. Of a Cluster too: a crawl needs only one of its servers, and
 * must not wait for the others.
 */
export async function memoryOf(client: Client): Promise<Snapshot['memory']> {
  if ('nodes' in client) return null;
  const info = await readInfo(client, 'memory');
  const limitBytes = number(info, 'maxmemory');
  return limitBytes > 0 ? { usedBytes: number(info, 'used_memory'), limitBytes } : null;
}

/**
 * Whether a server may evict our keys, any master of a Cluster included.
 * @returns which one may, and why; null for none.
 */
export async function evictionDanger(client: Client): Promise<string | null> {
  const servers = serversOf(client);
  for (const server of servers) {
    const evicting = evictingPolicy(await readInfo(server, 'memory'));
    const { host, port } = server.options;
    if (evicting !== null)
      return evictionMessage(evicting, servers.length > 1 ? `Redis at ${host}:${port}` : 'Redis');
  }
  return null;
}

function evictionMessage({ policy, limit }: { policy: string; limit: number }, called = 'Redis'): string {
  return `${called} may evict the frontier: maxmemory-policy is ${policy} with a maxmemory of ${limit} bytes`;
}

function eviction(info: NonNullable<Info>, found: Findings): void {
  const evicting = evictingPolicy(info);
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  if (evicting !== null) {
    found.problem(
      'eviction_policy',
      `${evictionMessage(evicting)}; nodes refuse to start (${number(info, 'evicted_keys').toLocaleString('en')} keys evicted so far)`,
      'CONFIG SET maxmemory-policy noeviction (and in redis.conf), or REDIS_ALLOW_EVICTION: true to run at that risk',
    );
  } else if (policy.startsWith('allkeys-')) {
    found.info(
      'eviction_policy',
      `maxmemory-policy is ${policy}: harmless as long as there is no maxmemory`,
      'CONFIG SET maxmemory-policy noeviction before anybody sets one',
    );
  } else found.ok('eviction_policy', `nothing of ours is evicted (maxmemory-policy ${policy})`);
}

function memory(info: NonNullable<Info>, found: Findings): void {
  const [used, limit] = [number(info, 'used_memory'), number(info, 'maxmemory')];
  const total = limit > 0 ? limit : number(info, 'total_system_memory');
  const of =
    limit > 0 ? `of ${byteSize(limit)} (maxmemory)` : `of the machine's ${byteSize(total)}, without a limit`;
  if (total === 0) return;
  const share = used / total;
  const message = `${byteSize(used)} in use ${of}`;
  const action = limit > 0 ? 'raise maxmemory, or ' : 'set maxmemory below what the machine has, and ';
  const todo = `${action}drop what is not needed: "crawlnode stats" shows the size of each crawl`;
  if (share >= 0.9) found.problem('memory', `${message}: nodes stop leasing when it is full`, todo);
  else if (share >= 0.7) found.info('memory', message, todo);
  else found.ok('memory', message);
}

/** What a crash of the server would lose, and whether the last save went well. */
async function persistence(client: Redis, info: NonNullable<Info>, found: Findings): Promise<void> {
  const failed = saves.filter(([field]) => (info.get(field) ?? 'ok') !== 'ok');
  for (const [, what] of failed) {
    found.problem(
      'persistence',
      `the last ${what} failed: Redis may refuse writes, and a restart would lose what came since`,
      'see the log of Redis; most often its disk is full, or its folder not writable',
    );
  }
  if (failed.length > 0) return;
  if (info.get('aof_enabled') === '1') {
    const fsync = await configOf(client, 'appendfsync');
    const lost = { always: 'nothing', everysec: 'at most a second', no: 'some 30 seconds' }[fsync ?? ''];
    return found.ok('persistence', `append-only file is on: a crash of Redis loses ${lost ?? 'little'}`);
  }
  const isUnsaved = (await configOf(client, 'save')) === '';
  const age = duration(Date.now() - number(info, 'rdb_last_save_time') * 1000);
  const changes = number(info, 'rdb_changes_since_last_save').toLocaleString('en');
  found.info(
    'persistence',
    isUnsaved
      ? 'nothing is saved to disk: a crash or restart of Redis loses the crawl'
      : `only snapshots (RDB) are saved: a crash of Redis now would lose ${changes} changes, those of the last ${age}; pages since then are fetched again`,
    'CONFIG SET appendonly yes (and in redis.conf): then it loses a second at most',
  );
}

/** The fields of INFO that tell how each kind of save ended. */
const saves = [
  ['rdb_last_bgsave_status', 'snapshot (RDB)'],
  ['aof_last_write_status', 'write of the append-only file'],
  ['aof_last_bgrewrite_status', 'rewrite of the append-only file'],
] as const;

/** The value of a configuration parameter; null when CONFIG is not allowed. */
async function configOf(client: Redis, name: string): Promise<string | null> {
  try {
    const [, value = null] = (await client.config('GET', name)) as string[];
    return value;
  } catch {
    return null;
  }
}

/**
 * Whether the SETs of a CompactDupeFilter would not stay small on this server, and need many times the memory. Where CONFIG is not
 * allowed, the default of Redis is assumed, which is enough.
 */
export async function hasSmallIntsets(client: Redis): Promise<boolean> {
  const entries = await configOf(client, 'set-max-intset-entries');
  return entries !== null && Number(entries) < INTSET_ENTRIES;
}

export async function examineIntsets(client: Redis, found: Findings): Promise<void> {
  if (!(await hasSmallIntsets(client)))
    return found.ok('intset_entries', 'set-max-intset-entries suits the CompactDupeFilter');
  found.problem(
    'intset_entries',
    `set-max-intset-entries is below ${INTSET_ENTRIES}: the CompactDupeFilter would take many times its memory`,
    `CONFIG SET set-max-intset-entries ${INTSET_ENTRIES} (and in redis.conf)`,
  );
}

function replication(info: NonNullable<Info>, found: Findings): void {
  const replicas = number(info, 'connected_slaves');
  if (info.get('role') === 'slave') {
    const link = info.get('master_link_status') ?? 'unknown';
    found.problem(
      'replication',
      `this server is a replica (link to its master ${link}), and takes no writes`,
      'let REDIS_URL name the master, or use REDIS_SENTINELS, which follows it',
    );
  } else if (replicas === 0) {
    found.info('replication', 'no replica: while this server is away the crawl waits', null);
  } else {
    const spoken = `${replicas} replica${replicas === 1 ? '' : 's'} connected`;
    found.ok('replication', `${spoken}; a failover may lose what was not replicated yet`);
  }
}

async function latency(client: Redis, found: Findings): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < PINGS; n += 1) {
    const startedAt = performance.now();
    await client.ping();
    times.push(performance.now() - startedAt);
  }
  const ms = times.sort((a, b) => a - b)[Math.floor(PINGS / 2)]!;
  const spoken = `answers in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < SLOW_MS) found.ok('latency', spoken);
  else {
    found.info(
      'latency',
      `${spoken}: every batch of pages waits for a few such answers`,
      'run the nodes near Redis, or raise CONCURRENT_REQUESTS',
    );
  }
}

/** Politeness, retries and liveness use the server's clock. The clock of the node only dates logs, so a deviation is an info. */
async function clock(client: Redis, found: Findings): Promise<void> {
  const before = Date.now();
  const now = await clockOf(client);
  const after = Date.now();
  const ahead = now - (before + after) / 2;
  if (Math.abs(ahead) <= CLOCK_OFF_MS + after - before)
    return found.ok('clock', 'its clock is that of this machine');
  found.info(
    'clock',
    `its clock is ${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} this machine's; delays and retries follow the clock of Redis, logs that of this machine`,
    'have both follow NTP',
  );
}

function number(info: Info, name: string): number {
  return Number(info?.get(name) ?? 0) || 0;
}
