/** The verbs of a node: it joins as an incarnation, reconciles its leases, and leaves. */
import { IncarnationDeadError } from '../../errors.js';
import type { Joined, JoinOptions, Lease, Left, NodeInfo } from '../frontier.js';
import type { OpenOptions } from '../open-options.js';
import type { Call, Calls } from './connection/calls.js';
import type { RedisConnection } from './connection/connection.js';
import { DataHistory } from './connection/data-history.js';
import { needlessPasswordNotice } from './connection/needless-password.js';
import { hex, int, list, named, text } from './connection/reply.js';
import { joinArguments, newIncarnation, readJoined } from './join.js';
import { pipelinesAmong } from './leases/lease-calls.js';
import { leaseCallOf } from './leases/lease-reply.js';

/** How a node joins a partition. */
export interface JoinAs {
  readonly incarnation: string;
  /** Crawl and run of partition 0, which the others follow. */
  readonly follows?: { readonly crawl: string; readonly run: string };
}

export interface LeaveHow {
  readonly persist?: boolean;
  readonly asks?: boolean;
}

export class RedisNode {
  readonly #connection: RedisConnection;
  readonly #partition: string | undefined;
  readonly #calls: Calls;
  readonly #call: Call;
  readonly #history: DataHistory;
  #incarnation: string | null = null;
  #options: JoinOptions | null = null;
  #crawl = '';

  constructor(connection: RedisConnection, { keys, partition }: OpenOptions, calls: Calls, call: Call) {
    this.#connection = connection;
    this.#partition = partition;
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
    return this.#crawl;
  }

  /** @param as of a partition, whose nodes have one incarnation in all partitions. */
  async join(node: NodeInfo, options: JoinOptions, as?: JoinAs): Promise<Joined> {
    if (this.#incarnation !== null) await this.#abandon(this.#incarnation);
    // The first time nobody else waits for the store. Later the engine does, and hears signals meanwhile.
    if (this.#crawl === '') this.#connection.bePatient();
    await this.#history.accept();
    const incarnation = as?.incarnation ?? newIncarnation(node);
    this.#calls.become(incarnation);
    this.#calls.dupefilter = options.shape.dupefilter;
    const partition = this.#partition;
    const args = { ...joinArguments(node, options, this.#crawl), partition, follows: as?.follows };
    const reply = await this.#call('join', args);
    const notices = this.#connection.isPasswordNeedless ? [needlessPasswordNotice] : [];
    const { joined, crawl } = readJoined(reply, incarnation, options, notices, partition);
    if (joined.justClosed !== null) {
      this.#calls.become(null);
      return joined;
    }
    this.#incarnation = incarnation;
    this.#options = options;
    this.#crawl = crawl;
    return joined;
  }

  /** @param how of a partition: whether it must not be cleared, and whether to ask only. */
  async leave(reason: string, heardWithinMs?: number, { persist, asks }: LeaveHow = {}): Promise<Left> {
    const answer = named(
      await this.#call('leave', {
        ...{ incarnation: this.joined(), reason, crawl: this.#crawl },
        persist: persist ?? this.#options?.shape.persist !== false,
        asks,
        heardWithinMs: heardWithinMs === undefined ? undefined : Math.round(heardWithinMs),
        pipelines: pipelinesAmong(this.#options?.feeds ?? []),
      }),
    );
    if (answer.forMs != null) {
      const awaits = { incarnations: list(answer.silent).map(text), forMs: int(answer.forMs) };
      return { last: false, cleared: false, awaits };
    }
    if (asks === true) return { last: false, cleared: false };
    this.#incarnation = null;
    this.#crawl = '';
    // The store also keeps the answer of this call, which is no longer needed.
    await this.#calls.forgetAnswers();
    return { last: int(answer.last) === 1, cleared: int(answer.cleared) === 1 };
  }

  async reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    this.joined();
    const ids = held.map(({ id }) => Buffer.from(id, 'hex'));
    const args = { graceMs, ids, calls: held.map(leaseCallOf), crawl: this.#crawl };
    const answer = named(await this.#call('reconcile', args));
    return { returned: int(answer.returned), lost: list(answer.lost).map(hex) };
  }

  /** The incarnation. @throws IncarnationDeadError also when the store may have rolled back. */
  async live(): Promise<string> {
    const incarnation = this.joined();
    await this.#history.refuseOther();
    return incarnation;
  }

  /** The server of the Cluster that serves the crawl; undefined elsewhere. */
  get server(): string | undefined {
    return this.#history.server ?? undefined;
  }

  /** Another server of the Cluster serves the crawl: the next `live()` looks whether it may have lost something. */
  suspectServer(): void {
    this.#history.suspect();
  }

  /** The incarnation. @throws IncarnationDeadError for a client that has not joined. */
  joined(): string {
    if (this.#incarnation === null) throw new IncarnationDeadError('this client has not joined the crawl');
    return this.#incarnation;
  }

  /** Deregister an incarnation that a new one of the same process replaces. */
  async #abandon(incarnation: string): Promise<void> {
    this.#incarnation = null;
    const args = { incarnation, reason: 'rejoined', persist: true, rejoins: true, crawl: this.#crawl };
    await this.#call('leave', args);
    await this.#calls.forgetAnswers();
  }
}
