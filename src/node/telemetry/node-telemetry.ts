/**
 * What this node tells the store of itself and of its pages. The main loop collects it and hands it to the heartbeat thread once
 * a second; the thread reports every ten seconds (`reporter.ts`). What the thread has not reported when the node leaves, the
 * main loop reports itself: a short crawl ends before the thread reports anything.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Effects, NodeEvent, NodeFacts, NodeObstacle, Outcome } from '../../frontier/frontier.js';
import { countPage, type MutableCounts } from '../../frontier/telemetry/domain-counts.js';
import { version } from '../../package-folder.js';
import type { Measured, Measures } from './measures.js';
import type { Handed } from './reporter.js';

/** The event loop is looked at so often; the delay is what comes on top. */
const RESOLUTION_MS = 20;

/** What this node has committed since it started; it outlives a change of incarnation. */
export interface Tally {
  pages: number;
  failed: number;
  items: number;
}

/** What the slots of a node are busy with. */
export interface SlotsInUse {
  readonly used: number;
  readonly oldest: { readonly ms: number; readonly domain: string } | null;
}

export interface NodeTelemetryOptions {
  readonly tally: Tally;
  /** CONCURRENT_REQUESTS. */
  readonly slots: number;
  /** What keeps this node from taking requests. */
  readonly obstacle: () => NodeObstacle | null;
  /** Null without METRICS_PORT. */
  readonly measures: Measures | null;
  /** Whether the store is full, rather than away. */
  readonly isFull: () => boolean;
}

export class NodeTelemetry {
  readonly #options: NodeTelemetryOptions;
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #domains = new Map<string, MutableCounts>();
  #events: Handed['events'][number][] = [];
  #number = 0;
  /** Handed to the thread, and not reported yet. */
  #unreported: Handed[] = [];
  /** The sequence of the last report of the thread. */
  #sequence = 0;
  #isStoreGood = true;
  #last = { atMs: performance.now(), cpu: process.cpuUsage(), failed: 0, items: 0 };
  #version: string | null = null;
  /** The port of the metrics; null for none. */
  metricsPort: number | null = null;

  constructor(options: NodeTelemetryOptions) {
    this.#options = options;
    this.#loop.enable();
  }

  /** A page was committed. */
  notePage(domain: string, outcome: Outcome, effects: Effects): void {
    let counts = this.#domains.get(domain);
    if (counts === undefined) {
      counts = {};
      this.#domains.set(domain, counts);
    }
    countPage(counts, outcome, effects);
  }

  /** What has come up since the last call; once a second. */
  take(slots: SlotsInUse): Handed {
    this.#noteStore();
    this.#number += 1;
    const { node, measured } = this.#measure(slots);
    const handed: Handed = { number: this.#number, node, domains: this.#domains, events: this.#events };
    if (this.#domains.size > 0 || this.#events.length > 0) this.#unreported.push(handed);
    this.#domains = new Map();
    this.#events = [];
    return measured === null ? handed : { ...handed, measured };
  }

  /** All that was handed over up to a number is reported. */
  noteReported(sequence: number, upTo: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
    this.#unreported = this.#unreported.filter(({ number }) => number > upTo);
  }

  /** What came up last, and what is left to report when the node leaves, with the sequence of the last report. */
  takeRest(slots: SlotsInUse): {
    readonly last: Handed;
    readonly sequence: number;
    readonly rest: readonly Handed[];
  } {
    const last = this.take(slots);
    this.#loop.disable();
    const isKept = this.#unreported.at(-1)?.number === last.number;
    return { last, sequence: this.#sequence, rest: isKept ? this.#unreported : [...this.#unreported, last] };
  }

  /** Notes that the store is full or away, or that it is back. */
  #noteStore(): void {
    const isGood = this.#options.obstacle() !== 'store';
    if (isGood === this.#isStoreGood) return;
    this.#isStoreGood = isGood;
    const trouble: NodeEvent['kind'] = this.#options.isFull() ? 'store_full' : 'store_away';
    this.#events.push({ kind: isGood ? 'store_back' : trouble, atMs: Date.now() });
  }

  #measure(slots: SlotsInUse): { readonly node: NodeFacts; readonly measured: Measured | null } {
    const { tally, slots: total, obstacle, measures } = this.#options;
    const { atMs, cpu, failed, items } = this.#last;
    this.#last = {
      ...{ atMs: performance.now(), cpu: process.cpuUsage(), failed: tally.failed, items: tally.items },
    };
    const ms = Math.max(1, this.#last.atMs - atMs);
    const usedUs = this.#last.cpu.user + this.#last.cpu.system - cpu.user - cpu.system;
    this.#version ??= version();
    const node: NodeFacts = {
      version: this.#version,
      rssBytes: process.memoryUsage.rss(),
      cpu: rounded(usedUs / 1_000 / ms),
      eventLoopDelayMs: Math.max(0, Math.round(this.#loop.max / 1e6) - RESOLUTION_MS),
      slots: total,
      slotsUsed: slots.used,
      failuresPerSecond: rounded(((tally.failed - failed) * 1_000) / ms),
      oldestLeaseMs: Math.round(slots.oldest?.ms ?? 0),
      oldestLeaseDomain: slots.oldest?.domain ?? null,
      obstacle: obstacle(),
      metricsPort: this.metricsPort,
    };
    this.#loop.reset();
    const more = { items: tally.items - items, cpuSeconds: usedUs / 1e6 };
    return { node, measured: measures === null ? null : { ...measures.take(), ...more } };
  }
}

const rounded = (number: number): number => Math.round(number * 100) / 100;
