/**
 * The project's own code as a node begins and ends: `opened` and `closed` of the spider, `open` and `close` of the
 * pipelines. It may take its time, a login or an upload; but once the node is told to leave, code that never ends has
 * what is left of the grace time, and a moment after the second signal. It is left behind then.
 */
import { CrawlnodeError } from '../../errors.js';
import { describeError, whereThrown } from '../../spider/where-thrown.js';
import type { EngineDeps } from '../engine-options.js';

/** After a drain that took all of the grace time, so that a connection can still be closed. */
const LEAST_MS = 1_000;
const FORCED_MS = 500;
/** So long is worth a word, since nothing else shows what the node waits for. */
const SAY_AFTER_MS = 10_000;

export class Hooks {
  readonly #deps: Pick<EngineDeps, 'drain' | 'force' | 'log'>;
  readonly #graceMs: number;
  #graceEndsAt = Number.POSITIVE_INFINITY;
  #failure: string | null = null;

  constructor({ drain, force, log, options }: EngineDeps) {
    this.#deps = { drain, force, log };
    this.#graceMs = options.graceMs;
    whenAborted(drain, () => {
      this.#graceEndsAt = performance.now() + this.#graceMs;
    });
  }

  /** What failed as the node ended; the crawl itself is none the worse. */
  get failure(): string | null {
    return this.#failure;
  }

  /** @returns false when it was left behind. @throws CrawlnodeError that names it when it throws. */
  async open(name: string, hook: () => unknown): Promise<boolean> {
    try {
      return await this.#wait(name, hook);
    } catch (error) {
      throw failed(name, error);
    }
  }

  /** What it throws is logged and kept as `failure`: the node has left, and its result still counts. */
  async close(name: string, hook: () => unknown): Promise<void> {
    try {
      await this.#wait(name, hook);
    } catch (error) {
      this.#failure = failed(name, error).message;
      this.#deps.log.error({}, this.#failure);
    }
  }

  async #wait(name: string, hook: () => unknown): Promise<boolean> {
    const { log } = this.#deps;
    const over = new AbortController();
    const ended = (async () => {
      await hook();
      return true;
    })();
    // Nobody waits any more for what fails after it was left behind.
    ended.catch(() => {});
    // It also keeps a process alive that has nothing else to do, so that the waiting ends in a signal, not in silence.
    const word = setInterval(
      () => log.warn({}, `still waiting for ${name}; a signal ends the waiting`),
      SAY_AFTER_MS,
    );
    try {
      const isDone = await Promise.race([ended, this.#outOfTime(over.signal)]);
      if (!isDone) log.warn({}, `${name} did not end in time and is left behind (SHUTDOWN_TIMEOUT)`);
      return isDone;
    } finally {
      clearInterval(word);
      over.abort();
    }
  }

  #outOfTime(over: AbortSignal): Promise<false> {
    const { drain, force } = this.#deps;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const within = (ms: number) => {
        clearTimeout(timer);
        timer = setTimeout(() => resolve(false), ms);
      };
      whenAborted(drain, () => within(Math.max(LEAST_MS, this.#graceEndsAt - performance.now())), over);
      whenAborted(force, () => within(FORCED_MS), over);
      whenAborted(over, () => clearTimeout(timer));
    });
  }
}

/** @param over forgets it. */
function whenAborted(signal: AbortSignal, act: () => void, over?: AbortSignal): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true, ...(over === undefined ? {} : { signal: over }) });
}

function failed(name: string, error: unknown): CrawlnodeError {
  if (error instanceof CrawlnodeError) return error;
  const where = whereThrown(error);
  const place = where === null ? '' : ` at ${where}`;
  return new CrawlnodeError('hook_error', `${name} failed${place}: ${describeError(error)}`, {
    cause: error,
  });
}
