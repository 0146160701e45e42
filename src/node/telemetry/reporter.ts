/** Reports what a node has handed over to the store. A report that fails is sent again as it was, so that it counts once. */
import type { DomainCounts, NodeEvent, NodeFacts, NodeReport, Telemetry } from '../../frontier/frontier.js';
import { assessNow } from '../../frontier/telemetry/assess.js';
import {
  addCounts,
  hasFailures,
  type MutableCounts,
  OTHER_DOMAINS,
} from '../../frontier/telemetry/domain-counts.js';
import { MAX_REPORTED_DOMAINS } from '../../frontier/types/limits.js';
import type { Measured } from './measures.js';

/** What the main loop hands over; plain data. */
export interface Handed {
  /** Rises by one each time. */
  readonly number: number;
  readonly node: NodeFacts;
  readonly domains: ReadonlyMap<string, DomainCounts>;
  /** `atMs`: since 1970, by the clock of this machine. */
  readonly events: readonly { readonly kind: NodeEvent['kind']; readonly atMs: number }[];
  /** Only where METRICS_PORT asks for it; the store does not get it. */
  readonly measured?: Measured;
}

/** Domains that are kept apart while the store is away; what comes beyond them counts to the others. */
const MAX_PENDING_DOMAINS = 1_000;

/** What reports of a crawl depend on. */
export interface ReportOptions {
  /** STATS_HISTORY: points of the history that are kept, a minute apart. */
  readonly historyMinutes: number;
  /** SCALE_MAX: the most nodes that are wanted. */
  readonly scaleMax: number;
}

export class Reporter {
  readonly #options: ReportOptions;
  #sequence: number;
  #domains = new Map<string, MutableCounts>();
  #events: Handed['events'][number][] = [];
  #last: Handed | null = null;
  #failed: NodeReport | null = null;

  /** @param sequence of the last report that was sent for this node */
  constructor(options: ReportOptions, sequence = 0) {
    this.#options = options;
    this.#sequence = sequence;
  }

  add(handed: Handed): void {
    for (const [domain, counts] of handed.domains) this.#add(domain, counts);
    this.#events.push(...handed.events);
    const delayMs = Math.max(handed.node.eventLoopDelayMs, this.#last?.node.eventLoopDelayMs ?? 0);
    this.#last = { ...handed, node: { ...handed.node, eventLoopDelayMs: delayMs } };
  }

  /**
   * Send what was handed over, and record a point of the history where one is due.
   * @returns the sequence of the report, and the number up to which it is reported; null where there was nothing to report
   */
  async send(
    telemetry: Telemetry,
    incarnation: string,
  ): Promise<{ readonly sequence: number; readonly upTo: number } | null> {
    if (this.#failed !== null) await this.#report(telemetry, incarnation, this.#failed);
    this.#failed = null;
    const last = this.#last;
    if (last === null) return null;
    this.#failed = this.#take(last.node);
    await this.#report(telemetry, incarnation, this.#failed);
    this.#failed = null;
    return { sequence: this.#sequence, upTo: last.number };
  }

  async #report(telemetry: Telemetry, incarnation: string, report: NodeReport): Promise<void> {
    if (!(await telemetry.report(incarnation, report))) return;
    const { historyMinutes, scaleMax } = this.#options;
    const assessed = await assessNow(telemetry, scaleMax);
    if (assessed === null) return;
    const { point, assessment, storedBytes } = assessed;
    await telemetry.record(point, assessment, historyMinutes, storedBytes);
  }

  /** The next report: the domains with failures first, then those with most pages. */
  #take(node: NodeFacts): NodeReport {
    this.#sequence += 1;
    const weight = ({ p = 0, ...counts }: DomainCounts) => (hasFailures(counts) ? 1e9 : 0) + p;
    const domains = [...this.#domains].sort(([, a], [, b]) => weight(b) - weight(a));
    const named = domains.slice(0, MAX_REPORTED_DOMAINS);
    const others: MutableCounts = {};
    for (const [, counts] of domains.slice(MAX_REPORTED_DOMAINS)) addCounts(others, counts);
    if (Object.keys(others).length > 0) named.push([OTHER_DOMAINS, others]);
    const nowMs = Date.now();
    const events = this.#events.map(({ kind, atMs }) => ({ kind, agoMs: Math.max(0, nowMs - atMs) }));
    this.#domains = new Map();
    this.#events = [];
    this.#last = null;
    return { sequence: this.#sequence, node, domains: named, events };
  }

  #add(domain: string, counts: DomainCounts): void {
    const name =
      this.#domains.has(domain) || this.#domains.size < MAX_PENDING_DOMAINS ? domain : OTHER_DOMAINS;
    const before = this.#domains.get(name) ?? {};
    addCounts(before, counts);
    this.#domains.set(name, before);
  }
}
