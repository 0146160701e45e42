/** The state of a node that all its incarnations share. */
import { messageOf } from '../../errors.js';
import type { Effects, NodeObstacle, Outcome, Tunables } from '../../frontier/frontier.js';
import { Signals } from '../extensions/signals.js';
import { DroppedLinks } from '../links/dropped-links.js';
import { type LinkRules, linkRules } from '../links/filter-links.js';
import { Losses } from '../losses/lost-requests.js';
import { VanishedFingerprints } from '../losses/vanished-fingerprints.js';
import type { NodeDeps, SlowestDomain } from '../node-options.js';
import { DeadEnds } from '../page/dead-ends.js';
import { FailedStartPages } from '../page/failed-start-pages.js';
import { HangingDomains } from '../page/hanging-domains.js';
import { RulesCache } from '../robots/rules-cache.js';
import { type FinalTotals, readFinalTotals } from '../shutdown/final-totals.js';
import { NodeTelemetry, type SlotsInUse, type Tally } from '../telemetry/node-telemetry.js';
import { type Handed, Reporter } from '../telemetry/reporter.js';
import { DelayLog } from './autothrottle-log.js';
import { CrawlStateLog } from './crawl-state-log.js';
import { Pulse } from './heartbeat.js';
import { Outage } from './outage.js';
import { OutsideStats } from './outside-stats.js';
import { Hooks } from './project-hooks.js';
import { Alarm } from './wake-up.js';

export class NodeState {
  readonly deps: NodeDeps;
  readonly alarm = new Alarm();
  readonly outage: Outage;
  readonly hooks: Hooks;
  readonly delays: DelayLog;
  readonly failedStartPages: FailedStartPages;
  readonly deadEnds = new DeadEnds();
  readonly unusedSlots: UnusedSlots;
  readonly latencies = new Latencies();
  readonly hangingDomains: HangingDomains;
  readonly droppedLinks: DroppedLinks;
  readonly rulesCache: RulesCache | null;
  readonly outsideStats: OutsideStats;
  /** Null without extensions. */
  readonly signals: Signals | null;
  readonly news: CrawlStateLog;
  readonly losses: Losses;
  readonly vanished: VanishedFingerprints;
  readonly pulse = new Pulse();
  readonly rules: LinkRules;
  readonly tally: Tally = { pages: 0, failed: 0, items: 0 };
  readonly telemetry: NodeTelemetry;
  /** Given what telemetry brings each second, once there is a heartbeat thread. */
  onHandOver: (handed: Handed) => void = () => {};
  readonly startedAt = performance.now();
  /** When a feed began to fail; null while all is well. */
  feedFailingSince: number | null = null;
  /** The totals in the store when this node left; null before, and when they could not be read. */
  finalTotals: FinalTotals | null = null;

  constructor(deps: NodeDeps) {
    this.deps = deps;
    const { waitTimeoutMs, budgets } = deps.options;
    this.outage = new Outage(deps.log, { waitTimeoutMs, maxRunMs: budgets.maxRunMs });
    this.hooks = new Hooks(deps);
    this.delays = new DelayLog(deps.log);
    this.failedStartPages = new FailedStartPages(deps.log);
    this.droppedLinks = new DroppedLinks(deps.log);
    this.unusedSlots = new UnusedSlots(deps.options.tunables.slots);
    this.hangingDomains = new HangingDomains(deps.options.retry);
    const { robots } = deps.options;
    const agent = robots?.userAgent ?? robots?.defaultUserAgent ?? '';
    this.rulesCache = robots === null ? null : new RulesCache(agent, robots.crawlDelayMaxMs);
    this.outsideStats = new OutsideStats(deps);
    this.signals = signalsOf(deps);
    this.news = new CrawlStateLog(deps);
    this.losses = new Losses(deps.log, deps.crawlArguments);
    this.vanished = new VanishedFingerprints(deps.log);
    this.rules = linkRules(deps.spider, deps.options.links, deps.options.shape.domainKey, deps.job);
    this.pulse.note(0);
    this.telemetry = new NodeTelemetry({
      tally: this.tally,
      slots: deps.options.concurrency,
      obstacle: () => this.#obstacle(),
      measures: deps.measures ?? null,
      isFull: () => this.outage.isFull,
    });
  }

