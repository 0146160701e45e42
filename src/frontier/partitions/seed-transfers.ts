/**
 * Seeds over partitions. The start_urls keys are in partition 0. A seed leaves its key in one step with putting its requests
 * into the queue of partition 0, or on their way to others (`lua/partitions/transfers.lua`). Whoever finds them on their way
 * pushes them: the node that took the seed, or any other.
 */
import type { ConvertedSeed, FrontierRequest, IntakeAnswer, PushAnswer } from '../frontier.js';
import { json } from '../redis/connection/reply.js';
import { internalKey } from '../redis/keys.js';
import { metaFields } from '../redis/partitions/partition-access.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';
import type { SeedTransfer } from '../redis/redis-seeds.js';
import { columnsOf } from '../redis/request-columns.js';
import { summed } from './answers/summed.js';
import { byPartition } from './partition-of.js';

export class SeedTransfers {
  readonly #parts: readonly RedisFrontier[];
  #underWay: Promise<PushAnswer> | null = null;

  constructor(parts: readonly RedisFrontier[]) {
    this.#parts = parts;
  }

  async intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    const own = await this.#parts[0]!.intake(batch.map((seed) => this.#split(seed)));
    const sent = await this.deliver();
    return summed<IntakeAnswer>([own, { ...sent, bad: 0 }]);
  }

  /** Push what is on its way. @returns what this client has pushed. */
  async deliver(): Promise<PushAnswer> {
    // One after the other: each call answers for the seeds of its own caller.
    while (this.#underWay !== null) await this.#underWay.catch(() => undefined);
    this.#underWay = this.#deliver();
    try {
      return await this.#underWay;
    } finally {
      this.#underWay = null;
    }
  }

  async #deliver(): Promise<PushAnswer> {
    const { partition } = this.#parts[0]!;
    const { connection, options } = partition.crawl;
    const key = internalKey(options.keys, 'transfers');
    const [of] = await metaFields(partition, 'crawl');
    const waiting = Object.entries(await connection.patiently((client) => client.hgetall(key)));
    const kind = options.seedsFiltered ? 'seeds-filtered' : 'seeds';
    const arrived: PushAnswer[] = [{ accepted: 0, duplicates: 0 }];
    /** The partitions that this call has pushed to; false where another node is pushing the ones before. */
    const isOpen = new Map<number, boolean>();
    for (const { to, from, payload } of waiting.map(readTransfer).sort(byNumber)) {
      if (of == null || isOpen.get(to) === false) continue;
      const { crawl } = this.#parts[to]!.partition;
      const answer = json<PushAnswer | null>(
        await crawl.call('receive_transfer', {
          ...{ kind, of, from, isFirst: !isOpen.has(to), ...crawl.forNewMeta() },
          requests: columnsOf(JSON.parse(payload) as FrontierRequest[], crawl.dupefilter()),
        }),
      );
      isOpen.set(to, answer !== null);
      if (answer === null) continue;
      arrived.push(answer);
      await connection.patiently((client) => client.hdel(key, `${to}:${from}`));
    }
    return summed(arrived);
  }

  #split(converted: ConvertedSeed): ConvertedSeed & { readonly transfers?: readonly SeedTransfer[] } {
    if ('bad' in converted) return converted;
    const [own = [], ...others] = byPartition(converted.requests, this.#parts.length);
    const transfers = others.flatMap((requests, n): SeedTransfer[] =>
      requests.length === 0 ? [] : [{ to: n + 1, count: requests.length, payload: JSON.stringify(requests) }],
    );
    return { ...converted, requests: own, ...(transfers.length > 0 && { transfers }) };
  }
}

/** Requests of a seed on their way. `from`: the number of the first one, among all that were sent to that partition. */
interface Transfer {
  readonly to: number;
  readonly from: number;
  readonly payload: string;
}

function readTransfer([field, payload]: readonly [string, string]): Transfer {
  const [to = 0, from = 0] = field.split(':').map(Number);
  return { to, from, payload };
}

const byNumber = (a: Transfer, b: Transfer): number => a.to - b.to || a.from - b.from;
