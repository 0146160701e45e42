/**
 * Detects that the store may have rolled back (a restart from an older copy, a failover): after a broken connection the
 * server has another run_id or replication id. The node must then drop its state.
 */
import { IncarnationDeadError } from '../../../errors.js';
import type { RedisConnection } from './connection.js';

export class DataHistory {
  readonly #connection: RedisConnection;
  #dataId: string | null = null;
  #isSuspect = false;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
    connection.client.on('close', () => {
      this.#isSuspect = true;
    });
  }

  /** Remember the current data id of the store. */
  async accept(): Promise<void> {
    this.#dataId = await this.#readDataId();
  }

  /** @throws IncarnationDeadError once, when the data id of the store has changed. */
  async refuseOther(): Promise<void> {
    if (!this.#isSuspect) return;
    const found = await this.#readDataId();
    if (found === null || this.#dataId === null || found === this.#dataId) return;
    this.#dataId = found;
    throw new IncarnationDeadError(
      'the Redis server was restarted or replaced, so its data may be older than what this node knows',
      { code: 'store_replaced' },
    );
  }

  /** After a failure it is read again by the next call. */
  async #readDataId(): Promise<string | null> {
    this.#isSuspect = false;
    try {
      return await this.#connection.patiently(() => this.#connection.dataId());
    } catch (error) {
      this.#isSuspect = true;
      throw error;
    }
  }
}
