/**
 * How a node joins and leaves a crawl over several partitions, under one incarnation in all of them. Partition 0 is joined
 * first and left last: it decides when a run begins and when the crawl is cleared.
 */
import { RefusedError } from '../../../errors.js';
import type { Joined, JoinOptions, Left, NodeInfo } from '../../frontier.js';
import { sweep } from '../../redis/clear.js';
import { newIncarnation } from '../../redis/join.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';
import { summed } from '../answers/summed.js';
import { refuseLost } from '../checks/lost-partitions.js';
import type { PartitionedLeases } from '../pages/partitioned-leases.js';
import type { SeedTransfers } from '../seed-transfers.js';
import { isComplete } from './completion.js';

export class Membership {
  readonly #parts: readonly RedisFrontier[];
  readonly #first: RedisFrontier;
  readonly #leases: PartitionedLeases;
  readonly #seeds: SeedTransfers;
  #persist = true;
  /** Partitions that a leave has yet to deregister from. */
  readonly #joined: Set<RedisFrontier> = new Set();

  constructor(parts: readonly RedisFrontier[], leases: PartitionedLeases, seeds: SeedTransfers) {
    this.#parts = parts;
    this.#first = parts[0]!;
    this.#leases = leases;
    this.#seeds = seeds;
  }

  get isJoined(): boolean {
    return this.#joined.size > 0;
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (options.hasIdle)
      throw notYet('hooks for an idle crawl (idle() of a spider, spiderIdle of an extension)');
    // A node that joins again is told so by its partitions.
    if (!options.flushOnStart && this.#crawlId === '') await refuseLost(this.#parts);
    const incarnation = newIncarnation(node);
    const joined = await this.#first.join(node, options, { incarnation });
    if (joined.justClosed !== null) return joined;
    this.#joined.add(this.#first);
    try {
      this.#persist = options.shape.persist;
      this.#leases.begin(joined.run);
      // The budgets of the run, which may be those of another node.
      const { part: first } = await this.#first.leasePart(0, 0);
      const own = { ...options, budgets: { ...first.budgets, maxRunMs: 0 }, hasStart: false };
      const follows = { crawl: this.#crawlId, run: joined.run };
      const others = await Promise.all(
        this.#parts.slice(1).map(async (part) => {
          const found = await part.join(node, own, { incarnation, follows });
          this.#joined.add(part);
          return found;
        }),
      );
      await this.#leases.look(0);
      if (first.transfers > 0) await this.#seeds.deliver();
      const all = [joined, ...others];
      return {
        ...joined,
        // The nodes are the same in each partition.
        found: { ...summed(all.map(({ found }) => found)), nodes: joined.found.nodes },
        notices: [...new Set(all.flatMap(({ notices }) => notices))],
      };
    } catch (error) {
      await this.#leaveAll('error', true).catch(() => undefined);
      throw error;
    }
  }

  async leave(reason: string, heardWithinMs?: number): Promise<Left> {
    const mayClear = reason === 'finished' && !this.#persist && (await isComplete(this.#leases));
    if (mayClear && heardWithinMs !== undefined) {
      const asked = await this.#first.leave(reason, heardWithinMs, { persist: false, asks: true });
      if (asked.awaits !== undefined) return asked;
    }
    return this.#leaveAll(reason, !mayClear);
  }

  /** The crawl of partition 0. */
  get #crawlId(): string {
    return this.#first.partition.node.crawl;
  }

  /** Partition 0 is left last: while a node is registered there, no other begins a run or clears the crawl. */
  async #leaveAll(reason: string, persist: boolean): Promise<Left> {
    const leave = async (part: RedisFrontier, how: { readonly persist: boolean }): Promise<Left> => {
      const left = await part.leave(reason, undefined, how);
      this.#joined.delete(part);
      return left;
    };
    const others = this.#parts.slice(1);
    await Promise.all(
      others.filter((part) => this.#joined.has(part)).map((part) => leave(part, { persist: true })),
    );
    const of = this.#crawlId;
    const left = await leave(this.#first, { persist });
    if (!left.cleared) return left;
    await Promise.all(
      others.map(async ({ partition: { crawl } }) => {
        await crawl.call('clear_complete', { of });
        await sweep(crawl.call);
      }),
    );
    return left;
  }
}

/** The refusal of what a crawl over several partitions cannot do. */
export function notYet(what: string): RefusedError {
  return new RefusedError(
    `${what} cannot be used with SCHEDULER_PARTITIONS yet: crawl with SCHEDULER_PARTITIONS: 1`,
    { code: 'partitions' },
  );
}
