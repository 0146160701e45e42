/**
 * Gathers settles and sends them in one call, since a small call costs mostly overhead. Settles wait for the end of the
 * turn of the event loop, and for the answer to an earlier settle or lease. A lease sends them in its own call; any other
 * verb sends them before it. So verbs arrive in the order in which they were called.
 */
import type { SettleAnswer } from '../../frontier.js';
import type { SettleMessage } from './settle-message.js';

/** The size of a call is bounded, so that it does not block other nodes for long. */
const MAX_SETTLES = 64;
const MAX_LINKS = 2_000;
const MAX_ITEMS = 10_000;
const MAX_BYTES = 1024 * 1024;

interface PendingSettle {
  readonly settle: SettleMessage;
  readonly resolve: (answer: SettleAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Settles that are sent together. */
export class SettleBatch {
  readonly #members: PendingSettle[] = [];
  #links = 0;
  #items = 0;
  #bytes = 0;

  get settles(): SettleMessage[] {
    return this.#members.map(({ settle }) => settle);
  }

  get size(): number {
    return this.#members.length;
  }

  /** A second settle of a lease needs another call, since the verb expects settles of different leases. */
  hasRoomFor({ token, links, items, bytes }: SettleMessage): boolean {
    if (this.size === 0) return true;
    if (this.size === MAX_SETTLES || this.#members.some(({ settle }) => settle.token.equals(token)))
      return false;
    return (
      this.#items + items <= MAX_ITEMS && this.#links + links <= MAX_LINKS && this.#bytes + bytes <= MAX_BYTES
    );
  }

  add(member: PendingSettle): void {
    this.#members.push(member);
    this.#links += member.settle.links;
    this.#items += member.settle.items;
    this.#bytes += member.settle.bytes;
  }

  /** Resolve the settles with their answers, in order. */
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

  /** @param send sends a batch in one call, and resolves or rejects its members. */
  constructor(send: (batch: SettleBatch) => Promise<void>) {
    this.#send = send;
  }

  /** @returns the answer to this settle. */
  add(settle: SettleMessage): Promise<SettleAnswer> {
    if (!this.#waiting.hasRoomFor(settle)) this.flush();
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#flushLater();
      this.#waiting.add({ settle, resolve, reject });
    });
  }

  /** Send the settles that wait. */
  flush(): void {
    const batch = this.take();
    if (batch.size > 0) void this.during(this.#send(batch));
  }

  /** Remove and return the settles that wait, for a call that includes them. */
  take(): SettleBatch {
    const batch = this.#waiting;
    this.#waiting = new SettleBatch();
    return batch;
  }

  /** Settles that are added before this call is answered wait for its answer. */
  async during<T>(call: Promise<T>): Promise<T> {
    this.#unanswered += 1;
    try {
      return await call;
    } finally {
      this.#unanswered -= 1;
      this.#flushLater();
    }
  }

  /** Flush in the next turn of the event loop, so that a lease in this turn can include the settles. */
  #flushLater(): void {
    setImmediate(() => {
      if (this.#unanswered === 0) this.flush();
    });
  }
}
