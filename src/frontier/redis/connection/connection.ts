/**
 * A connection to Redis that calls functions. At the start it waits for the server. When the server refuses the client it
 * fails at once; when the server is away it tries again. A call is repeated with the same arguments until it is answered
 * or `CALL_TIMEOUT_MS` has passed. The verbs are idempotent, so repeating is harmless.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { messageOf } from '../../../errors.js';
import type { RedisAddress } from '../../open-options.js';
import { AwaitedReplicas } from './await-replicas.js';
import { type Client, callFunction } from './client.js';
import { clusterState } from './cluster-state.js';
import {
  isFull,
  isMissingFunction,
  isRefusal,
  networkMessageOf,
  placeOf,
  translate,
  unanswered,
  unreachable,
} from './errors.js';
import { type Answer, answerIn, library, loadAndCall } from './library.js';
import { type Arguments, luaMessage } from './lua-message.js';
import { withoutNeedlessPassword } from './needless-password.js';
import type { Reply } from './reply.js';
import { SentinelWatch } from './sentinel-watch.js';

const COMMAND_TIMEOUT_MS = 3_000;
/** A connection that owes an answer and gives none for so long is given up. Without this a dead one is kept for ever. */
const SOCKET_TIMEOUT_MS = 4_000;
/** After this time the call fails. The caller reports it and may repeat the call. */
const CALL_TIMEOUT_MS = 3_000;
const MAX_RETRY_DELAY_MS = 1_000;

/** The state of the connection by the events of the client. */
interface ConnectionState {
  connected: boolean;
  /** Since the connection was last ready; undefined for none. */
  lastError: unknown;
}

/** What a connection is made of. */
interface Opened {
  readonly address: RedisAddress;
  readonly client: Client;
  readonly state: ConnectionState;
  /** The server takes commands without the password of the settings. */
  readonly isPasswordNeedless: boolean;
  /** While a client starts, its calls wait as long as its connection may. */
  readonly connectTimeoutMs: number;
  readonly replicas: AwaitedReplicas;
  readonly watch: SentinelWatch | null;
}

export class RedisConnection {
  readonly client: Client;
  readonly isPasswordNeedless: boolean;
  readonly #opened: Opened;
  #patientUntil = 0;
  #closed = false;

  private constructor(opened: Opened) {
    this.client = opened.client;
    this.isPasswordNeedless = opened.isPasswordNeedless;
    this.#opened = opened;
    this.bePatient();
  }

  /**
   * Connect, trying for `connectTimeoutMs`.
   * @param waitReplicas REDIS_WAIT_REPLICAS
   * @throws FrontierUnavailableError with what the server or the network said.
   */
  static async open(
    address: RedisAddress,
    connectTimeoutMs: number,
    waitReplicas = 0,
  ): Promise<RedisConnection> {
    const deadline = Date.now() + connectTimeoutMs;
    for (let attempt = 0; ; attempt++) {
      const state: ConnectionState = { connected: false, lastError: undefined };
      let client: Client | undefined;
      try {
        const leftMs = Math.max(500, Math.min(deadline - Date.now(), 5_000));
        const plain = await withoutNeedlessPassword(address, leftMs);
        client = createClient(plain ?? address, state, leftMs);
        client.on('error', (error) => {
          state.lastError = error;
        });
        client.on('ready', () => {
          state.lastError = undefined;
        });
        await connected(client, leftMs);
        await client.ping();
        await selectDatabase(client);
        state.connected = true;
        const watch =
          address.kind === 'sentinel' ? new SentinelWatch(client as Redis, address.options) : null;
        const replicas = new AwaitedReplicas(waitReplicas);
        const found = { address, client, state, isPasswordNeedless: plain !== null, watch };
        return new RedisConnection({ ...found, connectTimeoutMs, replicas });
      } catch (error) {
        client?.disconnect();
        const cause = state.lastError ?? error;
        if (isRefusal(cause) || Date.now() > deadline) {
          const state = address.kind === 'cluster' ? await clusterState(address) : null;
          throw unreachable(address, cause, connectTimeoutMs, state);
        }
        await sleep(Math.min(100 * 2 ** attempt, MAX_RETRY_DELAY_MS));
      }
    }
  }

