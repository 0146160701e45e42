/** One registration of this node in the crawl: its leases and its periodic work. A node that was declared dead registers anew. */
import { FrontierGoneError, FrontierUnavailableError, IncarnationDeadError } from '../../errors.js';
import { budgetOf } from '../../frontier/budgets.js';
import {
  type CookieNews,
  type CrawlState,
  type Joined,
  type Lease,
  type LeaseAnswer,
  type Left,
  MAX_WAIT_MS,
} from '../../frontier/frontier.js';
import type { ReadCookies } from '../cookies/session-cookies.js';
import { IdleHooks } from '../extensions/idle-hooks.js';
import { inRun, type LinkRules } from '../links/filter-links.js';
import { StalledCrawl } from '../losses/stalled-crawl.js';
import { crawlOne } from '../page/crawl-one.js';
import { Slots } from '../page/leased-pages.js';
import type { PageDeps } from '../page/page-work.js';
import { SeedIntake } from '../seeds/seed-intake.js';
import { runStart } from '../seeds/start-generator.js';
import { ending, feedEnding, type NodeEnding, type NodeView } from '../shutdown/node-stop-reason.js';
import { type IncarnationContext, pageDepsOf } from './incarnation-parts.js';
import { hasStart } from './membership.js';
import type { NodeState } from './node-state.js';
import { Upkeep } from './periodic-work.js';

/** How long a halted node waits for the answer of a lease call. */
const HALT_MS = 1_000;

export class Incarnation {
  readonly joined: Joined;
  /** As they are in the run that was joined. */
  readonly rules: LinkRules;
  readonly slots: Slots;
  readonly seeds: SeedIntake;
  readonly upkeep: Upkeep;
  readonly #node: NodeState;
  readonly #context: IncarnationContext;
  readonly #page: PageDeps;
  readonly #idleHooks: IdleHooks;
  readonly #stalled: StalledCrawl;
  readonly #joinedAt = performance.now();
  readonly #halt = new AbortController();
  readonly #onError = (error: unknown) => this.fail(error);
  readonly #onSignal = () => this.#halted();
  #abandon: () => void = () => {};
  #error: { readonly error: unknown } | null = null;
  #crawl: CrawlState | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(node: NodeState, joined: Joined) {
    this.#node = node;
    this.joined = joined;
    this.rules = inRun(node.rules, joined.run);
    const context = { node, rules: this.rules, halt: this.halt, onError: this.#onError };
    this.#context = context;
    this.slots = new Slots(context);
    this.#page = pageDepsOf(context, this.slots);
    this.#idleHooks = new IdleHooks(context);
    this.#stalled = new StalledCrawl(context);
    this.seeds = new SeedIntake(context);
    this.#haltOnSignals();
    this.upkeep = new Upkeep(context, this.slots, (pagesPerSecond) => {
      this.#showProgress(pagesPerSecond);
      void node.outsideStats.write();
      node.handOver(this.slots);
    });
  }

  /**
   * Whether a CloseSpider has closed the run. After it, unlike after a budget, a node that joins late may begin another
   * run.
   */
  get isClosedByCode(): boolean {
    const closing = this.#crawl?.closing ?? null;
    return closing !== null && budgetOf(closing) === null;
  }

  /** Aborted when this node is to stop. It ends the waiting for a store that is away. */
  get halt(): AbortSignal {
    return this.#halt.signal;
  }

  /**
   * True once the store has declared this incarnation dead, or has lost the crawl. Then nothing can be returned to the
   * store.
   */
  get disowned(): boolean {
    const error = this.#error?.error;
    return error instanceof IncarnationDeadError || error instanceof FrontierGoneError;
  }

  /** End this incarnation with an error; the loop throws the first one. */
  fail(error: unknown): void {
    this.#error ??= { error };
    this.#halted();
  }

  /** Called when the store has told the heartbeat thread that this incarnation is dead, or that the crawl is gone. */
  disown(verdict: 'dead' | 'gone'): void {
    const gone = 'the records of this crawl have vanished: somebody reset it or flushed the store';
    this.fail(
      verdict === 'dead'
        ? new IncarnationDeadError('the frontier has declared this node dead')
        : new FrontierGoneError(gone),
    );
  }

