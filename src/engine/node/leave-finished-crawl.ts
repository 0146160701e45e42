/**
 * Leaving a finished crawl that does not persist. Its last node clears it, in the step that deregisters it; a node that
 * was killed a moment ago is registered still, and would leave the crawl's keys behind for good. So of the nodes that live
 * the last one stays until the others count as dead, and looks for work meanwhile.
 *
 * ```
 *   finished ──► leave ──► left
 *      ▲           └─────► only silent nodes beside us ── a moment ──► asks again, while it is finished
 *      └── work again, or the other lives: forgotten
 * ```
 *
 * Two that live do not wait for each other: who stays is heard of, and the first that hears of another goes. Only the
 * store can judge, within the leave: two that each looked first could both go, trusting the other.
 *
 * Nor does a node leave before all that were started with it have joined, where one that came later would begin the crawl
 * again: it would find nothing of it, or flush what it finds.
 *
 * Rejected: to clear at once whatever the silent ones hold, since nothing is lost with it. One that was paused for a few
 * seconds, or is between two heartbeats, would find its crawl gone and end with 1; NODE_TIMEOUT is what users set for that.
 */
import type { Silence } from '../../frontier/frontier.js';
import type { Incarnation } from './incarnation.js';
import type { Ending } from './node-endings.js';
import type { NodeState } from './node-state.js';

/** A node that lives asks for work, and is heard of, within a second: so long we ask often, then seldom. */
const SOON_MS = 1_000;
const SOON_EVERY_MS = 50;
const LATER_EVERY_MS = 1_000;
/** An older sign of life says little; more than the time between two looks. */
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

  /** How long to stay before the next try; null when nothing is waited for. */
  get waitMs(): number | null {
    return this.#waitMs;
  }

  /** @param end what the crawl's state says. @returns the same once nothing holds this node; it may have left then. */
  async judge(end: Ending | null): Promise<Ending | null> {
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

  /** For NODE_TIMEOUT at most: one that hangs as it starts is nothing to wait for. */
  #awaitsSibling({ reason }: Ending): boolean {
    const { siblings, options } = this.#node.deps;
    const beginsAgain = !options.shape.persist || options.flushOnStart;
    if (reason !== 'finished' || !beginsAgain || siblings?.missing() !== true) return false;
    this.#missingSince ??= performance.now();
    return performance.now() - this.#missingSince < options.tunables.nodeTimeoutMs;
  }

  /** A crawl ended by budget or stop is kept, so nobody need be the last. */
  #mayClear({ reason }: Ending): boolean {
    return reason === 'finished' && !this.#node.deps.options.shape.persist;
  }

  async #leave(end: Ending): Promise<Ending | null> {
    const now = performance.now();
    this.#since ??= now;
    const waitedMs = now - this.#since;
    // Before the crawl may be cleared.
    const { outage } = this.#node;
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

  /** Once: a node that lives would have been heard of by now. */
  #say({ incarnations, forMs }: Silence): void {
    if (this.#hasSaid) return;
    this.#hasSaid = true;
    const named = incarnations.slice(0, MAX_NAMED).join(', ');
    const nodes = incarnations.length > MAX_NAMED ? `${named} and others` : named;
    this.#node.deps.log.info(
      { silent: incarnations.length, forMs },
      `the crawl is over, but nothing is heard of ${nodes}: this node stays until they count as dead, ` +
        `${Math.ceil(forMs / 1_000)} s at most (NODE_TIMEOUT), to leave last and clear the crawl (SCHEDULER_PERSIST false)`,
    );
  }
}