  /** A page was committed. */
  notePage(domain: string, outcome: Outcome, effects: Effects): void {
    this.telemetry.notePage(domain, outcome, effects);
    if (effects.latencyMs !== undefined) this.latencies.note(domain, effects.latencyMs);
  }

  /** Called once a second. */
  handOver(slots: SlotsInUse): void {
    const handed = this.telemetry.take(slots);
    this.onHandOver(handed);
    this.deps.siblings?.hear(handed);
  }

  /** Report what the heartbeat thread has not reported. Nothing waits for a report that fails. */
  async reportRest(slots: SlotsInUse, incarnation: string): Promise<void> {
    const { frontier, options, log, siblings } = this.deps;
    const { last, sequence, rest } = this.telemetry.takeRest(slots);
    siblings?.hear(last);
    const reporter = new Reporter(options.reports, sequence);
    for (const handed of rest) reporter.add(handed);
    try {
      const reported = await reporter.send(frontier.telemetry, incarnation);
      if (reported !== null) this.telemetry.noteReported(reported.sequence, reported.upTo);
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'the last statistics of this node could not be reported');
    }
  }

  #obstacle(): NodeObstacle | null {
    if (this.outage.why !== null) return 'store';
    return this.feedFailingSince !== null || this.deps.isOutboxFull() ? 'outbox' : null;
  }

  /** Called just before the node leaves. @param leftMs how long other nodes may still be waited for. */
  async readFinalTotals(reason: string, leftMs: () => number): Promise<void> {
    const { frontier, options } = this.deps;
    const mayWait = options.awaitsFinalTotals && reason !== 'shutdown';
    this.finalTotals = await readFinalTotals(frontier, reason, mayWait ? leftMs : () => 0);
  }

  /** Called when this node was the last of its run, which is therefore over. */
  noteLast(): void {
    const totals = this.finalTotals;
    if (totals?.run) this.finalTotals = { ...totals, run: { ...totals.run, isOver: true } };
  }
}

/** The names of DOWNLOAD_SLOTS that no request has had. A misspelt one has no effect, and the summary says so. */
class UnusedSlots {
  /** By the lower-case name, as hosts are compared. */
  readonly #names: Map<string, string>;

  constructor(slots: Tunables['slots']) {
    this.#names = new Map(Object.keys(slots ?? {}).map((name) => [name.toLowerCase(), name]));
  }

  /** A request of this domain was leased. */
  note(domain: string): void {
    if (this.#names.size > 0) this.#names.delete(domain.toLowerCase());
  }

  list(): string[] {
    return [...this.#names.values()];
  }
}

/** Domains that are compared at most. */
const MAX_DOMAINS = 1_000;

/** How fast each domain answers. */
class Latencies {
  readonly #domains = new Map<string, { pages: number; sumMs: number }>();

  /** An answer of a domain. 0 ms are answers of the HTTP cache. */
  note(domain: string, latencyMs: number): void {
    if (latencyMs === 0) return;
    const of = this.#domains.get(domain);
    if (of === undefined) {
      if (this.#domains.size < MAX_DOMAINS) this.#domains.set(domain, { pages: 1, sumMs: latencyMs });
      return;
    }
    of.pages += 1;
    of.sumMs += latencyMs;
  }

  /** The domain with the longest latency on average; null where there are not several. */
  slowest(): SlowestDomain | null {
    if (this.#domains.size < 2) return null;
    return slowestOf(
      [...this.#domains].map(([domain, { pages, sumMs }]) => ({
        domain,
        latencyMs: Math.round(sumMs / pages),
      })),
    );
  }
}

/** The slowest of several; null of none. */
export function slowestOf(domains: readonly SlowestDomain[]): SlowestDomain | null {
  return domains.reduce<SlowestDomain | null>(
    (slowest, each) => (slowest !== null && slowest.latencyMs >= each.latencyMs ? slowest : each),
    null,
  );
}

function signalsOf({ extensions = null, spider, frontier, options, log }: NodeDeps): Signals | null {
  if (extensions === null) return null;
  const timeoutMs = options.callbackTimeoutMs;
  return new Signals({ extensions: extensions.all, spider, frontier, timeoutMs, log });
}
