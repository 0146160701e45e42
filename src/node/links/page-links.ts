/**
 * The links of one page: chosen by the rules of the crawl and by the cache of seen links, and converted for the frontier.
 * When they are too many for one settle, the first chunks are pushed before it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Effects,
  type Frontier,
  type FrontierRequest,
  MAX_SETTLE_BYTES,
  MAX_SETTLE_REQUESTS,
  PUSH_CHUNK,
  type PushAnswer,
  type SettleAnswer,
} from '../../frontier/frontier.js';
import type { Request } from '../../http/message/request.js';
import { isRequestModuleError } from '../../http/message/request-module.js';
import type { Response } from '../../http/message/response.js';
import type { DiscoveredRequest } from '../../spider/run-callback.js';
import type { Signals } from '../extensions/signals.js';
import type { Outage } from '../membership/outage.js';
import type { DeadEnds } from '../page/dead-ends.js';
import {
  type Counters,
  type LinkRules,
  linked,
  type Page,
  type Refusal,
  refusalOf,
  refuse,
  refusedByModule,
} from './filter-links.js';
import type { SeenLinks } from './seen-links.js';

export interface LinkDeps {
  readonly frontier: Frontier;
  readonly rules: LinkRules;
  readonly outage: Outage;
  /** The cache of seen links; null where the identity of a request does not follow from its URL. */
  readonly seen: SeenLinks | null;
  /** Receives the answers to links, which may say that some were dropped. */
  readonly onDropped: (answer: PushAnswer) => void;
  /** Receives links that the rules of the crawl refuse. */
  readonly deadEnds: DeadEnds;
  /** Null without extensions. */
  readonly signals: Signals | null;
  /** Whether other pages are in progress on this node. */
  hasOtherPages(): boolean;
}

/** The page in work that yields the links. */
export interface LinkingFlight {
  readonly signal: AbortSignal;
  closing: string | null;
  readonly response: Response | null;
}

/** What the settle of a page says of its links. */
export type SettledLinks = Pick<Effects, 'requests' | 'withheld'>;

export const noLinks: SettledLinks = { requests: [] };

/** The longest pause after a chunk that was pushed early. */
const MAX_PAUSE_MS = 200;

/** An accepted link, with its position in the page. */
interface AcceptedLink {
  readonly found: DiscoveredRequest;
  readonly ordinal: number;
}

export class PageLinks {
  readonly #page: Page;
  readonly #deps: LinkDeps;
  readonly #nowMs = Date.now();
  /** The links that the settle will carry, in the order of the page, as requests of the frontier. */
  #sent: AcceptedLink[] = [];
  #requests: FrontierRequest[] = [];
  /** Characters of their records. */
  #requestChars = 0;
  #discovered: readonly DiscoveredRequest[] = [];
  /** Places in the page of the others. */
  #withheld: number[] = [];
  #epoch: string | null = null;
  /** Requests that carry items of the page: never withheld, never pushed early. */
  #carriers: readonly FrontierRequest[] = [];
  #hasPushed = false;
  /** When the links were judged; their settle is sent later. */
  #beganMs = 0;
  #workingSinceMs = 0;

  constructor(page: Page, deps: LinkDeps) {
    this.#page = page;
    this.#deps = deps;
  }

