/** Times and amounts that only METRICS_PORT asks for. Collected in the main loop, and handed over with the telemetry. */
import type { Frontier } from '../../frontier/frontier.js';

/** What came up since the last hand-over; plain data, durations in seconds. */
export interface Measured {
  readonly items: number;
  /** CPU time of the process. */
  readonly cpuSeconds: number;
  readonly downloads: readonly number[];
  readonly callbacks: readonly number[];
  readonly storeCalls: Readonly<Partial<Record<MeasuredVerb, readonly number[]>>>;
  /** For how long the store has not answered the main loop. */
  readonly storeSilentMs: number;
}

/** The verbs by which pages and nodes go on. */
const verbs = [
  ...(['lease', 'settle', 'push', 'defer', 'throttle', 'robots', 'storeRobots', 'cookies'] as const),
  ...(['validators', 'peekSeeds', 'intake', 'reconcile', 'recover', 'addStats'] as const),
];

export type MeasuredVerb = (typeof verbs)[number];

export class Measures {
  #downloads: number[] = [];
  #callbacks: number[] = [];
  #storeCalls: Partial<Record<MeasuredVerb, number[]>> = {};
  #answeredAtMs = performance.now();

  download<T>(run: () => Promise<T>): Promise<T> {
    return timed(run, (seconds) => this.#downloads.push(seconds));
  }

  callback<T>(run: () => Promise<T>): Promise<T> {
    return timed(run, (seconds) => this.#callbacks.push(seconds));
  }

  /** The same frontier, with its calls measured. */
  of(frontier: Frontier): Frontier {
    const note = (verb: MeasuredVerb) => (seconds: number, isAnswered: boolean) => {
      if (isAnswered) this.#answeredAtMs = performance.now();
      const calls = this.#storeCalls[verb];
      if (calls === undefined) this.#storeCalls[verb] = [seconds];
      else calls.push(seconds);
    };
    const measured = verbs.map((verb) => {
      const call = frontier[verb] as (...args: unknown[]) => Promise<unknown>;
      const noteCall = note(verb);
      return [verb, (...args: unknown[]) => timed(() => call(...args), noteCall)];
    });
    return { ...frontier, ...Object.fromEntries(measured) };
  }

  take(): Omit<Measured, 'items' | 'cpuSeconds'> {
    const measured = {
      ...{ downloads: this.#downloads, callbacks: this.#callbacks, storeCalls: this.#storeCalls },
      storeSilentMs: performance.now() - this.#answeredAtMs,
    };
    this.#downloads = [];
    this.#callbacks = [];
    this.#storeCalls = {};
    return measured;
  }
}

/** Not async: a page that waits for one promise more costs more. */
function timed<T>(run: () => Promise<T>, note: (seconds: number, hasSucceeded: boolean) => void): Promise<T> {
  const startedAtMs = performance.now();
  const noteEnd = (hasSucceeded: boolean) => note((performance.now() - startedAtMs) / 1_000, hasSucceeded);
  const running = run();
  running.then(
    () => noteEnd(true),
    () => noteEnd(false),
  );
  return running;
}
