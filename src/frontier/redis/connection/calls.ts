/**
 * Calls of the verbs, each with a number: the store keeps the answer of a numbered call until it is told that it has
 * arrived, so that a call sent again after a lost reply gets its first answer and does nothing.
 */
import { randomBytes } from 'node:crypto';
import type { Dupefilter } from '../../frontier.js';
import type { FrontierKeys } from '../../store.js';
import { allKeys, internalKey } from '../keys.js';
import { dupefilterArgument } from '../requests.js';
import type { RedisConnection } from './connection.js';
import type { Arguments } from './lua-message.js';
import type { Reply } from './reply.js';

/** Verbs whose answer the store keeps until it is known to have arrived (beside those of settles), and those that tell it so. */
const answering: ReadonlySet<string> = new Set([
  ...['join', 'leave', 'push', 'lease', 'turn', 'intake', 'feed_take'],
]);
const confirming: ReadonlySet<string> = new Set([
  ...['push', 'lease', 'settle', 'turn', 'intake', 'reconcile', 'recover', 'feed_take'],
]);

/** Call a verb. */
export type Call = (verb: string, args: Arguments) => Promise<Reply>;

/** How a call may end otherwise. */
export interface CallOptions {
  /** Answers of settles in it that the store keeps, by their tokens (`Lease.token`). */
  readonly tokens?: readonly Buffer[];
  /** Do not wait for a store that is full: fail with its OOM error. */
  readonly unlessFull?: boolean;
}

export class Calls {
  /** Ours: the verbs refuse to write where another one was agreed. */
  dupefilter: Dupefilter;
  readonly #connection: RedisConnection;
  readonly #keys: readonly string[];
  readonly #answersKey: string;
  #caller = someClient();
  #last = 0;
  /** Answers that have arrived, by their fields without the caller, to be told to the store with the next call. */
  #arrived: (string | Buffer)[] = [];

  constructor(connection: RedisConnection, keys: FrontierKeys, dupefilter: Dupefilter) {
    this.dupefilter = dupefilter;
    this.#connection = connection;
    this.#keys = allKeys(keys);
    this.#answersKey = internalKey(keys, 'answers');
  }

  /** Who calls: an incarnation once joined, before that a random name. */
  get caller(): string {
    return this.#caller;
  }

  /** From now on calls come from this incarnation, or from no node in particular. */
  become(incarnation: string | null): void {
    this.#caller = incarnation ?? someClient();
    this.#arrived = [];
  }

  /** Call a verb, again with the same number until it is answered. */
  async run(verb: string, args: Arguments, { tokens = [], unlessFull }: CallOptions = {}): Promise<Reply> {
    this.#last += 1;
    const call = this.#last;
    const caller = this.#caller;
    const arrived = confirming.has(verb) ? this.#arrived.splice(0) : [];
    const numbered = {
      ...args,
      ...{ caller, call, dupefilter: dupefilterArgument(this.dupefilter) },
      arrived: arrived.length === 0 ? undefined : arrived,
    };
    try {
      const reply = await this.#connection.call(verb, this.#keys, numbered, unlessFull);
      if (caller === this.#caller) {
        if (answering.has(verb)) this.#arrived.push(String(call));
        this.#arrived.push(...tokens);
      }
      return reply;
    } catch (error) {
      if (caller === this.#caller) this.#arrived.push(...arrived);
      throw error;
    }
  }

  /** What the store keeps of our last calls nobody will ask for again. It is tidying: failing at it harms nothing. */
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
