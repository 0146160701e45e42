/**
 * The pages this node has leased, from lease to settle. Each lease is ended here once, by whichever comes first: the page
 * itself, the drain that returns it, or the news that it is no longer this node's.
 *
 * ```
 *   begin ──► in flight ──── settle ────► settling ──► gone (committed, or lost)
 *                 └───────── drop ──────► gone (the store has given it to another node)
 * ```
 *
 * A slot is free as soon as its settle is sent. The next lease call follows on the same connection, and sees the effects
 * of the settle. A page whose download stalls waits on without a slot, so that
 * servers that hang do not stop the node.
 */
import { CrawlnodeError, FrontierUnavailableError } from '../../errors.js';
import { type Effects, type Lease, noEffects, type Outcome } from '../../frontier/frontier.js';
import type { PageLinks } from '../links/page-links.js';
import type { IncarnationContext } from '../membership/incarnation-parts.js';
import type { Tally } from '../telemetry/node-telemetry.js';
import { Flight } from './flight.js';

/**
 * How many stalled requests may wait beside the slots, as a multiple of the concurrency. Each holds a socket and a lease.
 */
const STALLED_PER_SLOT = 4;

export class Slots {
  readonly #context: IncarnationContext;
  readonly #inFlight = new Set<Flight>();
  readonly #settling = new Map<Flight, Promise<void>>();
  readonly #giveUp = new AbortController();
  #ended = 0;
  readonly #onStall = (): void => this.#context.node.alarm.ring();

  constructor(context: IncarnationContext) {
    this.#context = context;
  }

  /** Pages in progress, those included whose download stalls. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Pages that have come to their ends since this incarnation began. */
  get ended(): number {
    return this.#ended;
  }

