/**
 * Leaves a master as soon as a Sentinel names another one. During a failover the old master may take writes for ten more
 * seconds, all of which are lost. The Sentinel that leads the failover names the new master a second after it began; the
 * others, and `+switch-master`, follow later. So each Sentinel is asked, and the last one that changed its answer is
 * believed. One that was cut off from the others does not change its answer.
 */
import { lookup } from 'node:dns/promises';
import { Redis, type RedisOptions } from 'ioredis';

/** A failover loses what was committed until then, so it is short. */
const ASK_EVERY_MS = 500;
const TIMEOUT_MS = 2_000;

interface Address {
  readonly host: string;
  readonly port: number;
}

export class SentinelWatch {
  readonly #master: Redis;
  readonly #options: RedisOptions;
  readonly #sentinels: readonly Redis[];
  readonly #named = new Map<Redis, string>();
  readonly #timer: NodeJS.Timeout;
  /** What the last Sentinel said that changed its answer; null while none has. */
  #successor: Address | null = null;
  #isAsking = false;

  /** @param master the connection that is broken, so that it connects anew. @param options of that connection */
  constructor(master: Redis, options: RedisOptions) {
    this.#master = master;
    this.#options = options;
    this.#sentinels = (options.sentinels ?? []).map(({ host, port }) => {
      const sentinel = new Redis({
        ...{ host: host ?? '127.0.0.1', port: port ?? 26_379, lazyConnect: true },
        ...{ connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
        ...{ maxRetriesPerRequest: 0, retryStrategy: () => ASK_EVERY_MS, enableReadyCheck: false },
        ...(options.sentinelUsername == null ? {} : { username: options.sentinelUsername }),
        ...(options.sentinelPassword == null ? {} : { password: options.sentinelPassword }),
        ...(options.sentinelTLS === undefined ? {} : { tls: options.sentinelTLS }),
      });
      // The connection to the master says what is wrong.
      sentinel.on('error', () => {});
      return sentinel;
    });
    this.#timer = setInterval(() => void this.#ask(), ASK_EVERY_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const sentinel of this.#sentinels) sentinel.disconnect();
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    await Promise.all(this.#sentinels.map((sentinel) => this.#askOne(sentinel)));
    if (this.#successor !== null && (await this.#isElsewhere(this.#successor))) this.#master.disconnect(true);
    this.#isAsking = false;
  }

  async #askOne(sentinel: Redis): Promise<void> {
    try {
      const name = this.#options.name ?? '';
      const answer = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as string[] | null;
      const [host, port] = answer ?? [];
      if (host === undefined) return;
      const before = this.#named.get(sentinel);
      const now = `${host}:${port}`;
      this.#named.set(sentinel, now);
      if (before !== undefined && before !== now) this.#successor = this.#mapped(host, Number(port));
    } catch {
      // Another one is asked too, and this one again.
    }
  }

  /** As ioredis does it for a network that translates addresses. */
  #mapped(host: string, port: number): Address {
    const { natMap } = this.#options;
    const key = `${host}:${port}`;
    return (typeof natMap === 'function' ? natMap(key) : natMap?.[key]) ?? { host, port };
  }

  /** Whether the connection leads to another server than this one; false while there is none. */
  async #isElsewhere({ host, port }: Address): Promise<boolean> {
    if (this.#master.status !== 'ready') return false;
    const { remoteAddress, remotePort } = this.#master.stream as {
      remoteAddress?: string;
      remotePort?: number;
    };
    if (remoteAddress === undefined) return false;
    if (remotePort !== port) return true;
    const addresses = await lookup(host, { all: true }).catch(() => []);
    const ours = remoteAddress.replace(/^::ffff:/, '');
    return addresses.length > 0 && addresses.every(({ address }) => address !== ours);
  }
}
