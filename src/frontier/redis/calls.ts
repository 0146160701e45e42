/**
 * Calls of the scripts, each with a number: the store keeps the answer of a numbered call until it is told that it
 * has arrived, so that a call sent again after a lost reply gets its first answer and does nothing.
 */
import { randomBytes } from 'node:crypto';
import type { Dupefilter } from '../frontier.js';
import type { FrontierKeys } from '../open.js';
import type { Argument } from './batch.js';
import type { RedisConnection } from './connection.js';
import { internalKey, scriptKeys } from './keys.js';
import type { Reply } from './reply.js';
import { scriptOf, type Verb } from './scripts.js';

/** Verbs whose answer the store keeps until it is known to have arrived (beside those of settles), and those that tell it so. */
const answering: ReadonlySet<Verb> = new Set([
  'join',
  'leave',
  'push',
  'lease',
  'turn',
  'intake',
  'feed-take',
]);
const confirming: ReadonlySet<Verb> = new Set([
  'push',
  'lease',
  'settle',
  'turn',
  'intake',
  'reconcile',
  'recover',
  'feed-take',
]);

/** Run the script of a verb. */
export type Call = (verb: Verb, args: readonly Argument[]) => Promise<Reply>;

export class Calls {
  /** Ours: the scripts refuse to write where another one was agreed. */
  dupefilter: Dupefilter;
  readonly #connection: RedisConnection;
  readonly #keys: readonly string[];
  readonly #answersKey: string;
  #caller = someClient();
  #last = 0;
  /** Numbers of calls whose answers have arrived, to be told to the store with the next call. */
  #arrived: string[] = [];
  /** Of settles whose answers have not arrived, by their tokens: the call that they first travelled in, and their line there. */
  readonly #unanswered = new Map<string, string>();

  constructor(connection: RedisConnection, keys: FrontierKeys, dupefilter: Dupefilter) {
    this.dupefilter = dupefilter;
    this.#connection = connection;
    this.#keys = scriptKeys(keys);
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
    this.#unanswered.clear();
  }

  /** Which settles travel once more, as `lua/settle.lua` takes it. @param tokens of all that are to travel together. */
  earlierCalls(tokens: readonly string[]): string {
    if (this.#unanswered.size === 0) return '';
    const places = tokens.map((token) => this.#unanswered.get(token));
    return places
      .flatMap((place, n) => (place === undefined ? [] : [`${n + 1}=${place}=${tokens[n]}`]))
      .join(',');
  }

  /** Run a verb's script. @param tokens of the settles in it, in order. */
  async run(verb: Verb, args: readonly Argument[], tokens: readonly string[] = []): Promise<Reply> {
    this.#last += 1;
    const callNumber = String(this.#last);
    const arrived = confirming.has(verb) ? this.#arrived.splice(0) : [];
    const caller = this.#caller;
    try {
      const numbered = [caller, callNumber, arrived.join(','), ...args];
      const reply = await this.#connection.run(scriptOf(verb, this.dupefilter), this.#keys, numbered);
      if (caller === this.#caller) this.#hasArrived(verb, callNumber, tokens);
      return reply;
    } catch (error) {
      if (caller === this.#caller) {
        this.#arrived.push(...arrived);
        this.#hasNotArrived(callNumber, tokens);
      }
      throw error;
    }
  }

  /** Settles of a call are answered apart from what else it does. */
  #hasArrived(verb: Verb, callNumber: string, tokens: readonly string[]): void {
    if (answering.has(verb)) this.#arrived.push(callNumber);
    if (tokens.length > 0) this.#arrived.push(`s${callNumber}`);
    if (this.#unanswered.size === 0) return;
    for (const token of tokens) if (this.#unanswered.delete(token)) this.#arrived.push(`t${token}`);
  }

  #hasNotArrived(callNumber: string, tokens: readonly string[]): void {
    for (const [n, token] of tokens.entries()) {
      if (!this.#unanswered.has(token)) this.#unanswered.set(token, `${callNumber}.${n + 1}`);
    }
  }

  /** What the store keeps of our last calls nobody will ask for again. It is tidying: failing at it harms nothing. */
  async forgetAnswers(): Promise<void> {
    const fields = this.#arrived.splice(0).map((callNumber) => `${this.#caller}:${callNumber}`);
    if (fields.length === 0) return;
    await this.#connection.client.hdel(this.#answersKey, ...fields).catch(() => undefined);
  }
}

function someClient(): string {
  return `client-${randomBytes(8).toString('hex')}`;
}
