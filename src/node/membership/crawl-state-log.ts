/** Logs the state of the crawl while it runs: paused, continued, waiting for the first seed, nothing left to crawl. */
import { howMany, n } from '../../format-amounts.js';
import type { CrawlState, Snapshot } from '../../frontier/frontier.js';
import type { NodeDeps } from '../node-options.js';
import type { NodeView } from '../shutdown/node-stop-reason.js';

/** A service that gets one seed at a time has nothing left after each. It logs this at most this often. */
const DRY_AGAIN_MS = 10_000;
/** A smaller step of the store's clock needs no word. */
const TOLD_FROM_MS = 2_000;

export class CrawlStateLog {
  readonly #deps: NodeDeps;
  #control: CrawlState['control'] = 'running';
  /** Since when there has been something to do. */
  #busySince = performance.now();
  #isDry = false;
  /** Whether the user has been told that nothing is left to crawl, or that nothing has begun. */
  #hasSaidDry = false;
  #saidDryAt = Number.NEGATIVE_INFINITY;
  #hasSaidWaiting = false;
  /** By how much the store's clock was behind when the user was told. */
  #toldAheadMs = 0;

  constructor(deps: NodeDeps) {
    this.#deps = deps;
  }

  /** Called with every answer of the store. */
  hear(crawl: CrawlState, view: NodeView): void {
    for (const notice of crawl.notices ?? []) this.#deps.log.warn({}, notice);
    this.#hearControl(crawl);
    this.#hearClock(crawl);
    if (this.#deps.options.exitWhenDone) this.#hearFirstSeedAwaited(crawl, view);
    else this.#hearDry(crawl, view);
  }

  /** Another message has told the user that there is nothing to do. */
  noteSaidDry(): void {
    this.#isDry = true;
    this.#hasSaidDry = true;
  }

  /** Without this, a node of a paused crawl would wait in silence. */
  #hearControl({ control }: CrawlState): void {
    const before = this.#control;
    const { log, crawlArguments } = this.#deps;
    this.#control = control;
    if (control === 'paused' && before !== 'paused') {
      log.info({}, `the crawl is paused; "crawlnode resume ${crawlArguments}" continues it`);
    } else if (control === 'running' && before === 'paused') log.info({}, 'the crawl was resumed');
  }

  /** Once for each step; the offset only shrinks in between. */
  #hearClock({ clockAheadMs }: CrawlState): void {
    if (clockAheadMs < this.#toldAheadMs + TOLD_FROM_MS) return;
    this.#toldAheadMs = clockAheadMs;
    this.#deps.log.warn(
      { byMs: clockAheadMs },
      `the clock of the store is ${Math.round(clockAheadMs / 1_000)} s behind what it was: it was set back, or another server took over; delays, retries and heartbeats go on, by the crawl's own clock`,
    );
  }

  #hearFirstSeedAwaited({ finished, acceptedInRun }: CrawlState, view: NodeView): void {
    if (this.#hasSaidWaiting || !finished || acceptedInRun > 0 || view.worked || view.startedBefore) return;
    this.#hasSaidWaiting = true;
    const seconds = view.startTimeoutMs / 1_000;
    this.#deps.log.info(
      {},
      `nothing is pending yet: this node waits up to ${seconds} s for a first seed (START_TIMEOUT)`,
    );
  }

  /** Without this, a service that has finished its work would seem to hang. */
  #hearDry({ finished }: CrawlState, { worked }: NodeView): void {
    const now = performance.now();
    if (!finished) {
      if (this.#isDry) this.#busySince = now;
      this.#isDry = false;
      return;
    }
    if (!this.#isDry) {
      this.#isDry = true;
      this.#hasSaidDry = false;
    }
    if (this.#hasSaidDry || now - this.#saidDryAt < DRY_AGAIN_MS) return;
    this.#hasSaidDry = true;
    if (!worked) {
      this.#deps.log.info({}, `nothing is left to crawl; ${this.#waitsForSeeds()}`);
      return;
    }
    const isFirst = this.#saidDryAt === Number.NEGATIVE_INFINITY;
    this.#saidDryAt = now;
    void this.#sayDry(now - this.#busySince, isFirst ? this.#waitsForSeeds() : 'this node waits for seeds');
  }

  #waitsForSeeds(): string {
    const seed = `"crawlnode seed ${this.#deps.crawlArguments} URL"`;
    return `this node waits for seeds (${seed}), and --exit-when-done would leave`;
  }

  async #sayDry(busyMs: number, what: string): Promise<void> {
    const { frontier, log } = this.#deps;
    // The main loop reports a store that is away.
    const snapshot = await frontier.snapshot().catch(() => null);
    const seconds = `${(busyMs / 1_000).toFixed(1)} s`;
    if (snapshot === null) {
      log.info({ busyMs: Math.round(busyMs) }, `nothing is left to crawl, after ${seconds}; ${what}`);
      return;
    }
    const totals = totalsOf(snapshot);
    const { pages, items, failed } = totals;
    const lost = snapshot.lost === 0 ? '' : `, ${n(snapshot.lost)} lost`;
    log.info(
      { ...totals, busyMs: Math.round(busyMs) },
      `nothing is left to crawl, after ${seconds}: ${howMany(pages, 'page')}, ${howMany(items, 'item')}, ${n(failed)} failed${lost} in the whole crawl; ${what}`,
    );
  }
}

function totalsOf({ done, failed, items, counters }: Snapshot) {
  return { pages: done + failed, items: counters.item_scraped_count ?? items, failed };
}
