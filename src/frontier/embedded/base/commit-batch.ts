/**
 * Commits the verbs of one turn of the main loop together, since a commit costs as much as several verbs. They run one
 * after the other in one transaction. If one of them throws, the others are run again without it.
 */
import { CrawlnodeError, FrontierUnavailableError } from '../../../errors.js';
import type { FrontierKeys } from '../../open-options.js';
import type { Database } from '../file/database.js';
import { asExpected, ContradictingRows, isBusy, isUnreadable, lockedByPeer } from '../file/sqlite-errors.js';
import type { Statements } from '../file/statements.js';
import { checkpointWhenLarge } from '../file/wal.js';
import { Transaction } from './transaction.js';
import { hasUnreadable, mendUnreadable } from './unreadable-values.js';

/** The longest time that a verb waits for others to share a commit. */
const MAX_GATHER_MS = 100;

/** Wait after a call that found the file locked. The main loop continues meanwhile and handles signals. */
const RETRY_MS = 5;

/** How long a verb waits for a lock of another process before it fails. */
export const PATIENCE_MS = 10_000;

/** How often in a row values are mended for one batch, while somebody goes on to write over them. */
const MOST_MENDS = 3;

/** Options of a verb. */
export interface VerbOptions {
  /** Make the file if there is none. Without it such a verb finds an empty database. */
  readonly creates?: boolean;
  readonly patienceMs?: number;
}

interface Waiting {
  readonly verb: (tx: Transaction) => unknown;
  readonly creates: boolean;
  readonly patienceMs: number;
  readonly askedAtMs: number;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

export class CommitBatch {
  readonly #database: Database;
  readonly #keys: FrontierKeys;
  #waiting: Waiting[] = [];
  /** How long the last batch took, and when it ended. */
  #last = { tookMs: 0, endedAtMs: 0 };
  /** The last known version of the database, which other processes change by commits, and when it changed. */
  #peers = { version: 0, movedAtMs: 0 };
  /** The rows that the last batch has read, with `Database.version` and `Database.writes` at its end. */
  #cached: { readonly tx: Transaction; readonly version: number; readonly writes: number } | null = null;
  /** Mends since a batch last succeeded. */
  #mends = 0;
  #isClosed = false;
  #onIdle: (() => void) | null = null;

  constructor(database: Database, keys: FrontierKeys) {
    this.#database = database;
    this.#keys = keys;
  }