  /**
   * Filter the links of the page; refused ones are counted.
   * @param flight when it ends, attempts to push early end too.
   * @throws InvalidRequestError for a request that cannot be stored; errors of the frontier.
   */
  async take(
    discovered: readonly DiscoveredRequest[],
    counters: Counters,
    flight: LinkingFlight,
  ): Promise<SettledLinks> {
    const { rules, seen } = this.#deps;
    const depth = this.#page.record.depth + 1;
    this.#beganMs = performance.now();
    seen?.age(this.#beganMs);
    this.#epoch = seen?.epoch ?? null;
    this.#discovered = discovered;
    this.#workingSinceMs = this.#beganMs;
    for (let ordinal = 0; ordinal < discovered.length; ordinal++) {
      const found = discovered[ordinal]!;
      const refusal = refusalOf(found.request, depth, rules);
      if (refusal !== null) {
        await this.#refused(refusal, found.request.url, counters, flight);
        continue;
      }
      // A page that started before the cache had an epoch sends all its links, since it has no epoch to name.
      if (this.#epoch !== null && seen?.has(found.request)) this.#withheld.push(ordinal);
      else {
        if (this.#isFull) await this.#pushEarly(flight.signal);
        const problem = this.#send({ found, ordinal });
        if (problem !== null)
          await this.#refused(refusedByModule(problem), found.request.url, counters, flight);
      }
    }
    return this.#settled();
  }

  /** Add requests that carry items; they are settled together with the links. */
  carry(carriers: readonly FrontierRequest[]): SettledLinks {
    this.#carriers = carriers;
    return this.#settled();
  }

  /** The store has another epoch: send all links, and forget the cache. */
  async takeWithheld(stop: AbortSignal): Promise<SettledLinks> {
    if (this.#epoch !== null) this.#deps.seen?.forget(this.#epoch);
    const withheld = this.#withheld.map((ordinal) => ({ found: this.#discovered[ordinal]!, ordinal }));
    const all = [...this.#sent, ...withheld].sort((a, b) => a.ordinal - b.ordinal);
    this.#sent = [];
    this.#requests = [];
    this.#requestChars = 0;
    this.#withheld = [];
    for (const link of all) {
      if (this.#isFull) await this.#pushEarly(stop);
      this.#send(link);
    }
    return this.#settled();
  }

  /** Whether an accepted link passes the test; true when some were pushed early. */
  some(test: (request: Request) => boolean): boolean {
    if (this.#hasPushed || this.#sent.some(({ found }) => test(found.request))) return true;
    return this.#withheld.some((ordinal) => test(this.#discovered[ordinal]!.request));
  }

  /** Called after the settle has committed: its links are added to the cache. */
  learn({ epoch, allSeen }: Extract<SettleAnswer, { committed: true }>): void {
    if (!allSeen) return;
    this.#deps.seen?.learn(this.#sent, epoch, { sentMs: this.#beganMs, nowMs: performance.now() });
  }

  /** @returns why REQUEST_MODULE refuses the link; null when it accepts it. */
  #send(taken: AcceptedLink): string | null {
    try {
      const request = linked(taken.found, taken.ordinal, this.#page, this.#deps.rules, this.#nowMs);
      this.#requests.push(request);
      this.#requestChars += request.record.length;
    } catch (error) {
      if (isRequestModuleError(error)) return error.message;
      throw error;
    }
    this.#sent.push(taken);
    return null;
  }

  async #refused(refusal: Refusal, url: string, counters: Counters, flight: LinkingFlight): Promise<void> {
    const { deadEnds, signals } = this.#deps;
    refuse(refusal, url, counters, deadEnds);
    await signals?.ofPage('requestDropped', { url, reason: refusal.what }, { counters, flight });
  }

  /**
   * Push one chunk. So of a page with a million links, only those of the settle are held in stored form at once. Links that
   * were pushed early stay accepted even if the lease is lost: the page is then processed again, and its links are
   * duplicates.
   * A chunk takes the main thread for tens of ms, so the other pages get as much time before the next one: they would
   * otherwise wait for a chunk at each of their steps.
   */
  async #pushEarly(stop: AbortSignal): Promise<void> {
    const { frontier, outage, onDropped } = this.#deps;
    const chunk = this.#requests.slice(0, PUSH_CHUNK);
    this.#hasPushed = true;
    const page = this.#page.id;
    onDropped(await outage.through('push', stop, () => frontier.push(chunk, 'links', { page })));
    this.#requests = this.#requests.slice(PUSH_CHUNK);
    this.#requestChars = charsOf(this.#requests);
    this.#sent = this.#sent.slice(PUSH_CHUNK);
    if (this.#deps.hasOtherPages()) {
      const pauseMs = Math.min(performance.now() - this.#workingSinceMs, MAX_PAUSE_MS);
      await sleep(pauseMs, undefined, { signal: stop }).catch(() => {});
    }
    this.#workingSinceMs = performance.now();
  }

  /** Whether the settle can carry no more links: by their number, or where each carries a large text in its meta. */
  get #isFull(): boolean {
    return this.#requests.length === MAX_SETTLE_REQUESTS || this.#requestChars > MAX_SETTLE_BYTES;
  }

  #settled(): SettledLinks {
    const requests = this.#carriers.length === 0 ? this.#requests : [...this.#requests, ...this.#carriers];
    const count = this.#withheld.length;
    if (count === 0 || this.#epoch === null) return { requests };
    return { requests, withheld: { count, epoch: this.#epoch } };
  }
}

const charsOf = (requests: readonly FrontierRequest[]): number =>
  requests.reduce((sum, { record }) => sum + record.length, 0);
