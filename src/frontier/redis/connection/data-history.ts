/**
 * Detects that the store may have rolled back (a restart from an older copy, a failover): the server has another run_id or
 * replication id. The node must then drop its state. It looks after a broken connection, and in a Cluster also when a lease
 * is refused because another server serves the crawl.
 */
import type { Cluster, Redis } from 'ioredis';
import { IncarnationDeadError, messageOf } from '../../../errors.js';
import type { Client } from './client.js';
import type { RedisConnection } from './connection.js';
import { list, text } from './reply.js';

interface StoreData {
  /** Changes when the data may be older than before. */
  readonly id: string;
  /** The server of the Cluster that serves the crawl; null elsewhere. */
  readonly server: string | null;
  /** The ids of all masters of the Cluster. A slot that moves to one of them loses nothing. */
  readonly masters: ReadonlySet<string>;
}

export class DataHistory {
  readonly #connection: RedisConnection;
  readonly #key: string;
  #data: StoreData | null = null;
  #isSuspect = false;

  /** @param key of the crawl, by which a Cluster finds its server. One: several are refused while their slot moves */
  constructor(connection: RedisConnection, key: string) {
    this.#connection = connection;
    this.#key = key;
    // A Cluster has a connection for each server.
    for (const event of ['close', '-node']) {
      connection.client.on(event, () => {
        this.suspect();
      });
    }
  }

  /** The server of the Cluster that is known to serve the crawl; null elsewhere, or when the user may not ask. */
  get server(): string | null {
    return this.#data?.server ?? null;
  }

  /** Look again before the next call. */
  suspect(): void {
    this.#isSuspect = true;
  }

  /** Remember the current data of the store. */
  async accept(): Promise<void> {
    this.#data = await this.#read();
  }

  /** @throws IncarnationDeadError once, when the data id of the store has changed. */
  async refuseOther(): Promise<void> {
    if (!this.#isSuspect) return;
    const before = this.#data;
    const found = await this.#read();
    this.#data = found;
    if (found === null || before === null) return;
    if (found.id === before.id || before.masters.has(found.id)) return;
    throw new IncarnationDeadError(
      'the Redis server was restarted or replaced, so its data may be older than what this node knows',
      { code: 'store_replaced' },
    );
  }

  /** After a failure it is read again by the next call. */
  async #read(): Promise<StoreData | null> {
    this.#isSuspect = false;
    try {
      return await this.#connection.patiently((client) =>
        isCluster(client) ? this.#readCluster(client) : readServer(client),
      );
    } catch (error) {
      this.#isSuspect = true;
      throw error;
    }
  }

  async #readCluster(client: Cluster): Promise<StoreData | null> {
    const { reply } = await this.#connection.call('server_data', [this.#key], {});
    const [server, runId, replicationId] = list(reply).map(text);
    if (server === undefined) return null;
    const infos = await Promise.all(client.nodes('master').map((master) => master.info().catch(() => '')));
    return { server, id: `${runId} ${replicationId}`, masters: new Set(infos.map(idOf)) };
  }
}

/** Null when INFO is not allowed. */
async function readServer(client: Redis): Promise<StoreData | null> {
  try {
    const info = await client.info();
    // Its master is another server by now: what this one answers counts for nothing.
    if (/^role:slave/m.test(info)) {
      client.disconnect(true);
      throw new Error('READONLY this server is not the master any more');
    }
    return { server: null, id: idOf(info), masters: new Set() };
  } catch (error) {
    if (messageOf(error).startsWith('NOPERM')) return null;
    throw error;
  }
}

function idOf(info: string): string {
  return `${/^run_id:(\S+)/m.exec(info)?.[1]} ${/^master_replid:(\S+)/m.exec(info)?.[1]}`;
}

function isCluster(client: Client): client is Cluster {
  return 'nodes' in client;
}
