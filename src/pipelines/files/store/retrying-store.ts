/**
 * A file store that may be unavailable: a full disk, a network mount, a bucket. A file that cannot be stored is tried again
 * with growing pauses, up to FILES_STORE_TIMEOUT. Meanwhile the request of the file keeps its slot, so a node whose slots
 * all wait leases nothing more. An outage is logged when it begins, once a minute, and when it is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../errors.js';
import type { Logger } from '../../../log.js';
import type { FileStore, StoredFile } from './file-store.js';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;
const LOG_INTERVAL_MS = 60_000;

export interface RetryOptions {
  /** From the first failure of a call. */
  readonly giveUpMs: number;
  readonly log: Logger;
}

export class RetryingStore {
  readonly #store: FileStore;
  readonly #options: RetryOptions;
  /** `performance.now()` of the first failure since the last success; null while the store works. */
  #failingSince: number | null = null;
  #loggedAt = 0;

  constructor(store: FileStore, options: RetryOptions) {
    this.#store = store;
    this.#options = options;
  }

  get place(): string {
    return this.#store.place;
  }

  get awaits(): string | null {
    return this.#store.awaits;
  }

  /** Calls the store once, without retries, so that a wrong setting is reported at once. */
  open(): Promise<void> {
    return this.#store.open();
  }

  close(): void {
    this.#store.close();
  }

  /** A stored file; null without one, and while the store cannot tell. Never waits for a store that is away. */
  async findNow(names: readonly string[], maxAgeMs: number): Promise<StoredFile | null> {
    if (this.#failingSince !== null) return null;
    try {
      return await this.#store.find(names, maxAgeMs);
    } catch {
      return null;
    }
  }

  /** A stored file; null where there is none. @param signal ends the attempts @throws CrawlnodeError `files_unwritable` */
  find(names: readonly string[], maxAgeMs: number, signal: AbortSignal): Promise<StoredFile | null> {
    return this.#patiently(() => this.#store.find(names, maxAgeMs), signal);
  }

  /** @param signal ends the attempts @throws CrawlnodeError `files_unwritable` */
  write(name: string, body: Buffer, signal: AbortSignal): Promise<StoredFile> {
    return this.#patiently(() => this.#store.write(name, body), signal);
  }

  async #patiently<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    let giveUpAt: number | null = null;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const result = await call();
        this.#works();
        return result;
      } catch (error) {
        const now = performance.now();
        this.#fails(error, now);
        giveUpAt ??= now + this.#options.giveUpMs;
        const leftMs = giveUpAt - now;
        if (leftMs <= 0 || signal.aborted) throw error;
        await sleep(Math.min(leftMs, pauseMs(attempt)), undefined, { signal }).catch(() => {});
        if (signal.aborted) throw error;
      }
    }
  }

  #fails(error: unknown, now: number): void {
    const isNew = this.#failingSince === null;
    this.#failingSince ??= now;
    if (!isNew && now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    const forMs = Math.round(now - this.#failingSince);
    const still = isNew ? '' : 'still ';
    this.#options.log.warn(
      { error: messageOf(error), forMs },
      `files of items ${still}cannot be stored; their items wait, and it is tried again`,
    );
  }

  #works(): void {
    if (this.#failingSince === null) return;
    const afterMs = Math.round(performance.now() - this.#failingSince);
    this.#failingSince = null;
    this.#options.log.info({ afterMs }, 'files of items can be stored again');
  }
}

/** Half of it is random, so that the slots of many nodes do not try at the same time. */
function pauseMs(attempt: number): number {
  const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  return pause / 2 + (pause / 2) * Math.random();
}
