/**
 * A node's turns: leases, and the settles that travel with them. See `lua/turn.lua` for what one call does, and
 * `settles.ts` for what waits for it.
 */
import type { Argument } from './batch.js';
import type { Calls } from './calls.js';
import { type Reply, text } from './reply.js';
import { type PackedSettle, settleArguments } from './settle-arguments.js';
import { type Batch, Settles } from './settles.js';

export class Turns {
  readonly #calls: Calls;
  readonly #feeds: () => readonly string[];
  readonly #settles = new Settles((batch) => this.#settleAll(batch));

  /** @param feeds those that this node has joined with. */
  constructor(calls: Calls, feeds: () => readonly string[]) {
    this.#calls = calls;
    this.#feeds = feeds;
  }

  /** @returns the answer, as `lua/settle.lua` says it. */
  settle(settle: PackedSettle): Promise<string> {
    return this.#settles.add(settle);
  }

  /** Lease, and end the leases whose settles wait before it in the same call. @returns the reply of `lua/lease.lua`. */
  lease(args: readonly Argument[]): Promise<Reply[]> {
    return this.#settles.during(this.#lease(args, this.#settles.take()));
  }

  /** Send the settles that wait. */
  flush(): void {
    this.#settles.flush();
  }

  async #lease(args: readonly Argument[], batch: Batch): Promise<Reply[]> {
    const leased = batch.size === 0 ? [] : await this.#turn(args, batch);
    return leased.length > 0 ? leased : ((await this.#calls.run('lease', args)) as Reply[]);
  }

  /** @returns nothing where the lease was refused; asked for by itself it says why. */
  async #turn(args: readonly Argument[], batch: Batch): Promise<Reply[]> {
    try {
      const both = [...args, ...this.#argumentsOf(batch)];
      const [answers, leased] = (await this.#calls.run('turn', both, batch.tokens)) as [Reply, Reply[]];
      batch.resolve(text(answers).split('\n'));
      return leased;
    } catch (error) {
      batch.reject(error);
      throw error;
    }
  }

  async #settleAll(batch: Batch): Promise<void> {
    try {
      const answers = await this.#calls.run('settle', this.#argumentsOf(batch), batch.tokens);
      batch.resolve(text(answers).split('\n'));
    } catch (error) {
      batch.reject(error);
    }
  }

  #argumentsOf(batch: Batch): Argument[] {
    return settleArguments(batch.settles, this.#feeds(), this.#calls.earlierCalls(batch.tokens));
  }
}
