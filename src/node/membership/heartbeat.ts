/**
 * Heartbeats of a node, sent by a thread with its own connection: a callback that blocks the main loop for a while does
 * not make the node look dead. Main loop and thread share a few numbers (`Pulse`). The main loop records its progress
 * there, and the thread reports it to the store. Without progress for MAIN_LOOP_TIMEOUT the thread stops the heartbeats,
 * so that other nodes take over the requests. If the main loop still hangs after that, the thread ends the process, for
 * its supervisor to restart.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { RefusedError } from '../../errors.js';
import type { OpenOptions } from '../../frontier/open-options.js';
import type { Logger } from '../../log.js';
import type { MetricsOptions } from '../telemetry/metrics-server.js';
import type { Handed, ReportOptions } from '../telemetry/reporter.js';
import { startThread } from './start-thread.js';

/** Handed to the thread at its start; plain data and shared memory. */
export interface HeartbeatOptions {
  readonly open: OpenOptions;
  readonly incarnation: string;
  readonly intervalMs: number;
  readonly mainLoopTimeoutMs: number;
  /** After this further time the thread ends the process. */
  readonly endAfterMs: number;
  /**
   * False in a program, whose process crawlnode must not end: the main loop gets the news `hung` instead, if it ever
   * continues.
   */
  readonly endsProcess: boolean;
  /** The label of this node, for that occasion. */
  readonly node: string;
  /** What is said then is a line of JSON. */
  readonly speaksJson: boolean;
  readonly pulse: SharedArrayBuffer;
  readonly gate: SharedArrayBuffer;
  readonly reports: ReportOptions;
  /** Of the last report for this node. */
  readonly sequence: number;
  /** Null where the thread serves no metrics. */
  readonly metrics: ThreadMetrics | null;
}

/** What the thread needs to serve metrics. */
export interface ThreadMetrics extends MetricsOptions {
  /** The node is ready while the store has answered within this time. */
  readonly nodeTimeoutMs: number;
}

/**
 * What the thread reports: that the store has declared the incarnation dead or lost the crawl, or that heartbeats stopped
 * because the main loop hangs (`stuck`), or hung for so long that the node should stop (`hung`).
 */
export interface HeartbeatNews {
  readonly kind: 'dead' | 'gone' | 'stuck' | 'hung';
  readonly incarnation: string;
}

/** A heartbeat failed, and not because the store is away. The thread goes on trying, and reports it once. */
export interface HeartbeatTrouble {
  readonly kind: 'trouble';
  readonly message: string;
}

/** The thread has reported all that was handed to it up to a number. */
export interface HeartbeatReport {
  readonly kind: 'reported';
  readonly sequence: number;
  readonly upTo: number;
}

/** The thread serves metrics at this port; or it cannot, for this reason. */
export type MetricsNews =
  | { readonly kind: 'serving'; readonly port: number }
  | { readonly kind: 'not_serving'; readonly message: string };

/** All messages from the thread; `beating` when its first heartbeat got through. */
export type HeartbeatMessage =
  | HeartbeatNews
  | HeartbeatTrouble
  | HeartbeatReport
  | MetricsNews
  | { readonly kind: 'beating' };

/** Messages to the thread: send heartbeats for another incarnation, report this, or end. */
export type HeartbeatOrder = { readonly incarnation: string } | { readonly handed: Handed } | 'stop';

/** Who hears of what the thread does. */
export interface HeartbeatListeners {
  readonly onNews: (news: HeartbeatNews) => void;
  readonly onReported: (report: HeartbeatReport) => void;
}

/** How long a thread that was told to end may take to close its connection. */
const STOP_MS = 1_000;
/** How long an exiting process waits for a call of the thread to the store. */
const EXIT_MS = 2_000;
/** Before a thread that failed is replaced. */
const RESTART_MS = 1_000;

/** The shared numbers: progress (monotonic ms), pages per second. */
export class Pulse {
  readonly buffer: SharedArrayBuffer;
  readonly #numbers: Float64Array;

  constructor(buffer = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#numbers = new Float64Array(buffer);
  }

  /** Record the progress of the main loop. */
  note(pagesPerSecond: number): void {
    this.#numbers[0] = monotonicMs();
    this.#numbers[1] = pagesPerSecond;
  }

  get pagesPerSecond(): number {
    return this.#numbers[1] ?? 0;
  }

  /** How long ago the main loop last recorded progress. */
  get silentMs(): number {
    return monotonicMs() - (this.#numbers[0] ?? 0);
  }
}

/**
 * Prevents the thread from ending in the middle of calls to the store, of which it counts those under way. When a process exits, its threads end wherever they
 * are, and the SQLite driver aborts the process if that is within a call.
 */
export class Gate {
  readonly buffer: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(buffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#state = new Int32Array(buffer);
  }

