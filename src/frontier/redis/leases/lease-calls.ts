/**
 * Leases and settles of a node. A lease and the settles that wait are sent in one call (`lua/leases/settle-and-lease.lua`). The settles
 * are gathered in `settle-batches.ts`.
 */
import { messageOf } from '../../../errors.js';
import { isPipelineOutbox } from '../../../feed-outbox.js';
import type { SettleAnswer } from '../../frontier.js';
import type { Calls } from '../connection/calls.js';
import type { Arguments } from '../connection/lua-message.js';
import { json, list, type Reply } from '../connection/reply.js';
import { type SettleBatch, SettleBatches } from './settle-batches.js';
import type { SettleMessage } from './settle-message.js';

export class LeaseCalls {
  readonly #calls: Calls;
  readonly #feeds: () => readonly string[];
  readonly #batches = new SettleBatches((batch) => this.#settleAll(batch));

  /** @param feeds the ids of the feeds that this node has joined with. */
  constructor(calls: Calls, feeds: () => readonly string[]) {
    this.#calls = calls;
    this.#feeds = feeds;
  }

  settle(settle: SettleMessage): Promise<SettleAnswer> {
    return this.#batches.add(settle);
  }

  /** Send the settles that wait, then lease, in one call. @returns the reply of `lua/leases/lease.lua`. */
  lease(lease: Arguments): Promise<Reply> {
    const args = { ...lease, pipelines: pipelinesAmong(this.#feeds()) };
    return this.#batches.during(this.#lease(args, this.#batches.take()));
  }

  /** Send the settles that wait. */
  flush(): void {
    this.#batches.flush();
  }

  /** A lease that is refused together with settles is sent again alone, since only then its reply has the reason. */
  async #lease(lease: Arguments, batch: SettleBatch): Promise<Reply> {
    const leased = batch.size === 0 ? null : await this.#settleAndLease(lease, batch);
    return leased ?? this.#calls.run('lease', { lease });
  }

  /** @returns null when nothing could be leased: this node is dead, or the store is full. Then settles are still committed. */
  async #settleAndLease(lease: Arguments, batch: SettleBatch): Promise<Reply | null> {
    try {
      const args = { ...this.#argumentsOf(batch), lease };
      const options = { tokens: tokensOf(batch), unlessFull: true };
      const [settled, leased] = list(await this.#calls.run('settle_and_lease', args, options));
      batch.resolve(list(settled).map((answer) => json<SettleAnswer>(answer)));
      return list(leased).length === 0 ? null : (leased as Reply);
    } catch (error) {
      if (messageOf(error).startsWith('OOM')) await this.#settleAll(batch);
      else {
        batch.reject(error);
        throw error;
      }
      return null;
    }
  }

  async #settleAll(batch: SettleBatch): Promise<void> {
    try {
      const settled = await this.#calls.run('settle', this.#argumentsOf(batch), { tokens: tokensOf(batch) });
      batch.resolve(list(settled).map((answer) => json<SettleAnswer>(answer)));
    } catch (error) {
      batch.reject(error);
    }
  }

  #argumentsOf(batch: SettleBatch): Arguments {
    return { ...settleArguments(batch.settles), feeds: this.#feeds() };
  }
}

/** The names of counters are sent once for all settles, since pages use mostly the same. Each settle has the amounts. */
function settleArguments(settles: readonly SettleMessage[]): Arguments {
  const counters = [...new Set(settles.flatMap((settle) => settle.counters.map(([name]) => name)))];
  const indexByName = new Map(counters.map((name, index) => [name, index]));
  return {
    counters,
    settles: settles.map((settle) => {
      const counts = new Array<number>(counters.length).fill(0);
      for (const [name, amount] of settle.counters) counts[indexByName.get(name)!]! += amount;
      return { ...settle.args, counts };
    }),
  };
}

/** The outboxes of item pipelines, as a verb takes them; undefined for none. */
export function pipelinesAmong(feeds: readonly string[]): readonly string[] | undefined {
  const pipelines = feeds.filter(isPipelineOutbox);
  return pipelines.length === 0 ? undefined : pipelines;
}

const tokensOf = (batch: SettleBatch): Buffer[] => batch.settles.map(({ token }) => token);
