/**
 * Seeds over partitions. The start_urls keys are in partition 0. A seed leaves its key in one step with putting its requests
 * into the queue of partition 0, or on their way to others (`lua/partitions/transfers.lua`). Whoever finds them on their way
 * pushes them: the node that took the seed, or any other.
 */
import type { ConvertedSeed, FrontierRequest, IntakeAnswer, PushAnswer } from '../frontier.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';
import type { SeedTransfer } from '../redis/redis-seeds.js';
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
    return {
      ...own,
      accepted: own.accepted + sent.accepted,
      duplicates: own.duplicates + sent.duplicates,
    };
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
    const total = { accepted: 0, duplicates: 0 };
    const crawl = await partition.found();
    let before = -1;
    let isBlocked = false;
    for (const transfer of await partition.transfers()) {
      const isFirst = transfer.to !== before;
      if (isFirst) isBlocked = false;
      before = transfer.to;
      if (isBlocked) continue;
      const answer = await this.#parts[transfer.to]!.partition.receive(transfer, crawl, isFirst);
      // Another node is pushing the ones before.
      isBlocked = answer === null;
      if (answer === null) continue;
      total.accepted += answer.accepted;
      total.duplicates += answer.duplicates;
      await partition.forgetTransfer(transfer);
    }
    return total;
  }

  #split(converted: ConvertedSeed): ConvertedSeed & { readonly transfers?: readonly SeedTransfer[] } {
    if ('bad' in converted) return converted;
    const [own = [], ...others] = byPartition(converted.requests, domainOf, this.#parts.length);
    const transfers = others.flatMap((requests, n): SeedTransfer[] =>
      requests.length === 0 ? [] : [{ to: n + 1, count: requests.length, payload: JSON.stringify(requests) }],
    );
    return { ...converted, requests: own, ...(transfers.length > 0 && { transfers }) };
  }
}

const domainOf = ({ domain }: FrontierRequest): string => domain;
