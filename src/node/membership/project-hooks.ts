/**
 * Hooks of the project's code at the start and end of a node: `opened` and `closed` of the spider, `open` and `close` of
 * the pipelines. They may take long, for a login or an upload. Once the node is told to leave, a hook has what is left of
 * SHUTDOWN_TIMEOUT, or a moment after the second signal. Then the node leaves without waiting for it.
 */
import { CrawlnodeError } from '../../errors.js';
import { describeError, whereThrown } from '../../user-code/where-thrown.js';
import type { NodeDeps } from '../node-options.js';

/** The least time for a hook, also when the drain took all of SHUTDOWN_TIMEOUT, so that it can close a connection. */
const LEAST_MS = 1_000;
const FORCED_MS = 500;
/** How often to log what the node waits for, since nothing else shows it. */
const SAY_AFTER_MS = 10_000;

export class Hooks {
  readonly #deps: Pick<NodeDeps, 'drain' | 'force' | 'log'>;
  readonly #graceMs: number;
  #graceEndsAt = Number.POSITIVE_INFINITY;
  #failure: string | null = null;

  constructor({ drain, force, log, options }: NodeDeps) {
    this.#deps = { drain, force, log };
    this.#graceMs = options.graceMs;
    whenAborted(drain, () => {
      this.#graceEndsAt = performance.now() + this.#graceMs;
    });
  }

  /** Why a closing hook failed. All pages of the crawl are committed nevertheless. */
  get failure(): string | null {
    return this.#failure;
  }

  /**
   * @param part what of the hook runs at present, for the message of a wait
   * @returns false when it was left behind. @throws CrawlnodeError that names it when it throws.
   */
  async open(name: string, hook: () => unknown, part?: () => string | null): Promise<boolean> {
    try {
      return await this.#wait(name, hook, part);
    } catch (error) {
      throw failed(name, error);
    }
  }

  /** Its error is logged and stored as `failure`: the node has left, and its result still counts. */
  async close(name: string, hook: () => unknown): Promise<void> {
    try {
      await this.#wait(name, hook);
    } catch (error) {
      this.#failure = failed(name, error).message;
      this.#deps.log.error({}, this.#failure);
    }
  }

  async #wait(name: string, hook: () => unknown, part?: () => string | null): Promise<boolean> {
    const { log } = this.#deps;
    const over = new AbortController();
    const ended = (async () => {
      await hook();
      return true;
    })();
    // Nothing awaits a hook that was left behind, so its rejection must be handled here.
    ended.catch(() => {});
    // The timer also keeps the process alive when nothing else does, so that it waits for the hook or for a signal.
    const word = setInterval(() => {
      const running = part?.() ?? null;
      const which = running === null ? '' : ` (${running})`;
      log.warn({}, `still waiting for ${name}${which}; Ctrl-C or SIGTERM ends the wait`);
    }, SAY_AFTER_MS);
    try {
      const isDone = await Promise.race([ended, this.#outOfTime(over.signal)]);
      if (!isDone)
        log.warn({}, `${name} did not end within SHUTDOWN_TIMEOUT; this node leaves without waiting for it`);
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
  return hookFailure(name, error);
}

/** An error of the project's code, with the name of the hook and the line. */
export function hookFailure(name: string, error: unknown): CrawlnodeError {
  const where = whereThrown(error);
  const place = where === null ? '' : ` at ${where}`;
  const what = error instanceof CrawlnodeError ? error.message : describeError(error);
  return new CrawlnodeError('hook_error', `${name} failed${place}: ${what}`, { cause: error });
}
