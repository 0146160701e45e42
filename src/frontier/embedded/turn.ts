/**
 * The verbs of one loop turn, committed together: a commit costs as much as a dozen verbs. They run one after the
 * other inside one transaction; one that refuses (it throws before it has written) does not disturb the others.
 */
import { CrawlnodeError, FrontierUnavailableError, messageOf } from '../../errors.js';
import { Memory } from './memory.js';
import type { Spaces } from './spaces.js';
import type { OpenStore } from './store.js';
import { Transaction } from './transaction.js';

/** Verbs wait no longer than this for others to share a commit with. */
const MAX_GATHER_MS = 20;

interface Waiting {
  readonly verb: (tx: Transaction) => unknown;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

export class Turn {
  readonly #store: OpenStore;
  readonly #spaces: Spaces;
  readonly #memory = new Memory();
  #waiting: Waiting[] = [];
  /** How long the last commit took, and when it ended. */
  #lastCommit = { tookMs: 0, endedAtMs: 0 };
  #isClosed = false;

  constructor(store: OpenStore, spaces: Spaces) {
    this.#store = store;
    this.#spaces = spaces;
  }

  /** Run a verb that may write, together with the others of this turn; answers once it is committed. */
  write<T>(verb: (tx: Transaction) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(closed());
      if (this.#waiting.length === 0) this.#schedule();
      this.#waiting.push({ verb, resolve: resolve as (answer: never) => void, reject });
    });
  }

  /** Run a verb that only reads, at once and on one snapshot, after what this client wrote before. */
  async read<T>(verb: (tx: Transaction) => T): Promise<T> {
    if (this.#isClosed) throw closed();
    this.flush();
    try {
      this.#store.refresh();
      return verb(new Transaction(this.#store.db, this.#spaces, this.#memory));
    } catch (error) {
      throw asExpected(error);
    }
  }

  /**
   * After this turn; where a commit is slow (a disk that takes ms to flush) not before as long has passed as the last one
   * took, so that commits never take more than half of the main loop, and gather more verbs instead.
   */
  #schedule(): void {
    const { tookMs, endedAtMs } = this.#lastCommit;
    const delayMs = endedAtMs + Math.min(tookMs, MAX_GATHER_MS) - performance.now();
    if (delayMs < 1) setImmediate(() => this.flush());
    else setTimeout(() => this.flush(), delayMs);
  }

  /** Commit what waits. */
  flush(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    const settled: (() => void)[] = [];
    let committingAtMs = 0;
    try {
      this.#store.transact((number) => {
        const tx = new Transaction(this.#store.db, this.#spaces, this.#memory, this.#memory.keptFor(number));
        for (const waiting of batch) settled.push(runOne(tx, waiting));
        tx.finish();
        if (tx.puts > 0) settled.push(() => this.#memory.keep(number));
        committingAtMs = performance.now();
      });
    } catch (error) {
      this.#memory.seen.clear();
      const reason = asExpected(error);
      for (const { reject } of batch) reject(reason);
      return;
    }
    const endedAtMs = performance.now();
    this.#lastCommit = { tookMs: endedAtMs - committingAtMs, endedAtMs };
    for (const settle of settled) settle();
  }

  /** No verbs any more. */
  close(): void {
    this.flush();
    this.#isClosed = true;
  }
}

/** @returns how to tell the caller, once all is committed. @throws when it failed after writing: all must be undone. */
function runOne(tx: Transaction, { verb, resolve, reject }: Waiting): () => void {
  const before = tx.writes;
  try {
    const answer = verb(tx);
    return () => resolve(answer as never);
  } catch (error) {
    if (tx.writes !== before || !(error instanceof CrawlnodeError)) throw error;
    return () => reject(error);
  }
}

/** What LMDB throws (a full disk, a damaged file) as an error the callers know: nothing was written, try again. */
function asExpected(error: unknown): unknown {
  if (error instanceof CrawlnodeError) return error;
  const message = messageOf(error);
  return new FrontierUnavailableError(`the embedded frontier could not commit: ${message}`, { cause: error });
}

function closed(): FrontierUnavailableError {
  return new FrontierUnavailableError('this frontier is closed', { code: 'frontier_closed' });
}
