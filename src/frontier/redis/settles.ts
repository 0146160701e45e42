/**
 * Settles on their way: those that wait travel in one call, since most of a call's cost is the call (measured: 60 µs of
 * Redis for a settle alone, 15 for one of sixteen). They wait for the end of the turn of the event loop, and for the answer
 * to an earlier settle or lease; a lease takes them along, any other verb sends them before it, so verbs arrive in the
 * order they were called.
 */
import type { PackedSettle } from './settle-arguments.js';

/** A call's work is bounded, so that it keeps no other node waiting. */
const MAX_SETTLES = 64;
const MAX_LINKS = 2_000;
/** Each is an argument, and JavaScript passes some 120,000 at most. */
const MAX_ITEMS = 10_000;
const MAX_BYTES = 1024 * 1024;

interface Waiting {
  readonly settle: PackedSettle;
  readonly resolve: (answer: string) => void;
  readonly reject: (error: unknown) => void;
}

/** Settles that travel together. */
export class Batch {
  readonly #members: Waiting[] = [];
  readonly #tokens = new Set<string>();
  #links = 0;
  #items = 0;
  #bytes = 0;

  get settles(): readonly PackedSettle[] {
    return this.#members.map(({ settle }) => settle);
  }

  get tokens(): readonly string[] {
    return [...this.#tokens];
  }

  get size(): number {
    return this.#members.length;
  }

  /** One that is settled twice travels in another call: a call's settles are judged as those of different leases. */
  hasRoomFor({ token, links, items, feedItems, bytes }: PackedSettle): boolean {
    if (this.size === 0) return true;
    if (this.#tokens.has(token)) return false;
    if (this.size === MAX_SETTLES) return false;
    if (this.#items + items.length + feedItems.length > MAX_ITEMS) return false;
    return this.#links + links <= MAX_LINKS && this.#bytes + bytes <= MAX_BYTES;
  }

  add(member: Waiting): void {
    this.#members.push(member);
    this.#tokens.add(member.settle.token);
    this.#links += member.settle.links;
    this.#items += member.settle.items.length + member.settle.feedItems.length;
    this.#bytes += member.settle.bytes;
  }

  /** Each gets its answer, in order. */
  resolve(answers: readonly string[]): void {
    for (const [n, { resolve }] of this.#members.entries()) resolve(answers[n] as string);
  }

  reject(error: unknown): void {
    for (const { reject } of this.#members) reject(error);
  }
}

export class Settles {
  readonly #send: (batch: Batch) => Promise<void>;
  #waiting = new Batch();
  #unanswered = 0;

  /** @param send makes one call of a batch, and gives its members their answers. */
  constructor(send: (batch: Batch) => Promise<void>) {
    this.#send = send;
  }

  /** @returns the answer to this one settle. */
  add(settle: PackedSettle): Promise<string> {
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
  take(): Batch {
    const batch = this.#waiting;
    this.#waiting = new Batch();
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
