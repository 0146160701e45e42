/**
 * How a node joins and leaves a crawl over several partitions, under one incarnation in all of them. Partition 0 is joined
 * first and left last: it decides when a run begins and when the crawl is cleared.
 */
import { randomBytes } from 'node:crypto';
import { RefusedError } from '../../../errors.js';
import type { Joined, JoinOptions, Left, NodeInfo } from '../../frontier.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';
import { mergeFound } from '../answers/merge-answers.js';
import { refuseLost } from '../checks/lost-partitions.js';
import type { PartitionedLeases } from '../pages/partitioned-leases.js';
import type { SeedTransfers } from '../seed-transfers.js';
import type { Completion } from './completion.js';

export class Membership {
  readonly #parts: readonly RedisFrontier[];
  readonly #first: RedisFrontier;
  readonly #leases: PartitionedLeases;
  readonly #seeds: SeedTransfers;
  readonly #completion: Completion;
  #persist = true;
  /** Partitions that a leave has yet to deregister from. */
  readonly #joined: Set<number> = new Set();

  constructor(
    parts: readonly RedisFrontier[],
    leases: PartitionedLeases,
    seeds: SeedTransfers,
    completion: Completion,
  ) {
    this.#parts = parts;
    this.#first = parts[0]!;
    this.#leases = leases;
    this.#seeds = seeds;
    this.#completion = completion;
  }

  get isJoined(): boolean {
    return this.#joined.size > 0;
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (options.hasIdle)
      throw notYet('hooks for an idle crawl (idle() of a spider, spiderIdle of an extension)');
    // A node that joins again is told so by its partitions.
    if (!options.flushOnStart && this.#first.partition.crawlId === '') await refuseLost(this.#parts);
    const incarnation = `${node.id}:${randomBytes(6).toString('hex')}`;
    const joined = await this.#first.partition.join(node, options, incarnation);
    if (joined.justClosed !== null) return joined;
    this.#joined.add(0);
    try {
      this.#persist = options.shape.persist;
      this.#leases.begin(joined.run);
      // The budgets of the run, which may be those of another node.
      const { part } = await this.#first.leasePart(0, 0);
      const budgets = { ...part.budgets, maxRunMs: 0 };
      const follows = { crawl: this.#first.partition.crawlId, run: joined.run };
      const others = await Promise.all(
        this.#parts.slice(1).map(async ({ partition }, n) => {
          const own = { ...options, budgets, hasStart: false };
          const found = await partition.join(node, own, incarnation, follows);
          this.#joined.add(n + 1);
          return found;
        }),
      );
      await this.#leases.look(0);
      if (part.transfers > 0) await this.#seeds.deliver();
      const all = [joined, ...others];
      return {
        ...joined,
        found: mergeFound(all),
        notices: [...new Set(all.flatMap(({ notices }) => notices))],
      };
    } catch (error) {
      await this.#leaveAll('error', true).catch(() => undefined);
      throw error;
    }
  }

  async leave(reason: string, heardWithinMs?: number): Promise<Left> {
    const mayClear = reason === 'finished' && !this.#persist;
    const isComplete = mayClear && (await this.#completion.isComplete());
    if (isComplete && heardWithinMs !== undefined) {
      const asked = await this.#first.partition.leave(reason, {
        persist: false,
        asksWithinMs: heardWithinMs,
      });
      if (asked.awaits !== undefined) return asked;
    }
    return this.#leaveAll(reason, !isComplete);
  }

  /** Partition 0 is left last: while a node is registered there, no other begins a run or clears the crawl. */
  async #leaveAll(reason: string, persist: boolean): Promise<Left> {
    const others = [...this.#joined].filter((index) => index > 0);
    await Promise.all(
      others.map(async (index) => {
        await this.#parts[index]!.partition.leave(reason, { persist: true });
        this.#joined.delete(index);
      }),
    );
    const of = this.#first.partition.crawlId;
    const left = await this.#first.partition.leave(reason, { persist });
    this.#joined.delete(0);
    if (left.cleared)
      await Promise.all(this.#parts.slice(1).map(({ partition }) => partition.clearComplete(of)));
    return left;
  }
}

/** The refusal of what a crawl over several partitions cannot do. */
export function notYet(what: string): RefusedError {
  return new RefusedError(
    `${what} cannot be used with SCHEDULER_PARTITIONS yet: crawl with SCHEDULER_PARTITIONS: 1`,
    {
      code: 'partitions',
    },
  );
}
