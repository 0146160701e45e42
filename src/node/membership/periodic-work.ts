/**
 * Periodic work of a node, on one timer: record progress for the heartbeat thread, recover the requests of dead nodes,
 * and compare this node's leases with the store's (reconcile).
 */
import { FrontierUnavailableError } from '../../errors.js';
import type { CrashedRequest } from '../../frontier/frontier.js';
import { decodeRecord } from '../../http/message/record/request-codec.js';
import type { Slots } from '../page/leased-pages.js';
import type { IncarnationContext } from './incarnation-parts.js';

const MAX_TICK_MS = 1_000;
/** The weight of the last second in the displayed rate. */
const RATE_WEIGHT = 0.3;

export class Upkeep {
  readonly #context: IncarnationContext;
  readonly #slots: Slots;
  readonly #onTick: (pagesPerSecond: number) => void;
  readonly #timer: NodeJS.Timeout;
  #recoverAt = 0;
  #reconcileAt: number;
  #recovering = false;
  #rate = 0;
  #lastTick = performance.now();
  #lastPages: number;

  constructor(context: IncarnationContext, slots: Slots, onTick: (pagesPerSecond: number) => void) {
    this.#context = context;
    this.#slots = slots;
    this.#onTick = onTick;
    const { heartbeatMs } = context.node.deps.options;
    this.#lastPages = context.node.tally.pages;
    this.#reconcileAt = this.#lastTick + heartbeatMs;
    this.#timer = setInterval(() => this.#tick(), Math.min(MAX_TICK_MS, heartbeatMs));
    // The first tick runs at once, so that a crawl whose nodes were all killed recovers their leases immediately.
    this.#tick();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Compare the leases with the store's when it is time to. The loop calls this between lease calls: leases of a call in
   * progress would seem lost.
   */
  reconcileWhenDue(): void {
    const now = performance.now();
    if (now < this.#reconcileAt) return;
    this.#reconcileAt = now + this.#context.node.deps.options.heartbeatMs;
    void this.#beside(() => this.#reconcile());
  }

  #tick(): void {
    const { pulse, tally, alarm, deps } = this.#context.node;
    const now = performance.now();
    const elapsedMs = now - this.#lastTick;
    if (elapsedMs > 0) {
      const rate = ((tally.pages - this.#lastPages) * 1_000) / elapsedMs;
      this.#rate += (rate - this.#rate) * RATE_WEIGHT;
    }
    this.#lastTick = now;
    this.#lastPages = tally.pages;
    pulse.note(this.#rate);
    this.#onTick(this.#rate);

    if (now >= this.#recoverAt && !this.#recovering) {
      const everyMs = Math.max(1_000, deps.options.tunables.nodeTimeoutMs / 3);
      this.#recoverAt = now + everyMs * (0.75 + 0.5 * Math.random());
      void this.#recover();
    }
    if (now >= this.#reconcileAt) alarm.ring();
  }

  async #recover(): Promise<void> {
    const { deps, alarm, deadEnds } = this.#context.node;
    const { frontier, log, crawlArguments, options } = deps;
    this.#recovering = true;
    await this.#beside(async () => {
      const onDead = (deadNode: string, requests: number) => {
        const were = requests === 1 ? '1 request goes' : `${requests} requests go`;
        const work = requests === 0 ? 'it had nothing in progress' : `${were} back to the queue`;
        log.warn({ deadNode, requests }, `the node ${deadNode} counts as dead: ${work}`);
      };
      const onFailed = ({ record, crashes }: CrashedRequest) => {
        const url = record === null ? null : decodeRecord(record).url;
        const why = `${crashes} nodes died while they processed it`;
        const until = options.shape.persist
          ? ''
          : ' until the finished crawl is cleared (SCHEDULER_PERSIST false)';
        const retry = `"crawlnode failed ${crawlArguments} retry --reason crashed" tries it again${until}`;
        log.error({ url, reason: 'crashed' }, `gave up on ${url ?? 'a page'}: ${why}; ${retry}`);
        deadEnds.note('given up as crashed', url ?? 'a page');
      };
      const moved = await frontier.recover(onDead, onFailed);
      if (moved > 0) alarm.ring();
    });
    this.#recovering = false;
  }

  async #reconcile(): Promise<void> {
    const { frontier, options, log } = this.#context.node.deps;
    const { lost, returned } = await frontier.reconcile(this.#slots.held(), 2 * options.heartbeatMs);
    const dropped = this.#slots.drop(lost);
    if (dropped > 0 || returned > 0) {
      log.info(
        { dropped, returned },
        'differences between the leases of this node and of the frontier were corrected',
      );
    }
  }

  /** The loop reports a store that is away; here the next tick tries again. */
  async #beside(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof FrontierUnavailableError)) this.#context.onError(error);
    }
  }
}
