/**
 * Whether the store still holds the data we knew: after a broken connection another run_id or replication id means
 * that it may have rolled back (a restart from an older copy, a failover), so what a node believes must be dropped.
 */
import { IncarnationDeadError } from '../../../errors.js';
import type { RedisConnection } from './connection.js';

export class DataHistory {
  readonly #connection: RedisConnection;
  #known: string | null = null;
  #isSuspect = false;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
    connection.client.on('close', () => {
      this.#isSuspect = true;
    });
  }

  /** Take the store as it is now. */
  async accept(): Promise<void> {
    this.#known = await this.#look();
  }

  /** @throws IncarnationDeadError once, where the store is not the one we knew. */
  async refuseOther(): Promise<void> {
    if (!this.#isSuspect) return;
    const found = await this.#look();
    if (found === null || this.#known === null || found === this.#known) return;
    this.#known = found;
    throw new IncarnationDeadError(
      'the Redis server was restarted or replaced, so its data may be older than what this node knows',
      { code: 'store_replaced' },
    );
  }

  /** A question that fails stays open. */
  async #look(): Promise<string | null> {
    this.#isSuspect = false;
    try {
      return await this.#connection.patiently(() => this.#connection.dataId());
    } catch (error) {
      this.#isSuspect = true;
      throw error;
    }
  }
}
