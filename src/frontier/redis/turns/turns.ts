/**
 * A node's turns: leases, and the settles that travel with them. See `lua/pages/turn.lua` for what one call does, and
 * `settle-batches.ts` for what waits for it.
 */
import { messageOf } from '../../../errors.js';
import type { SettleAnswer } from '../../frontier.js';
import type { Calls } from '../connection/calls.js';
import type { Arguments } from '../connection/lua-message.js';
import { list, type Reply } from '../connection/reply.js';
import { type SettleBatch, SettleBatches } from './settle-batches.js';
import { readSettled, type SettleMessage } from './settle-message.js';

export class Turns {
  readonly #calls: Calls;
  readonly #feeds: () => readonly string[];
  readonly #batches = new SettleBatches((batch) => this.#settleAll(batch));

  /** @param feeds those that this node has joined with. */
  constructor(calls: Calls, feeds: () => readonly string[]) {
    this.#calls = calls;
    this.#feeds = feeds;
  }

  settle(settle: SettleMessage): Promise<SettleAnswer> {
    return this.#batches.add(settle);
  }

  /** Lease, and end the leases whose settles wait before it in the same call. @returns the reply of `lua/pages/lease.lua`. */
  lease(lease: Arguments): Promise<Reply> {
    return this.#batches.during(this.#lease(lease, this.#batches.take()));
  }

  /** Send the settles that wait. */
  flush(): void {
    this.#batches.flush();
  }

  /** A lease that is refused beside settles is asked for by itself: then it says why. */
  async #lease(lease: Arguments, batch: SettleBatch): Promise<Reply> {
    const leased = batch.size === 0 ? null : await this.#turn(lease, batch);
    return leased ?? this.#calls.run('lease', { lease });
  }

  /** @returns null where nothing could be leased: this node is dead, or the store is full, which keeps no page from being committed. */
  async #turn(lease: Arguments, batch: SettleBatch): Promise<Reply | null> {
    try {
      const args = { ...this.#argumentsOf(batch), lease };
      const options = { tokens: tokensOf(batch), unlessFull: true };
      const [settled, leased] = list(await this.#calls.run('turn', args, options));
      batch.resolve(list(settled).map(readSettled));
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
      batch.resolve(list(settled).map(readSettled));
    } catch (error) {
      batch.reject(error);
    }
  }

  #argumentsOf(batch: SettleBatch): Arguments {
    return { ...settleArguments(batch.settles), feeds: this.#feeds() };
  }
}

/** Each counter is named once for all settles; each settle has an amount for each of them, as pages count much the same. */
function settleArguments(settles: readonly SettleMessage[]): Arguments {
  const counters = [...new Set(settles.flatMap((settle) => settle.counters.map(([name]) => name)))];
  const places = new Map(counters.map((name, place) => [name, place]));
  return {
    counters,
    settles: settles.map((settle) => {
      const counts = new Array<number>(counters.length).fill(0);
      for (const [name, amount] of settle.counters) counts[places.get(name)!]! += amount;
      return { ...settle.args, counts };
    }),
  };
}

const tokensOf = (batch: SettleBatch): Buffer[] => batch.settles.map(({ token }) => token);
