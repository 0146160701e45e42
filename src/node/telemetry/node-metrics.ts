/**
 * Metrics of the nodes of one command in Prometheus' text format: what they did since the command began. What is the crawl's comes
 * from `src/metrics/`: exported by each node, its sums over nodes would be too high.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type DomainStats, domainStats } from '../../frontier/telemetry/domain-counts.js';
import type { NodeFacts } from '../../frontier/types/telemetry.js';
import type { Handed } from './reporter.js';

/** A usual interval of scrapes: the longest delay of the event loop is exported for so long. */
const DELAYS = 15;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180];
const STORE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

interface KnownNode {
  readonly facts: NodeFacts;
  /** Of the last hand-overs. */
  readonly delaysMs: readonly number[];
}

export class NodeMetrics {
  readonly #registry = new Registry();
  /** By the number of the worker. */
  readonly #nodes = new Map<number, KnownNode>();
  readonly #pages = this.#counter('pages_total', 'Pages that ended as done or failed');
  readonly #responses = this.#counter('responses_total', 'Answers, by HTTP status', 'status');
  readonly #failures = this.#counter('failures_total', 'Requests that failed, by reason', 'reason');
  readonly #retries = this.#counter('retries_total', 'Requests that were put back to be tried again');
  readonly #items = this.#counter('items_total', 'Items committed');
  readonly #bytes = this.#counter('response_bytes_total', 'Bytes received');
  readonly #downloads = this.#histogram('download_seconds', 'Time of a download', SECONDS);
  readonly #callbacks = this.#histogram('callback_seconds', 'Time of a callback', SECONDS);
  readonly #calls = this.#histogram('store_call_seconds', 'Time of a call', STORE_SECONDS, 'verb');
  readonly #cpu: Counter;

  /** @param crawl the label of all metrics, such as `shop@night` */
  constructor(crawl: string, version: string) {
    this.#registry.setDefaultLabels({ crawl });
    this.#gauge('crawlnode_build_info', 'The version of crawlnode', () => 1, { version });
    this.#gauge('crawlnode_slots', 'CONCURRENT_REQUESTS', () => sum(this.#facts, 'slots'));
    this.#gauge('crawlnode_slots_used', 'Slots in use', () => sum(this.#facts, 'slotsUsed'));
    this.#gauge(
      'crawlnode_event_loop_delay_seconds',
      'The longest delay of the event loop within the last 15 seconds',
      () => Math.max(0, ...[...this.#nodes.values()].flatMap(({ delaysMs }) => delaysMs)) / 1_000,
    );
    this.#gauge('process_resident_memory_bytes', 'Resident memory size in bytes', () =>
      sum(this.#facts, 'rssBytes'),
    );
    const startedAtS = Date.now() / 1_000 - process.uptime();
    this.#gauge('process_start_time_seconds', 'Start time of the process since unix epoch', () => startedAtS);
    this.#cpu = new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Total user and system CPU time spent in seconds',
      registers: [this.#registry],
    });
  }

  /** @param number of the worker; 0 for a node of its own */
  add(number: number, { node, domains, measured }: Handed): void {
    const delaysMs = [...(this.#nodes.get(number)?.delaysMs ?? []), node.eventLoopDelayMs];
    this.#nodes.set(number, { facts: node, delaysMs: delaysMs.slice(-DELAYS) });
    for (const counts of domains.values()) this.#addDomain(domainStats(counts));
    if (measured === undefined) return;
    this.#items.inc(measured.items);
    this.#cpu.inc(measured.cpuSeconds);
    for (const seconds of measured.downloads) this.#downloads.observe(seconds);
    for (const seconds of measured.callbacks) this.#callbacks.observe(seconds);
    for (const [verb, times] of Object.entries(measured.storeCalls))
      for (const seconds of times) this.#calls.observe({ verb }, seconds);
  }

  /** A worker has ended. What it did stays counted. */
  drop(number: number): void {
    this.#nodes.delete(number);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get #facts(): readonly NodeFacts[] {
    return [...this.#nodes.values()].map(({ facts }) => facts);
  }

  #addDomain({ pages, bytes, statuses, failures, retries }: DomainStats): void {
    this.#pages.inc(pages);
    this.#bytes.inc(bytes);
    for (const [status, count] of Object.entries(statuses)) this.#responses.inc({ status }, count);
    for (const [reason, count] of Object.entries(failures)) this.#failures.inc({ reason }, count);
    for (const count of Object.values(retries)) this.#retries.inc(count);
  }

  #counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name: `crawlnode_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string, buckets: number[], ...labelNames: string[]): Histogram {
    const registers = [this.#registry];
    return new Histogram({ name: `crawlnode_${name}`, help, buckets, labelNames, registers });
  }

  #gauge(name: string, help: string, read: () => number, labels: Readonly<Record<string, string>> = {}) {
    new Gauge({
      ...{ name, help, labelNames: Object.keys(labels), registers: [this.#registry] },
      collect() {
        this.set(labels, read());
      },
    });
  }
}

function sum(facts: readonly NodeFacts[], name: 'slots' | 'slotsUsed' | 'rssBytes'): number {
  return facts.reduce((total, each) => total + each[name], 0);
}