  /** Run a verb that may write, together with the others of this turn. Resolves once it is committed. */
  write<T>(
    verb: (tx: Transaction) => T,
    { creates = false, patienceMs = PATIENCE_MS }: VerbOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(closed());
      if (this.#waiting.length === 0) this.#schedule();
      const askedAtMs = performance.now();
      this.#waiting.push({
        verb,
        creates,
        patienceMs,
        askedAtMs,
        resolve: resolve as (answer: never) => void,
        reject,
      });
    });
  }

  /** Run a verb that only reads, at once and on one snapshot, after the earlier writes of this client. */
  async read<T>(verb: (tx: Transaction) => T): Promise<T> {
    if (this.#isClosed) throw closed();
    if (this.#waiting.length > 0) return this.write(verb);
    return this.#reading((sql) => verb(new Transaction(sql, this.#keys)));
  }

  async #reading<T>(look: (sql: Statements) => T): Promise<T> {
    for (const askedAtMs = performance.now(); ; ) {
      try {
        const { readable } = this.#database;
        const answer = inTransaction(readable, 'BEGIN', () => look(readable));
        this.#mends = 0;
        return answer;
      } catch (error) {
        const waitedMs = performance.now() - askedAtMs;
        const left = this.#mendAfter(error);
        if (left !== null && !isBusy(left)) throw asExpected(left, this.#database.file);
        if (waitedMs > PATIENCE_MS) throw lockedByPeer(this.#database.file, waitedMs);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Accept no more verbs, after those that wait are committed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /**
   * Run the batch after this turn of the loop, but not before as much time has passed as the last batch took. So a node
   * holds the lock for at most half of the time, and gathers more verbs instead.
   */
  #schedule(): void {
    const { tookMs, endedAtMs } = this.#last;
    const delayMs = endedAtMs + Math.min(tookMs, MAX_GATHER_MS) - performance.now();
    if (delayMs < 1) setImmediate(() => this.#commit());
    else setTimeout(() => this.#commit(), delayMs);
  }

  #commit(): void {
    const startedAtMs = performance.now();
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const sql = batch.some(({ creates }) => creates) ? this.#database.writable : this.#database.readable;
      if (this.#database.isOpen && checkpointWhenLarge(this.#database.file, sql)) this.#retryLater(batch);
      else this.#run(sql, batch);
    } catch (error) {
      const left = this.#mendAfter(error);
      if (left === null) this.#retryLater(batch);
      else if (isBusy(left)) this.#waitForPeer(batch);
      else for (const { reject } of batch) reject(asExpected(left, this.#database.file));
    }
    const endedAtMs = performance.now();
    this.#last = { tookMs: endedAtMs - startedAtMs, endedAtMs };
    if (this.#waiting.length === 0) this.#onIdle?.();
  }

  /** Mend what no verb has written in the small tables, before anything else is read. */
  async mendOpened(): Promise<void> {
    let isFirst = true;
    await this.#reading((sql) => {
      if (isFirst && hasUnreadable(sql)) {
        isFirst = false;
        throw new ContradictingRows('it holds values that no crawlnode has written');
      }
    });
  }

  /** After a verb met a value that no verb has written. @returns null where it was mended, so that the verb runs again; else the error */
  #mendAfter(error: unknown): unknown {
    // A value of another type than the verb expects shows as a TypeError.
    const isMendable = isUnreadable(error) || error instanceof TypeError;
    if (!isMendable || !this.#database.isOpen || this.#mends === MOST_MENDS) return error;
    try {
      const { readable } = this.#database;
      const mended = inTransaction(readable, 'BEGIN IMMEDIATE', () => mendUnreadable(readable, this.#keys));
      this.#mends += 1;
      // What was read before holds no longer.
      this.#database.writes += 1;
      return mended > 0 ? null : error;
    } catch (failure) {
      return isBusy(failure) ? failure : error;
    }
  }

  /** Run the verbs and commit. If one throws, the transaction is rolled back and the others are run again. */
  #run(sql: Statements, batch: Waiting[]): void {
    let refused: Waiting | null = null;
    try {
      const { answers, ...cached } = inTransaction(sql, 'BEGIN IMMEDIATE', () => {
        const { version } = this.#database;
        const tx = this.#begin(sql, version);
        const answers = batch.map((waiting) => {
          refused = waiting;
          return waiting.verb(tx);
        });
        refused = null;
        tx.finish();
        return { answers, tx, version };
      });
      this.#database.noteCommit();
      this.#mends = 0;
      this.#cached = { ...cached, writes: this.#database.writes };
      for (const [n, { resolve }] of batch.entries()) resolve(answers[n] as never);
    } catch (error) {
      if (refused === null || !(error instanceof CrawlnodeError)) throw error;
      (refused as Waiting).reject(error);
      const others = batch.filter((waiting) => waiting !== refused);
      if (others.length > 0) this.#run(sql, others);
    }
  }

  /** Reuse the rows of the last batch if neither another process nor this connection has written since. */
  #begin(sql: Statements, version: number): Transaction {
    const cached = this.#cached;
    // Set again only at the commit: after a rollback the rows differ from the file.
    this.#cached = null;
    const isCurrent = cached?.version === version && cached.writes === this.#database.writes;
    if (!isCurrent || cached.tx.sql !== sql) return new Transaction(sql, this.#keys);
    cached.tx.begin();
    return cached.tx;
  }

  /**
   * Another process holds the lock: try again later. While other processes commit, waiting is normal. Without any commit
   * a process may be stopped while holding the lock, so the waiting verbs fail.
   */
  #waitForPeer(batch: Waiting[]): void {
    const nowMs = performance.now();
    const version = this.#database.version;
    if (version !== this.#peers.version) this.#peers = { version, movedAtMs: nowMs };
    const stillWaiting = batch.filter(({ askedAtMs, patienceMs, reject }) => {
      const waitedMs = nowMs - Math.max(askedAtMs, patienceMs > 0 ? this.#peers.movedAtMs : 0);
      if (waitedMs < patienceMs) return true;
      reject(lockedByPeer(this.#database.file, waitedMs));
      return false;
    });
    this.#retryLater(stillWaiting);
  }

  #retryLater(batch: Waiting[]): void {
    if (batch.length === 0) return;
    this.#waiting.unshift(...batch);
    setTimeout(() => this.#commit(), Math.random() * RETRY_MS);
  }
}

/** Run `action` in a transaction: all of it or, when it throws, nothing. */
function inTransaction<T>(sql: Statements, begin: 'BEGIN' | 'BEGIN IMMEDIATE', action: () => T): T {
  sql.of(begin).run();
  try {
    const answer = action();
    sql.of('COMMIT').run();
    return answer;
  } catch (error) {
    try {
      sql.of('ROLLBACK').run();
    } catch {
      // A full disk has SQLite roll back by itself.
    }
    throw error;
  }
}

function closed(): FrontierUnavailableError {
  return new FrontierUnavailableError('this frontier is closed', { code: 'frontier_closed' });
}
