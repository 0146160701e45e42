/**
 * The metrics of `crawl --workers N`, added up over its nodes and served by their parent, which runs no code of the project. Each
 * node hands over once a second what it also hands to its heartbeat thread.
 */
import type { Logger } from '../../log.js';
import {
  type MetricsOptions,
  type MetricsServer,
  serveMetrics,
  whereMetricsAre,
} from '../../node/telemetry/metrics-server.js';
import { NodeMetrics } from '../../node/telemetry/node-metrics.js';
import type { Handed } from '../../node/telemetry/reporter.js';
import { version } from '../../package-folder.js';
import type { Settings } from '../../settings/schema.js';

interface KnownWorker {
  readonly heardAtMs: number;
  /** For how long the store had not answered it then. */
  readonly storeSilentMs: number;
}

export class WorkerMetrics {
  readonly #metrics: NodeMetrics;
  readonly #workers = new Map<number, KnownWorker>();
  #server: MetricsServer | null = null;

  private constructor(crawl: string) {
    this.#metrics = new NodeMetrics(crawl, version());
  }

  /** @throws RefusedError where no port is free */
  static async serve(
    options: MetricsOptions,
    { MAIN_LOOP_TIMEOUT, NODE_TIMEOUT }: Pick<Settings, 'MAIN_LOOP_TIMEOUT' | 'NODE_TIMEOUT'>,
    log: Logger,
  ): Promise<WorkerMetrics> {
    const all = new WorkerMetrics(options.crawl);
    const workers = () => [...all.#workers.values()];
    all.#server = await serveMetrics(options, {
      metrics: () => all.#metrics.text(),
      // One worker that hangs ends by itself and is replaced: a restart of all of them would not help.
      isLive: () =>
        all.#workers.size === 0 ||
        workers().some(({ heardAtMs }) => performance.now() - heardAtMs <= MAIN_LOOP_TIMEOUT * 1_000),
      isReady: () => workers().some(({ storeSilentMs }) => storeSilentMs <= NODE_TIMEOUT * 1_000),
    });
    log.info({ port: all.port }, whereMetricsAre(options, all.port));
    return all;
  }

  get port(): number {
    return this.#server!.port;
  }

  /** What a worker has handed over. */
  hear(number: number, handed: Handed): void {
    this.#metrics.add(number, handed);
    const storeSilentMs = handed.measured?.storeSilentMs ?? 0;
    this.#workers.set(number, { heardAtMs: performance.now(), storeSilentMs });
  }

  /** A worker has ended. */
  drop(number: number): void {
    this.#metrics.drop(number);
    this.#workers.delete(number);
  }

  close(): void {
    this.#server?.close();
  }
}