  /** Called by the thread before it calls the store. @returns false when the process is exiting and it must not */
  enter(): boolean {
    Atomics.add(this.#state, 0, 1);
    if (Atomics.load(this.#state, 1) === 0) return true;
    this.leave();
    return false;
  }

  leave(): void {
    Atomics.sub(this.#state, 0, 1);
    Atomics.notify(this.#state, 0);
  }

  /** The thread has ended: it calls nothing any more. */
  clear(): void {
    Atomics.store(this.#state, 0, 0);
    Atomics.notify(this.#state, 0);
  }

  /** Forbid further calls, and block until none is running. @returns false when that took too long */
  shut(ms: number): boolean {
    Atomics.store(this.#state, 1, 1);
    const endsAtMs = performance.now() + ms;
    for (;;) {
      const calls = Atomics.load(this.#state, 0);
      if (calls === 0) return true;
      const leftMs = Math.max(0, endsAtMs - performance.now());
      if (Atomics.wait(this.#state, 0, calls, leftMs) === 'timed-out') return false;
    }
  }
}

export class Heartbeat {
  readonly #gate = new Gate();
  /** Whether the thread accesses the store's file itself. A connection to a server may be cut at any point. */
  readonly #isInProcess: boolean;
  /** Also runs when spider code calls process.exit, and after an uncaught exception. */
  readonly #onExit = () => {
    if (this.#isInProcess && !this.#gate.shut(EXIT_MS)) process.kill(process.pid, 'SIGKILL');
  };
  readonly #listeners: HeartbeatListeners;
  readonly #log: Logger;
  readonly #beatHere: (incarnation: string) => Promise<unknown>;
  /** Runs until the thread has its own connection. */
  #substitute: NodeJS.Timeout | undefined;
  /**
   * The port of the metrics, once they are served; null where they are not wanted. Rejects with RefusedError where they cannot be
   * served.
   */
  readonly serving: Promise<number | null>;
  #onMetrics: (news: MetricsNews) => void = () => {};
  #options: HeartbeatOptions;
  #worker: Worker;
  #ended = false;
  #stopping = false;

  /**
   * Start the thread. It does not keep the process alive. A thread that fails is replaced: without heartbeats other nodes would take over the requests.
   * @param beatHere sends a heartbeat from the main loop. It is called until the thread has its own connection, which takes
   * longer than a short NODE_TIMEOUT on a slow network.
   */
  constructor(
    options: Omit<HeartbeatOptions, 'gate' | 'sequence'>,
    listeners: HeartbeatListeners,
    log: Logger,
    beatHere: (incarnation: string) => Promise<unknown>,
  ) {
    this.#options = { ...options, gate: this.#gate.buffer, sequence: 0 };
    this.#isInProcess = options.open.store.engine === 'embedded';
    process.on('exit', this.#onExit);
    this.#listeners = listeners;
    this.#log = log;
    this.#beatHere = beatHere;
    this.serving = new Promise((resolve, reject) => {
      if (options.metrics === null) resolve(null);
      this.#onMetrics = (news) => {
        if (news.kind === 'serving') resolve(news.port);
        else reject(new RefusedError(news.message));
      };
    });
    this.#worker = this.#start();
  }

  #start(): Worker {
    const worker = startThread(this.#options);
    this.#ended = false;
    worker.unref();
    clearInterval(this.#substitute);
    this.#substitute = setInterval(() => this.#beat(), this.#options.intervalMs).unref();
    worker.on('message', (message: HeartbeatMessage) => {
      if (message.kind === 'beating') clearInterval(this.#substitute);
      else if (message.kind === 'trouble') {
        this.#log.error(
          { error: message.message },
          'a heartbeat failed; if none gets through, peers take over the work of this node',
        );
      } else if (message.kind === 'reported') {
        this.#options = { ...this.#options, sequence: message.sequence };
        this.#listeners.onReported(message);
      } else if (message.kind === 'serving' || message.kind === 'not_serving') {
        this.#onMetrics(message);
      } else this.#listeners.onNews(message);
    });
    worker.on('error', (error) => {
      this.#log.error({ error: error.message }, 'the heartbeat thread failed; another one is started');
    });
    worker.on('exit', () => {
      this.#ended = true;
      this.#gate.clear();
      if (this.#stopping) return;
      setTimeout(() => {
        if (!this.#stopping) this.#worker = this.#start();
      }, RESTART_MS).unref();
    });
    return worker;
  }

  /** The calls that need an answer report what is wrong with the store. */
  #beat(): void {
    this.#beatHere(this.#options.incarnation).catch(() => undefined);
  }

  /** Send heartbeats for a new incarnation from now on. */
  follow(incarnation: string): void {
    this.#options = { ...this.#options, incarnation };
    this.#worker.postMessage({ incarnation } satisfies HeartbeatOrder);
  }

  /** Have the thread report this. */
  hand(handed: Handed): void {
    this.#worker.postMessage({ handed } satisfies HeartbeatOrder);
  }

  /** Have the thread close its connection and end. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#substitute);
    if (!this.#ended) {
      const waiting = new AbortController();
      const ended = once(this.#worker, 'exit').then(
        () => true,
        () => true,
      );
      this.#worker.postMessage('stop' satisfies HeartbeatOrder);
      const late = sleep(STOP_MS, false, { signal: waiting.signal }).catch(() => false);
      const hasEnded = await Promise.race([ended, late]);
      waiting.abort();
      // A thread that accesses the store's file is never terminated. If it still waits for the store when the process
      // exits, `#onExit` waits for it.
      if (!hasEnded && this.#isInProcess) return;
      if (!hasEnded) await this.#worker.terminate();
    }
    process.off('exit', this.#onExit);
  }
}

/** CLOCK_MONOTONIC, the same in every thread of the process (`performance.now()` counts from each thread's start). */
function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
