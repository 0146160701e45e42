/**
 * Calls of the verbs, each with a number. The store keeps the answer of a numbered call until the client confirms that it
 * arrived. So a call that is sent again after a lost reply gets the first answer and has no second effect.
 */
import { randomBytes } from 'node:crypto';
import type { Dupefilter } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import { allKeys, internalKey } from '../keys.js';
import { dupefilterArgument } from '../request-columns.js';
import type { RedisConnection } from './connection.js';
import type { Arguments } from './lua-message.js';
import type { Reply } from './reply.js';

/** Verbs whose answer the store keeps until it is known to have arrived. It keeps those of settles too. */
const answering: ReadonlySet<string> = new Set([
  ...['join', 'leave', 'push', 'lease', 'settle_and_lease', 'intake', 'feed_take', 'defer', 'add_stats'],
]);
/** Verbs that report what has arrived: any may that writes. */
const confirming: ReadonlySet<string> = new Set([...answering, 'settle', 'reconcile', 'recover']);

/** Verbs of a node that must not go on from data older than it knows. */
const refusingOlder: ReadonlySet<string> = new Set([
  'push',
  'lease',
  'settle',
  'settle_and_lease',
  'intake',
  'reconcile',
]);

/** Call a verb. */
export type Call = (verb: string, args: Arguments) => Promise<Reply>;

/** Options of a call. */
export interface CallOptions {
  /** The tokens (`Lease.token`) of its settles, whose answers the store keeps. */
  readonly tokens?: readonly Buffer[];
  /** Fail with the OOM error of a full store instead of waiting for room. */
  readonly unlessFull?: boolean;
}

export class Calls {
  /** The dupefilter of the settings. The verbs refuse to write into a crawl with another one. */
  dupefilter: Dupefilter;
  /** The id of the crawl that this client has joined; '' for none. */
  crawl = '';
  readonly #connection: RedisConnection;
  readonly #keys: readonly string[];
  readonly #answersKey: string;
  #caller = someClient();
  /** How far this client has seen the crawl come (`meta.progress`). */
  #newest = 0;
  #last = 0;
  readonly #sharesDupefilter: boolean;
  /** Answers that have arrived, by their fields without the caller. The next call confirms them. */
  #arrived: (string | Buffer)[] = [];

  constructor(connection: RedisConnection, keys: FrontierKeys, dupefilter: Dupefilter) {
    this.dupefilter = dupefilter;
    this.#connection = connection;
    this.#keys = allKeys(keys);
    this.#sharesDupefilter = keys.sharesDupefilter === true;
    this.#answersKey = internalKey(keys, 'answers');
  }

  /** The name of the caller: its incarnation once joined, before that a random name. */
  get caller(): string {
    return this.#caller;
  }

  /** Set the incarnation that calls; null for a client that is not a node. */
  become(incarnation: string | null): void {
    this.#caller = incarnation ?? someClient();
    this.#arrived = [];
  }

  /** The same; undefined for one that has not seen it. */
  get newest(): number | undefined {
    return this.#newest || undefined;
  }

  /** Call a verb. It is sent again with the same number until it is answered. */
  async run(verb: string, args: Arguments, { tokens = [], unlessFull }: CallOptions = {}): Promise<Reply> {
    this.#last += 1;
    const call = this.#last;
    const caller = this.#caller;
    const arrived = confirming.has(verb) ? this.#arrived.splice(0) : [];
    const numbered = {
      ...{ caller, call, crawl: this.crawl || undefined, dupefilter: dupefilterArgument(this.dupefilter) },
      sharesDupefilter: this.#sharesDupefilter || undefined,
      newest: refusingOlder.has(verb) ? this.newest : undefined,
      ...args,
      arrived: arrived.length === 0 ? undefined : arrived,
    };
    try {
      const { reply, progress } = await this.#connection.call(verb, this.#keys, numbered, unlessFull);
      if (caller === this.#caller) {
        // Calls answer in any order.
        this.#newest = Math.max(verb === 'join' ? 0 : this.#newest, progress ?? 0);
        if (answering.has(verb)) this.#arrived.push(String(call));
        this.#arrived.push(...tokens);
      }
      return reply;
    } catch (error) {
      if (caller === this.#caller) this.#arrived.push(...arrived);
      throw error;
    }
  }

  /** Delete the stored answers of the last calls, which are no longer needed. A failure is harmless and ignored. */
  async forgetAnswers(): Promise<void> {
    const fields = this.#arrived
      .splice(0)
      .map((field) => Buffer.concat([Buffer.from(`${this.#caller}:`), Buffer.from(field as string)]));
    if (fields.length === 0) return;
    await this.#connection.client.hdel(this.#answersKey, ...fields).catch(() => undefined);
  }
}

function someClient(): string {
  return `client-${randomBytes(8).toString('hex')}`;
}