  /** Why this node should stop the loop now; null when it should not. @throws the error that ended this incarnation. */
  whyStop(): NodeEnding | null {
    if (this.#error !== null) throw this.#error.error;
    const node = this.#node;
    const { drain, force, feedsFailing, options } = node.deps;
    if (drain.aborted || force.aborted) return ending('shutdown');
    const trouble = feedsFailing(options.exitWhenDone && (this.#crawl?.idleMs ?? 0) > 0);
    if (trouble === null) {
      node.feedFailingSince = null;
      return null;
    }
    node.feedFailingSince ??= performance.now();
    const { waitTimeoutMs } = options;
    if (trouble.isFinal) return feedEnding(trouble, 0);
    if (waitTimeoutMs === 0 || performance.now() - node.feedFailingSince < waitTimeoutMs) return null;
    return feedEnding(trouble, waitTimeoutMs);
  }

  /**
   * Whether to ask for leases: when a slot is free, and otherwise once a second, since the answer also reports a stop or a
   * pause.
   */
  shouldAsk(): boolean {
    return this.#free() > 0 || performance.now() - this.#answeredAt >= MAX_WAIT_MS;
  }

  /** Lease requests for the free slots and start each page. While the store is away it tries again, until halted. */
  async leaseAndStart(): Promise<LeaseAnswer> {
    let askedAt = 0;
    const free = this.#free();
    const answer = await this.#orHalted(
      this.#node.outage.through('lease', this.halt, () => {
        askedAt = performance.now();
        return this.#node.deps.frontier.lease(free, this.slots.inFlight, this.#page.cookies.version);
      }),
    );
    this.#node.losses.hear(answer.crawl);
    this.#node.vanished.hear(answer.crawl);
    this.#node.news.hear(answer.crawl, this.view());
    this.#crawl = answer.crawl;
    this.#answeredAt = performance.now();
    if (answer.cookies !== undefined) await this.#learnCookies(answer.cookies);
    this.#idleHooks.offer(answer.crawl);
    this.#stalled.offer(answer.crawl);
    for (const lease of answer.leases) this.#start(lease, askedAt);
    return answer;
  }

  /** Before the leased pages begin: a page that a login has discovered needs its session. */
  #learnCookies(news: CookieNews): Promise<void> {
    const { outage, deps } = this.#node;
    const read: ReadCookies = (since, readAnewAt) =>
      outage.through('cookies', this.halt, () => deps.frontier.cookies(since, readAnewAt));
    return this.#orHalted(this.#page.cookies.learn(news, read));
  }

  /** Leave the crawl, if the store lets us (see `leave-finished-crawl.ts`). */
  leave(reason: string, heardWithinMs: number): Promise<Left> {
    const { outage, deps } = this.#node;
    return this.#orHalted(
      outage.through('leave', this.halt, () => deps.frontier.leave(reason, heardWithinMs)),
    );
  }

  /** What `crawlEnding` is to know of this node. */
  view(): NodeView {
    const { options, spider, crawlArguments } = this.#node.deps;
    const { found } = this.joined;
    return {
      exitWhenDone: options.exitWhenDone,
      startTimeoutMs: options.startTimeoutMs,
      waitTimeoutMs: options.waitTimeoutMs,
      maxIdleMs: options.maxIdleMs,
      joinedForMs: performance.now() - this.#joinedAt,
      worked: this.#node.tally.pages > 0 || found.pending + found.delayed + found.leased > 0,
      startedBefore: this.joined.startPushed && hasStart(spider),
      found,
      crawlArguments,
    };
  }

  /** Run `start()` of the spider beside the loop, unless another node does. Its error ends this incarnation. */
  beginStart(): void {
    void runStart(this.#context).catch((error: unknown) => this.fail(error));
  }

  /** Stop the periodic work. An intake of seeds under way ends by itself: it commits as a whole, or not at all. */
  end(): void {
    const { drain, force } = this.#node.deps;
    for (const signal of [drain, force]) signal.removeEventListener('abort', this.#onSignal);
    this.#halt.abort();
    this.upkeep.stop();
  }

  /** How many leases to ask for; none while a feed or a pipeline cannot take more items. */
  #free(): number {
    const { feedFailingSince, deps } = this.#node;
    return feedFailingSince === null && !deps.isOutboxFull() ? this.slots.free() : 0;
  }

  #haltOnSignals(): void {
    const { drain, force } = this.#node.deps;
    for (const signal of [drain, force]) {
      signal.addEventListener('abort', this.#onSignal);
      if (signal.aborted) this.#halt.abort();
    }
  }

  #start(lease: Lease, askedAt: number): void {
    this.#node.unusedSlots.note(lease.domain);
    void crawlOne(this.slots.begin(lease, askedAt), this.slots, this.#page, this.#onError);
  }

  #halted(): void {
    this.#halt.abort();
    this.#node.alarm.ring();
    setTimeout(() => this.#abandon(), HALT_MS).unref();
  }

  /**
   * A store that hangs must not delay a halt. When an abandoned call is answered later, its leases are not processed;
   * leaving returns them. (Promise.race would add a listener to the halt signal for every lease.)
   */
  #orHalted<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#abandon = () =>
        reject(new FrontierUnavailableError('the frontier did not answer before the node stopped'));
      call.then(resolve, reject);
    });
  }

  #showProgress(pagesPerSecond: number): void {
    const { deps, tally, outage } = this.#node;
    const { pages, failed, items } = tally;
    const trouble = outage.why ?? deps.feedsFailing(true)?.why ?? null;
    deps.onProgress?.({
      pages,
      pagesPerSecond,
      failed,
      items,
      inFlight: this.slots.inFlight,
      crawl: this.#crawl,
      trouble,
    });
  }
}
