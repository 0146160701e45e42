/** External seeds in Redis: read where they stand, and taken in by one script that removes and accepts them. */
import type { ConvertedSeed, FrontierRequest, IntakeAnswer, PushAnswer, RawSeed } from '../frontier.js';
import { MAX_SETTLE_REQUESTS, PUSH_CHUNK } from '../frontier.js';
import type { OpenOptions } from '../open.js';
import { type Argument, packBatch } from './batch.js';
import type { RedisConnection } from './connection.js';
import { int, type Reply } from './reply.js';
import type { Verb } from './scripts.js';

type SeedKind = 'seeds' | 'seeds-filtered';

/** What a frontier lends its seeds. */
export interface SeedsDeps {
  call(verb: Verb, args: readonly Argument[]): Promise<Reply>;
  push(requests: readonly FrontierRequest[], kind: SeedKind): Promise<PushAnswer>;
  /** Queue class and epoch for a meta that is not there yet. */
  forNewMeta(): readonly [queueClass: string, epoch: string];
}

export class RedisSeeds {
  readonly #connection: RedisConnection;
  readonly #options: OpenOptions;
  readonly #deps: SeedsDeps;
  readonly #kind: SeedKind;

  constructor(connection: RedisConnection, options: OpenOptions, deps: SeedsDeps) {
    this.#connection = connection;
    this.#options = options;
    this.#deps = deps;
    this.#kind = options.seedsFiltered ? 'seeds-filtered' : 'seeds';
  }

  async peek(max: number): Promise<RawSeed[]> {
    const { startUrlsType, keys } = this.#options;
    const seeds: RawSeed[] = [];
    for (const key of keys.startUrls) {
      const room = max - seeds.length;
      if (room <= 0) break;
      const values = await this.#connection.patiently((client) => {
        if (startUrlsType === 'set') return client.srandmemberBuffer(key, room) as Promise<Buffer[]>;
        if (startUrlsType === 'zset') return client.zrevrangeBuffer(key, 0, room - 1);
        return client.lrangeBuffer(key, 0, room - 1);
      });
      seeds.push(...values.map((value) => ({ key, value })));
    }
    return seeds;
  }

  async intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    const { startUrlsType, keys } = this.#options;
    const total = { accepted: 0, duplicates: 0, bad: 0 };
    for (const [index, key] of keys.startUrls.entries()) {
      const ofKey = batch.filter(({ seed }) => seed.key === key);
      const bounded = await Promise.all(ofKey.map((converted) => this.#pushExcess(converted)));
      for (const seeds of inBounds(bounded)) {
        const head = [this.#kind, startUrlsType, seeds.length, index + 1, ...this.#deps.forNewMeta()];
        const answer = await this.#deps.call('intake', [...head, ...seeds.flatMap(seedArguments)]);
        const [accepted, duplicates, bad] = answer as Reply[];
        total.accepted += int(accepted);
        total.duplicates += int(duplicates);
        total.bad += int(bad);
      }
    }
    return total;
  }

  async append(values: readonly string[]): Promise<number> {
    const { startUrlsType, keys } = this.#options;
    const [key] = keys.startUrls;
    if (key === undefined || values.length === 0) return 0;
    await this.#connection.patiently(async (client) => {
      if (startUrlsType === 'set') return client.sadd(key, ...values);
      if (startUrlsType === 'zset') return client.zadd(key, ...values.flatMap((value) => [0, value]));
      return client.rpush(key, ...values);
    });
    return values.length;
  }

  /** Requests of one seed beyond the bound of a script are pushed before it, as those of a page are. */
  async #pushExcess(converted: ConvertedSeed): Promise<ConvertedSeed> {
    if (!('requests' in converted)) return converted;
    let { requests } = converted;
    while (requests.length > MAX_SETTLE_REQUESTS) {
      await this.#deps.push(requests.slice(0, PUSH_CHUNK), this.#kind);
      requests = requests.slice(PUSH_CHUNK);
    }
    return { ...converted, requests };
  }
}

/** Cut a batch of seeds into calls of bounded work. */
function* inBounds(seeds: readonly ConvertedSeed[]): Iterable<ConvertedSeed[]> {
  let part: ConvertedSeed[] = [];
  let size = 0;
  for (const converted of seeds) {
    const more = 'requests' in converted ? converted.requests.length : 0;
    if (part.length > 0 && size + more > MAX_SETTLE_REQUESTS) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(converted);
    size += more;
  }
  if (part.length > 0) yield part;
}

function seedArguments(converted: ConvertedSeed): Argument[] {
  const { value } = converted.seed;
  if ('bad' in converted) {
    const { bad: reason } = converted;
    return [value, -1, JSON.stringify({ seed: value.toString(), reason, at: new Date().toISOString() })];
  }
  if (converted.requests.length === 0) return [value, 0, ''];
  const { head, records } = packBatch(converted.requests);
  return [value, converted.requests.length, '', ...head, ...records];
}
