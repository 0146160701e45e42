/**
 * Asks Redis every few seconds whether it may evict our keys. Somebody may set an `allkeys-*` policy under a live crawl, and a
 * full server then deletes whole queues without a word. While it may, nothing is leased.
 */
import { FrontierUnavailableError } from '../../../errors.js';
import { evictionDanger } from '../examine/server.js';
import type { RedisConnection } from './connection.js';

const ASK_EVERY_MS = 3_000;
/** While it may: so the crawl goes on soon after the policy is changed. */
const ASK_AGAIN_MS = 500;

export class EvictionWatch {
  readonly #connection: RedisConnection;
  #askAt = performance.now() + ASK_EVERY_MS;
  #danger: string | null = null;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /**
   * Asks beside the call, so that it costs the call no round trip: what is found refuses the next one.
   * @throws FrontierUnavailableError `eviction_policy` with what to do
   */
  refuse(): void {
    const now = performance.now();
    if (now >= this.#askAt) {
      this.#askAt = now + ASK_AGAIN_MS;
      void this.#ask();
    }
    if (this.#danger === null) return;
    throw new FrontierUnavailableError(
      `${this.#danger}: nothing is leased until it is noeviction or volatile-lru (CONFIG SET maxmemory-policy noeviction); pages under way are committed`,
      { code: 'eviction_policy' },
    );
  }

  async #ask(): Promise<void> {
    try {
      this.#danger = await evictionDanger(this.#connection.client);
      if (this.#danger === null) this.#askAt = performance.now() + ASK_EVERY_MS;
    } catch {
      // The server is away, which the call says itself.
    }
  }
}