  /**
   * Call a verb with its arguments by name. Replies are Buffers and numbers.
   * @param unlessFull fail at once with the OOM error of a store that is full, instead of waiting for room.
   */
  async call(verb: string, keys: readonly string[], args: Arguments, unlessFull = false): Promise<Answer> {
    const packed = luaMessage(args);
    const isFinal = (error: unknown): boolean => unlessFull && isFull(error);
    return this.patiently(() => this.#call(verb, keys, packed), isFinal);
  }

  /**
   * Do something with the client, repeating it while the store is away. The operation must bear repetition.
   * @param isFinal errors that are thrown as they are, without another try.
   */
  async patiently<T>(
    operation: (client: Client) => Promise<T>,
    isFinal: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const deadline = Math.max(this.#patientUntil, Date.now() + CALL_TIMEOUT_MS);
    for (let attempt = 0; ; attempt++) {
      try {
        return await operation(this.client);
      } catch (error) {
        if (isFinal(error)) throw error;
        const final = translate(error);
        if (final) throw final;
        if (this.#closed || Date.now() > deadline) throw unanswered(error, this.#whyLost(error));
        await sleep(Math.min(20 * 2 ** attempt, MAX_RETRY_DELAY_MS) * (0.5 + Math.random() / 2));
      }
    }
  }

  /** From now on, calls wait as long as the first connection may: for a node that joins. */
  bePatient(): void {
    this.#patientUntil = Date.now() + this.#opened.connectTimeoutMs;
  }

  /** From now on the caller waits for a store that is away, and says so. */
  endPatience(): void {
    this.#patientUntil = 0;
  }

  close(): void {
    this.#closed = true;
    this.#opened.watch?.close();
    this.client.disconnect();
  }

  /** Of a command that a broken connection took with it, ioredis says no more than that it was not sent again. */
  #whyLost(error: unknown): string {
    const { state, address } = this.#opened;
    const isLost = error instanceof Error && error.name === 'MaxRetriesPerRequestError';
    const lost =
      state.lastError === undefined ? 'the connection was lost' : networkMessageOf(state.lastError);
    const why = isLost ? lost : messageOf(error);
    return address.kind === 'sentinel' ? `${why}; ${placeOf(address)} would say where it is` : why;
  }

  /** A server that lost our library, never had it, or has another one under its name, is given it with the call. */
  async #call(verb: string, keys: readonly string[], packed: Buffer): Promise<Answer> {
    const name = library().functionOf(verb);
    try {
      return answerIn(await this.#callOnce(verb, name, keys, packed));
    } catch (error) {
      if (!isMissingFunction(error)) throw error;
    }
    const reply = await loadAndCall(this.client, name, keys, packed);
    return answerIn(
      this.#opened.replicas.isFor(verb) ? await this.#callOnce(verb, name, keys, packed) : reply,
    );
  }

  #callOnce(verb: string, name: string, keys: readonly string[], packed: Buffer): Promise<Reply> {
    const { replicas } = this.#opened;
    return replicas.isFor(verb)
      ? replicas.call(this.client, name, keys, packed)
      : callFunction(this.client, name, keys, packed);
  }
}

/**
 * Connect. The promise of a Cluster client of ioredis never settles when the client gives up after it has read the slots, as it
 * does while `cluster_state` is `fail`: its event `end` tells.
 */
async function connected(client: Client, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    client.once('end', () => reject(new Error('the connection was given up')));
    timer = setTimeout(() => reject(new Error(`no connection within ${timeoutMs} ms`)), timeoutMs);
  });
  const connecting = client.connect();
  // It may fail after the other has.
  connecting.catch(() => {});
  try {
    await Promise.race([connecting, givenUp]);
  } finally {
    clearTimeout(timer);
    givenUp.catch(() => {});
  }
}

function createClient(
  address: RedisAddress,
  state: Readonly<ConnectionState>,
  connectTimeout: number,
): Client {
  const delayOf = (times: number): number | null =>
    state.connected
      ? Math.min(50 * 2 ** Math.min(times, 10), MAX_RETRY_DELAY_MS) * (0.5 + Math.random() / 2)
      : null;
  const options: RedisOptions = {
    connectTimeout,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: 10_000,
    ...(address.options as RedisOptions),
    lazyConnect: true,
    enableAutoPipelining: true,
    enableOfflineQueue: true,
    // A command in flight when the connection breaks comes back as an error, and `patiently` sends it again.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: delayOf,
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  };
  if (address.kind === 'cluster') {
    const clusterOptions: ClusterOptions = {
      redisOptions: options,
      lazyConnect: true,
      enableAutoPipelining: true,
      clusterRetryStrategy: delayOf,
    };
    return new Cluster([...address.nodes], clusterOptions);
  }
  // `SentinelWatch` follows failovers. The `failoverDetector` of ioredis ends a client for good when `+switch-master` comes while
  // it asks the Sentinels.
  if (address.kind === 'sentinel') return new Redis({ ...options, sentinelRetryStrategy: delayOf });
  return address.url === null ? new Redis(options) : new Redis(address.url, options);
}

/** ioredis selects the database too, but silently continues in database 0 when the server does not have that database. */
async function selectDatabase(client: Client): Promise<void> {
  if (!('status' in client) || 'nodes' in client) return;
  const { db = 0 } = (client as Redis).options;
  if (db !== 0) await (client as Redis).select(db);
}