  /** Slots in use. A page whose download stalls has none, nor one that was received and waits, up to as many as there are slots. */
  get used(): number {
    let [active, received] = [0, 0];
    for (const flight of this.#inFlight) {
      if (flight.isReceived) received++;
      else if (!flight.isStalled) active++;
    }
    return active + Math.max(0, received - this.#concurrency);
  }

  /** The lease that this node holds for longest. */
  get oldest(): { readonly ms: number; readonly domain: string } | null {
    const [oldest] = this.#inFlight;
    return oldest === undefined
      ? null
      : { ms: performance.now() - oldest.leasedAt, domain: oldest.lease.domain };
  }

  get settling(): number {
    return this.#settling.size;
  }

  /**
   * How many leases to ask for. None while settles of twice the concurrency are unanswered, so that results do not pile up while
   * the store is away.
   */
  free(): number {
    const concurrency = this.#concurrency;
    if (this.#settling.size >= 2 * concurrency) return 0;
    return Math.max(0, concurrency - this.used);
  }

  begin(lease: Lease, askedAt: number): Flight {
    const flight = new Flight(lease, askedAt, this.#onStall);
    this.#inFlight.add(flight);
    if (this.#inFlight.size > this.#maxStalled) this.#endOldestStalled();
    return flight;
  }

  /**
   * Send the settle of a page and free its slot; the answer is handled asynchronously. @param links informed of the answer.
   */
  settle(flight: Flight, outcome: Outcome, effects: Effects, links?: PageLinks): void {
    if (flight.over) return;
    flight.over = true;
    this.#ended += 1;
    const all = withOwn(flight, outcome, effects);
    // A body that is kept until the settle is answered costs memory and garbage collection.
    if (this.#context.node.deps.onItems === undefined) flight.response = null;
    this.#inFlight.delete(flight);
    this.#settling.set(flight, this.#send(flight, outcome, all, links));
    this.#context.node.alarm.ring();
  }

  /** Resolves when every settle issued so far is answered or given up. */
  async settled(): Promise<void> {
    await Promise.all(this.#settling.values());
  }

  /** All leases this node may hold in the store: also those whose settle has not been answered yet. */
  held(): Lease[] {
    return [...this.#inFlight, ...this.#settling.keys()].map((flight) => flight.lease);
  }

  /**
   * The store does not have these leases any more: stop the work, settle nothing. A lease whose settle is still unanswered
   * may be among them. @returns how many were in progress
   */
  drop(ids: readonly string[]): number {
    if (ids.length === 0) return 0;
    const lost = new Set(ids);
    const dropped = [...this.#inFlight].filter((flight) => lost.has(flight.lease.id));
    for (const flight of dropped) this.#drop(flight);
    if (dropped.length > 0) this.#context.node.alarm.ring();
    return dropped.length;
  }

  /** This incarnation is dead: other nodes get what was in progress. */
  dropAll(): void {
    this.#giveUp.abort();
    for (const flight of this.#inFlight) this.#drop(flight);
  }

  /** Give back what is in progress, uncounted. */
  releaseAll(reason: string): void {
    for (const flight of [...this.#inFlight]) {
      this.settle(flight, { kind: 'released', reason, unstarted: !flight.started }, noEffects);
      flight.abort();
    }
  }

  /** Stop repeating settles that the store does not answer. */
  giveUp(): void {
    this.#giveUp.abort();
  }

  get #concurrency(): number {
    return this.#context.node.deps.options.concurrency;
  }

  get #maxStalled(): number {
    return STALLED_PER_SLOT * this.#concurrency;
  }

  #endOldestStalled(): void {
    const stalled = [...this.#inFlight].filter((flight) => flight.isStalled);
    for (const oldest of stalled.slice(0, Math.max(0, stalled.length - this.#maxStalled))) {
      oldest.timeOut(`nothing came, and more than ${this.#maxStalled} newer requests wait likewise`);
    }
  }

  #drop(flight: Flight): void {
    flight.over = true;
    if (flight.stats !== null) flight.stats.isOver = true;
    this.#inFlight.delete(flight);
    flight.abort();
  }

  async #send(flight: Flight, outcome: Outcome, effects: Effects, links?: PageLinks): Promise<void> {
    const { node, onError } = this.#context;
    const { frontier, log, onItems } = node.deps;
    const stop = this.#giveUp.signal;
    const settle = (all: Effects) =>
      node.outage.through('settle', stop, () => frontier.settle(flight.lease, outcome, all));
    try {
      let answer = await settle(effects);
      if (!answer.committed && answer.resend && links !== undefined) {
        const { withheld: _, ...all } = effects;
        answer = await settle({ ...all, ...(await links.takeWithheld(stop)) });
      }
      if (answer.committed) {
        count(node.tally, outcome, effects);
        node.notePage(flight.lease.domain, outcome, effects);
        if (effects.feedItems.length > 0) onItems?.(effects.feedItems, flight.response);
        links?.learn(answer);
        if (answer.dropped !== undefined || answer.trapped !== undefined) node.droppedLinks.hear(answer);
      } else {
        const why = answer.closed
          ? 'a page came after the last item of this run; it is given back to the next one'
          : 'the lease of a page was lost before it was settled; nothing was written';
        log.debug({ id: flight.lease.id }, why);
      }
    } catch (error) {
      if (error instanceof FrontierUnavailableError) {
        log.debug(
          { id: flight.lease.id, error: error.message },
          'a page could not be settled; other nodes will recover it',
        );
      } else {
        onError(
          error instanceof CrawlnodeError ? error : new Error('settling a page failed', { cause: error }),
        );
      }
    } finally {
      // Only a loop that waits because of too many unanswered settles needs this. Ringing every time would cost one more
      // lease call per page.
      if (this.#settling.size >= 2 * this.#concurrency) node.alarm.ring();
      this.#settling.delete(flight);
    }
  }
}

/** Add the page's changes of cookies, and of the project's stats, unless its request returns to the queue. */
function withOwn({ cookies, stats, closing }: Flight, { kind }: Outcome, effects: Effects): Effects {
  const changes = cookies?.changes() ?? [];
  if (stats !== null) stats.isOver = true;
  const custom =
    stats === null || stats.isEmpty || kind === 'retry' || kind === 'released' ? [] : stats.take();
  if (changes.length === 0 && custom.length === 0 && closing === null) return effects;
  return {
    ...effects,
    ...(changes.length > 0 && { cookies: changes }),
    ...(custom.length > 0 && { custom }),
    ...(closing !== null && { closing }),
  };
}

function count(tally: Tally, outcome: Outcome, effects: Effects): void {
  if (outcome.kind === 'done' || outcome.kind === 'failed') tally.pages++;
  if (outcome.kind === 'failed') tally.failed++;
  tally.items += effects.stats.item_scraped_count ?? 0;
}
