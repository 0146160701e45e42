/** Checks before a Redis is used: whether it has functions, whether it would evict our keys, whether the keys are ours. */
import { RefusedError } from '../../../errors.js';
import { dataFormats, otherFormat } from '../../data-format.js';
import { classOf, type Dupefilter } from '../../dupefilter-classes.js';
import type { FrontierKeys, OpenOptions } from '../../open-options.js';
import { agreedDupefilter } from '../crawl/dupefilter.js';
import { evictionDanger, hasSmallIntsets, INTSET_ENTRIES } from '../examine/server.js';
import { badSeedsKey, type InternalWord, internalKey, MAX_FIELDS, ownKeys } from '../keys.js';
import { mainKeyType } from '../request-columns.js';
import { type Client, serversOf } from './client.js';
import type { RedisConnection } from './connection.js';
import { foreignKey, isMissingFunction, tooManyFields } from './errors.js';

/** @throws RefusedError where the frontier could be evicted, a key holds another type, or the format is another. */
export async function refuseUnsafeStore(connection: RedisConnection, options: OpenOptions): Promise<void> {
  const { keys, shape, allowEviction, acceptForeignKeys } = options;
  await connection.patiently(async (client) => {
    if (!allowEviction) await refuseEviction(client);
    if (acceptForeignKeys === true) return;
    await refuseServerWithoutFunctions(client);
    await refuseOtherFormat(client, keys);
    await refuseForeignKeys(client, options);
    if (classOf(shape.dupefilter).redisLayout === 'pieces: sets') await refuseSmallIntsets(client);
  });
}

/** Call a function that does not exist: a server without functions does not know the command. */
async function refuseServerWithoutFunctions(client: Client): Promise<void> {
  await client.call('FCALL', 'cn_none', '0').catch((error: unknown) => {
    if (!isMissingFunction(error)) throw error;
  });
}

async function refuseSmallIntsets(client: Client): Promise<void> {
  for (const server of serversOf(client)) {
    if (!(await hasSmallIntsets(server))) continue;
    throw new RefusedError(
      `a CompactDupeFilter needs sets of ${INTSET_ENTRIES} numbers to stay small, and this Redis makes them seven times the size: set set-max-intset-entries to ${INTSET_ENTRIES} or more (CONFIG SET set-max-intset-entries ${INTSET_ENTRIES}, and in redis.conf), or choose another DUPEFILTER_CLASS`,
      { code: 'intset_entries' },
    );
  }
}

/** @throws RefusedError naming the first key that holds another type than it should, and what to do. */
export async function refuseForeignKeys(client: Client, options: OpenOptions): Promise<void> {
  const [foreign] = await foreignKeys(client, options);
  if (foreign !== undefined) throw new RefusedError(foreign, { code: 'foreign_key' });
}

/** @throws RefusedError for a crawl of another data format. */
export async function refuseOtherFormat(client: Client, keys: FrontierKeys): Promise<void> {
  const format = await foundFormat(client, keys);
  if (format !== null && format !== String(dataFormats.redis))
    throw otherFormat('redis', keys.requests, format);
}

/**
 * A store with a memory limit and an `allkeys-*` policy silently deletes whole queues once it is full. `volatile-*` and
 * `noeviction` are safe, since no key of the frontier expires.
 */
async function refuseEviction(client: Client): Promise<void> {
  const danger = await evictionDanger(client);
  if (danger === null) return;
  throw new RefusedError(
    `${danger}. Set it to noeviction or volatile-lru (CONFIG SET maxmemory-policy noeviction), or set REDIS_ALLOW_EVICTION: true to run at that risk`,
    { code: 'eviction_policy' },
  );
}

/** The data format of the crawl; null when there is no crawl or its key has a foreign type. */
export async function foundFormat(client: Client, keys: FrontierKeys): Promise<string | null> {
  const meta = internalKey(keys, 'meta');
  return (await client.type(meta)) === 'hash' ? client.hget(meta, 'version') : null;
}

/** A sentence for each key with a foreign type, with the most likely reason; without one, for each with too many fields. */
export async function foreignKeys(
  client: Client,
  { keys, startUrlsType, shape }: OpenOptions,
): Promise<string[]> {
  // A client that only reads may have other settings than the crawl; one that writes is refused by the verbs.
  const dupefilter = (await agreedDupefilter(client, keys)) ?? shape.dupefilter;
  const wanted = new Map([
    [keys.requests, 'hash'],
    [keys.dupefilter, mainKeyType(dupefilter)],
    [keys.items, 'list'],
    [keys.stats, 'hash'],
    ...keys.startUrls.flatMap((key) => [[key, startUrlsType] as const, [badSeedsKey(key), 'list'] as const]),
    ...ownKeys(keys),
  ]);
  const foreign: string[] = [];
  const types = await Promise.all([...wanted.keys()].map((key) => client.type(key)));
  for (const [n, [key, type]] of [...wanted].entries()) {
    const found = types[n]!;
    if (found !== 'none' && found !== type) foreign.push(advice(key, found, type, keys, dupefilter.class));
  }
  if (foreign.length > 0) return foreign;
  const walked = Object.entries(MAX_FIELDS).map(async ([word, most]) => {
    const key = internalKey(keys, word as InternalWord);
    const count = await client.hlen(key);
    return count > most ? [tooManyFields(key, count)] : [];
  });
  return (await Promise.all(walked)).flat();
}

function advice(
  key: string,
  found: string,
  wanted: string,
  keys: FrontierKeys,
  dupefilter: Dupefilter['class'],
): string {
  if (key === keys.requests && (found === 'zset' || found === 'list')) {
    return `${key} is a ${found.toUpperCase()}, left by Scrapy-Redis (its pickled queue cannot be taken over); run "crawlnode reset SPIDER --only queue", which keeps the dupefilter, then seed again`;
  }
  if (key === keys.dupefilter) {
    const whose = found === 'set' ? ', as RFPDupeFilter and Scrapy-Redis keep it' : '';
    return `${key} is a ${found.toUpperCase()}${whose}, and DUPEFILTER_CLASS is ${dupefilter}: set the class that wrote it, or delete it with "crawlnode reset SPIDER --only dupefilter"`;
  }
  if (keys.startUrls.includes(key)) {
    const of = (type: string) =>
      ['set', 'zset', 'stream'].includes(type) ? `REDIS_START_URLS_AS_${type.toUpperCase()}` : null;
    const steps = [
      of(wanted) === null ? '' : `remove ${of(wanted)}`,
      of(found) === null ? '' : `set ${of(found)}: true`,
    ].filter((step) => step !== '');
    const change = steps.length === 0 ? '' : `${steps.join(' and ')} to match, or `;
    return `${key} is a ${found.toUpperCase()}, the settings say ${wanted.toUpperCase()}: ${change}delete the key`;
  }
  return foreignKey(key, found, wanted);
}
