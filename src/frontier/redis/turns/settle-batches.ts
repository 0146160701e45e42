/**
 * Settles on their way: those that wait travel in one call, since most of a small call's cost is the call. They wait for
 * the end of the turn of the event loop, and for the answer to an earlier settle or lease; a lease takes them along, any
 * other verb sends them before it, so verbs arrive in the order they were called.
 */
import type { SettleAnswer } from '../../frontier.js';
import type { SettleMessage } from './settle-message.js';

/** A call's work is bounded, so that it keeps no other node waiting. */
const MAX_SETTLES = 64;
const MAX_LINKS = 2_000;
const MAX_ITEMS = 10_000;
const MAX_BYTES = 1024 * 1024;

interface Waiting {
  readonly settle: SettleMessage;
  readonly resolve: (answer: SettleAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Settles that travel together. */
export class SettleBatch {
  readonly #members: Waiting[] = [];
  #links = 0;
  #items = 0;
  #bytes = 0;

  get settles(): SettleMessage[] {
    return this.#members.map(({ settle }) => settle);
  }

  get size(): number {
    return this.#members.length;
  }

  /** One that is settled twice travels in another call: a call's settles are judged as those of different leases. */
  hasRoomFor({ token, links, items, bytes }: SettleMessage): boolean {
    if (this.size === 0) return true;
    if (this.size === MAX_SETTLES || this.#members.some(({ settle }) => settle.token.equals(token)))
      return false;
    return (
      this.#items + items <= MAX_ITEMS && this.#links + links <= MAX_LINKS && this.#bytes + bytes <= MAX_BYTES
    );
  }

  add(member: Waiting): void {
    this.#members.push(member);
    this.#links += member.settle.links;
    this.#items += member.settle.items;
    this.#bytes += member.settle.bytes;
  }

  /** Each gets its answer, in order. */
  resolve(answers: readonly SettleAnswer[]): void {
    for (const [n, { resolve }] of this.#members.entries()) resolve(answers[n] as SettleAnswer);
  }

  reject(error: unknown): void {
    for (const { reject } of this.#members) reject(error);
  }
}

export class SettleBatches {
  readonly #send: (batch: SettleBatch) => Promise<void>;
  #waiting = new SettleBatch();
  #unanswered = 0;

  /** @param send makes one call of a batch, and gives its members their answers. */
  constructor(send: (batch: SettleBatch) => Promise<void>) {
    this.#send = send;
  }

  /** @returns the answer to this one settle. */
  add(settle: SettleMessage): Promise<SettleAnswer> {
    if (!this.#waiting.hasRoomFor(settle)) this.flush();
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#flushLater();
      this.#waiting.add({ settle, resolve, reject });
    });
  }

  /** Send what waits. */
  flush(): void {
    const batch = this.take();
    if (batch.size > 0) void this.during(this.#send(batch));
  }

  /** What waits, for a call that takes it along. */
  take(): SettleBatch {
    const batch = this.#waiting;
    this.#waiting = new SettleBatch();
    return batch;
  }

  /** What is settled before this call is answered waits for it. */
  async during<T>(call: Promise<T>): Promise<T> {
    this.#unanswered += 1;
    try {
      return await call;
    } finally {
      this.#unanswered -= 1;
      this.#flushLater();
    }
  }

  /** In the next turn, so that a lease that follows in this one takes them along. */
  #flushLater(): void {
    setImmediate(() => {
      if (this.#unanswered === 0) this.flush();
    });
  }
}
