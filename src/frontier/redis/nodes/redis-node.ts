/** This client as a node of a crawl: it joins as an incarnation, and leaves. */
import { IncarnationDeadError } from '../../../errors.js';
import type { Joined, JoinOptions, Left, NodeInfo } from '../../frontier.js';
import type { OpenOptions } from '../../open-options.js';
import type { Call, Calls } from '../connection/calls.js';
import type { RedisConnection } from '../connection/connection.js';
import { DataHistory } from '../connection/data-history.js';
import { needlessPasswordNotice } from '../connection/needless-password.js';
import { json } from '../connection/reply.js';
import { pipelinesAmong } from '../leases/lease-calls.js';
import { joinArguments, newIncarnation, readJoined } from './join.js';

export class RedisNode {
  readonly #connection: RedisConnection;
  readonly #calls: Calls;
  readonly #call: Call;
  readonly #history: DataHistory;
  #incarnation: string | null = null;
  #options: JoinOptions | null = null;

  constructor(connection: RedisConnection, { keys }: OpenOptions, calls: Calls, call: Call) {
    this.#connection = connection;
    this.#calls = calls;
    this.#call = call;
    this.#history = new DataHistory(connection, keys.requests);
  }

  get isJoined(): boolean {
    return this.#incarnation !== null;
  }

  /** The options of the last join; null before. */
  get options(): JoinOptions | null {
    return this.#options;
  }

  /** The id of the crawl, which changes with a reset. It is kept while a dead incarnation joins again. */
  get crawl(): string {
    return this.#calls.crawl;
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (this.#incarnation !== null) await this.#abandon();
    // The first time nobody else waits for the store. Later the engine does, and hears signals meanwhile.
    if (this.crawl === '') this.#connection.bePatient();
    await this.#history.accept();
    const incarnation = newIncarnation(node);
    this.#calls.become(incarnation);
    const known = this.crawl === '' ? undefined : this.#calls.newest;
    this.#calls.dupefilter = options.shape.dupefilter;
    const reply = await this.#call('join', { ...joinArguments(node, options), known });
    const notices = this.#connection.isPasswordNeedless ? [needlessPasswordNotice] : [];
    const { joined, crawl } = readJoined(json(reply), incarnation, options, notices);
    if (joined.justClosed !== null) {
      this.#calls.become(null);
      return joined;
    }
    this.#incarnation = incarnation;
    this.#options = options;
    this.#connection.endPatience();
    this.#calls.crawl = crawl;
    return joined;
  }

  async leave(reason: string, heardWithinMs?: number): Promise<Left> {
    this.joined();
    const left = json<Left>(
      await this.#call('leave', {
        ...{ reason, persist: this.#options?.shape.persist !== false },
        heardWithinMs: heardWithinMs === undefined ? undefined : Math.round(heardWithinMs),
        pipelines: pipelinesAmong(this.#options?.feeds ?? []),
      }),
    );
    if (left.awaits !== undefined) return left;
    this.#incarnation = null;
    this.#calls.crawl = '';
    // The store also keeps the answer of this call, which is no longer needed.
    await this.#calls.forgetAnswers();
    return left;
  }

  /** @throws IncarnationDeadError also when the store may have rolled back. */
  async live(): Promise<void> {
    this.joined();
    await this.#history.refuseOther();
  }

  /** The server of the Cluster that serves the crawl; undefined elsewhere. */
  get server(): string | undefined {
    return this.#history.server ?? undefined;
  }

  /** Another server of the Cluster serves the crawl: the next `live()` looks whether it may have lost something. */
  suspectServer(): void {
    this.#history.suspect();
  }

  /** @throws IncarnationDeadError for a client that has not joined. */
  joined(): void {
    if (this.#incarnation === null) throw new IncarnationDeadError('this client has not joined the crawl');
  }

  /** Deregister an incarnation that a new one of the same process replaces. */
  async #abandon(): Promise<void> {
    this.#incarnation = null;
    await this.#call('leave', { reason: 'rejoined', persist: true, rejoins: true });
    await this.#calls.forgetAnswers();
  }
}
