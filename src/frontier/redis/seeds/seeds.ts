/** External seeds in Redis: read where they stand, and taken in by one verb that removes and accepts them. */
import { RefusedError } from '../../../errors.js';
import { badSeedEntry } from '../../bad-seed-entry.js';
import type { ConvertedSeed, Dupefilter, Frontier, IntakeAnswer, RawSeed } from '../../frontier.js';
import { inChunks, type Weight } from '../../in-chunks.js';
import type { Client } from '../connection/client.js';
import type { Arguments } from '../connection/lua-message.js';
import { refuseForeignKeys } from '../connection/preflight.js';
import { json, list, named, type Reply, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { badSeedsKey } from '../keys.js';
import { columnsOf } from '../request-columns.js';

export function seedVerbs(
  crawl: CrawlAccess,
): Pick<Frontier, 'peekSeeds' | 'intake' | 'badSeeds' | 'appendSeeds'> {
  const { connection, options } = crawl;
  const { startUrlsType, keys, seedsFiltered } = options;

  async function read(key: string, number: number, max: number): Promise<RawSeed[]> {
    if (startUrlsType === 'stream') {
      const { entries } = named(await crawl.call('peek_stream', { key: number, max }));
      return list(entries).map((entry) => seedOfEntry(key, list(entry)));
    }
    const values = await connection.patiently((client) => {
      if (startUrlsType === 'set') return client.srandmemberBuffer(key, max) as Promise<Buffer[]>;
      if (startUrlsType === 'zset') return client.zrevrangeBuffer(key, 0, max - 1);
      return client.lrangeBuffer(key, 0, max - 1);
    });
    return values.map((value) => ({ key, value }));
  }

  /** A key whose type changed under us is named, with the setting that fits it; Redis only says WRONGTYPE. */
  async function withKeyNamed<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof RefusedError && error.code === 'foreign_key') {
        await connection.patiently((client) => refuseForeignKeys(client, options));
      }
      throw error;
    }
  }

  return {
    async peekSeeds(max) {
      const seeds: RawSeed[] = [];
      for (const [index, key] of keys.startUrls.entries()) {
        const room = max - seeds.length;
        if (room <= 0) break;
        seeds.push(...(await withKeyNamed(() => read(key, index + 1, room))));
      }
      return seeds;
    },
    async intake(batch) {
      const total = { accepted: 0, duplicates: 0, bad: 0 };
      for (const [index, key] of keys.startUrls.entries()) {
        const ofKey = batch.filter(({ seed }) => seed.key === key);
        for (const seeds of inChunks(ofKey, weigh)) {
          const args = {
            ...{ kind: seedsFiltered ? 'seeds-judged' : 'seeds', type: startUrlsType, key: index + 1 },
            ...crawl.forNewMeta(),
            seeds: seeds.map((seed) => seedArgument(seed, crawl.dupefilter())),
          };
          const answer = json<IntakeAnswer>(await withKeyNamed(() => crawl.call('intake', args)));
          total.accepted += answer.accepted;
          total.duplicates += answer.duplicates;
          total.bad += answer.bad;
        }
      }
      return total;
    },
    async badSeeds(from, max) {
      const entries: string[] = [];
      let before = 0;
      for (const key of keys.startUrls) {
        const start = Math.max(0, from - before);
        const room = max - entries.length;
        if (room <= 0) break;
        await connection.patiently(async (client) => {
          const found = await client.lrange(badSeedsKey(key), start, start + room - 1);
          before += await client.llen(badSeedsKey(key));
          entries.push(...found);
        });
      }
      return entries;
    },
    async appendSeeds(values) {
      const [key] = keys.startUrls;
      if (key === undefined || values.length === 0) return 0;
      const weighValue = (value: string): Weight => ({ count: 1, bytes: value.length });
      for (const chunk of inChunks(values, weighValue)) {
        await connection.patiently(async (client) => {
          if (startUrlsType === 'set') return client.sadd(key, ...chunk);
          if (startUrlsType === 'zset') return client.zadd(key, ...chunk.flatMap((value) => [0, value]));
          if (startUrlsType === 'stream') return addEntries(client, key, chunk);
          return client.rpush(key, ...chunk);
        });
      }
      return values.length;
    },
  };
}

/** An entry of a stream: its only field is the seed, or of several `data`; without it they are the fields of a JSON seed. */
function seedOfEntry(key: string, [id, fields]: readonly Reply[]): RawSeed {
  const byName = named(fields);
  const names = Object.keys(byName);
  const value = names.length === 1 ? byName[names[0]!] : byName.data;
  if (value !== undefined) return { key, id: text(id), value: value as Buffer };
  const texts = names.map((name) => [name, text(byName[name])]);
  return { key, id: text(id), value: Buffer.from(JSON.stringify(Object.fromEntries(texts))) };
}

async function addEntries(client: Client, key: string, values: readonly string[]): Promise<void> {
  await Promise.all(values.map((value) => client.xadd(key, '*', 'data', value)));
}

function weigh(converted: ConvertedSeed): Weight {
  const { value } = converted.seed;
  if ('bad' in converted) return { count: 1, bytes: 2 * value.length };
  const records = converted.requests.reduce((sum, { record }) => sum + record.length, 0);
  return { count: Math.max(1, converted.requests.length), bytes: value.length + records };
}

function seedArgument(converted: ConvertedSeed, dupefilter: Dupefilter): Arguments {
  const { value, id } = converted.seed;
  if ('bad' in converted) return { value, id, bad: badSeedEntry(value, converted.bad, Date.now()) };
  if (converted.requests.length === 0) return { value, id };
  return { value, id, requests: columnsOf(converted.requests, dupefilter) };
}
