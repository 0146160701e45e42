/** Warns when `start()` yields nothing and does not end: the crawl cannot complete, and no error shows why. */
import type { Logger } from '../../log.js';

export interface StartSilenceOptions {
  readonly log: Logger;
  /** The name of the spider. */
  readonly spider: string;
  /** CALLBACK_TIMEOUT, the limit of callbacks. `start()` is not given up after it, since it may wait for a slow source. */
  readonly afterMs: number;
  /** Ends the warnings. */
  readonly stop: AbortSignal;
}

/** Warns after `afterMs` without a request, then each time the silence has doubled. */
export class StartSilence {
  readonly #options: StartSilenceOptions;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StartSilenceOptions) {
    this.#options = options;
    options.stop.addEventListener('abort', () => this.end(), { once: true });
  }

  /** `start()` is awaited from now on. */
  begin(): void {
    this.end();
    if (this.#options.stop.aborted) return;
    this.#since = performance.now();
    this.#warnAfter(this.#options.afterMs);
  }

  /** It gave something, or has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #warnAfter(ms: number): void {
    const { log, spider } = this.#options;
    this.#timer = setTimeout(() => {
      const forMs = performance.now() - this.#since;
      log.warn(
        {},
        `start() of the spider "${spider}" has given nothing and has not ended for ${Math.round(forMs / 100) / 10} s; the crawl is not complete before it ends`,
      );
      this.#warnAfter(forMs);
    }, ms);
    // This timer must not keep the process alive; the connection to the store does.
    this.#timer.unref();
  }
}
