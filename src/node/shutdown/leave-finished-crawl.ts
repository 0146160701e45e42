/**
 * Leaving a finished crawl under SCHEDULER_PERSIST false. The last node clears the crawl in the same step in which it
 * deregisters. A node that was killed a moment ago is still registered, so nobody would be the last, and the keys would
 * stay for good. Therefore the last live node stays until the silent ones count as dead, and looks for work meanwhile.
 *
 * ```
 *   finished ──► leave ──► left
 *      ▲           └─────► only silent nodes beside us ── a moment ──► asks again, while it is finished
 *      └── work again, or the other lives: forgotten
 * ```
 *
 * Two live nodes do not wait for each other: a node that stays gives a sign of life, and a node that sees one leaves. The
 * store decides this within the leave. If each node looked first, both could leave, each relying on the other.
 *
 * A node also waits until all nodes of its command (`--workers`) have joined: one that joined a cleared crawl would crawl
 * it again, and one that came after a CloseSpider would begin another run.
 *
 * Rejected: clearing at once. A node that was only paused for a few seconds, or is between two heartbeats, would find its
 * crawl gone and exit with 1. How long to wait is what NODE_TIMEOUT is for.
 */
import type { Silence } from '../../frontier/frontier.js';
import type { Incarnation } from '../membership/incarnation.js';
import type { NodeState } from '../membership/node-state.js';
import type { NodeEnding } from './node-stop-reason.js';

/** A live node is noticed within a second. During it the leave is tried often, later seldom. */
const SOON_MS = 1_000;
const SOON_EVERY_MS = 50;
const LATER_EVERY_MS = 1_000;
/** The oldest sign of life that counts; longer than the time between two tries. */
const MAX_HEARD_WITHIN_MS = 2_000;
const MAX_NAMED = 5;

export class Parting {
  readonly #node: NodeState;
  readonly #self: Incarnation;
  /** When this node first wanted to leave; null while it does not. */
  #since: number | null = null;
  #waitMs: number | null = null;
  /** When it first saw the crawl finished while a sibling had yet to join. */
  #missingSince: number | null = null;
  #hasSaid = false;

  constructor(node: NodeState, self: Incarnation) {
    this.#node = node;
    this.#self = self;
  }

  /** How long to wait before the next try; null when this node waits for nothing. */
  get waitMs(): number | null {
    return this.#waitMs;
  }

  /** @param end how the crawl ends by its state. @returns the same once this node may leave; it may have left by then. */
  async judge(end: NodeEnding | null): Promise<NodeEnding | null> {
    this.#waitMs = null;
    if (end === null) this.#since = null;
    if (end !== null && this.#awaitsSibling(end)) {
      this.#waitMs = SOON_EVERY_MS;
      return null;
    }
    if (end === null || !this.#mayClear(end)) return end;
    await this.#self.slots.settled();
    if (this.#self.slots.inFlight > 0) return end;
    return this.#leave(end);
  }

  /** At most for NODE_TIMEOUT, in case a sibling hangs while it starts. */
  #awaitsSibling({ reason }: NodeEnding): boolean {
    const { siblings, options } = this.#node.deps;
    const beginsAgain =
      reason === 'finished' ? !options.shape.persist || options.flushOnStart : this.#self.isClosedByCode;
    if (!beginsAgain || siblings?.missing() !== true) return false;
    this.#missingSince ??= performance.now();
    return performance.now() - this.#missingSince < options.tunables.nodeTimeoutMs;
  }

  /** A crawl that was ended by a budget or a stop is kept, so nobody needs to be the last. */
  #mayClear({ reason }: NodeEnding): boolean {
    return reason === 'finished' && !this.#node.deps.options.shape.persist;
  }

  async #leave(end: NodeEnding): Promise<NodeEnding | null> {
    const now = performance.now();
    this.#since ??= now;
    const waitedMs = now - this.#since;
    // Before the crawl may be cleared.
    const { outage } = this.#node;
    const { slots, joined } = this.#self;
    await this.#node.reportRest(slots, joined.incarnation);
    await outage.through('leave', this.#self.halt, () => this.#node.readFinalTotals(end.reason, () => 0));
    const { awaits, last, cleared } = await this.#self.leave(
      end.reason,
      Math.min(waitedMs, MAX_HEARD_WITHIN_MS),
    );
    if (awaits === undefined) {
      this.#node.deps.log.debug({ last, cleared }, 'left the crawl');
      if (last) this.#node.noteLast();
      return { ...end, leave: false };
    }
    if (waitedMs >= SOON_MS) this.#say(awaits);
    this.#waitMs = Math.max(1, Math.min(waitedMs < SOON_MS ? SOON_EVERY_MS : LATER_EVERY_MS, awaits.forMs));
    return null;
  }

  /** Logged once, after the time in which a live node would have been noticed. */
  #say({ incarnations, forMs }: Silence): void {
    if (this.#hasSaid) return;
    this.#hasSaid = true;
    const named = incarnations.slice(0, MAX_NAMED).join(', ');
    const nodes = incarnations.length > MAX_NAMED ? `${named} and others` : named;
    this.#node.deps.log.info(
      { silent: incarnations.length, forMs },
      `the crawl is over, but ${nodes} did not leave and send no heartbeat: this node stays until they count as dead, ` +
        `${Math.ceil(forMs / 1_000)} s at most (NODE_TIMEOUT), and then clears the crawl (SCHEDULER_PERSIST false)`,
    );
  }
}
