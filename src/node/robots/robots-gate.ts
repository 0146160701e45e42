/**
 * Whether a leased page may be downloaded by the robots.txt of its origin.
 *
 * ```
 *   rules known to this node ──────────────────────────────► go | forbidden
 *   else the store is asked ─ rules ────────────────────────► go | forbidden
 *                            ├ wait ───────────────────────► the lease is released, its domain rests
 *                            ├ fetch ─ rules, no delay ─────► go | forbidden
 *                            │        └ else ───────────────► released: the lease was used for robots.txt
 *                            └ unreachable ─────────────────► the page fails
 * ```
 */
import type { DownloadError } from '../../downloader/download-error.js';
import { FrontierUnavailableError, messageOf } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { RobotsAnswer, RobotsClaim, RobotsResult } from '../../frontier/robots/robots-state.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { OTHER_PORT, PLAIN_HOST } from '../../http/url/host-patterns.js';
import type { Logger } from '../../log.js';
import type { Outage } from '../membership/outage.js';
import type { RobotsOptions } from '../node-options.js';
import { beginWithinMs } from '../page/judge-download.js';
import type { Flight } from '../page/leased-pages.js';
import { type FetchDeps, type FetchEnd, fetchRobots, PageCannotBeSent } from './fetch-robots.js';
import type { Known, RulesCache } from './rules-cache.js';

/** What becomes of the page. */
export type Passage =
  | { readonly kind: 'go' }
  | { readonly kind: 'forbidden' }
  /** Nothing can be said yet: release the lease. */
  | { readonly kind: 'released'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly why: string }
  /** The page cannot be sent at all. */
  | { readonly kind: 'failed'; readonly error: DownloadError };

export interface GateDeps extends Omit<FetchDeps, 'takeInstant'> {
  readonly frontier: Frontier;
  readonly options: RobotsOptions;
  readonly known: RulesCache;
  readonly outage: Outage;
  /** Aborted when the node is to stop: then it does not wait for a store that is away. */
  readonly halt: AbortSignal;
  readonly log: Logger;
}

const go: Passage = { kind: 'go' };
const waits: Passage = { kind: 'released', reason: 'robots' };

/** One for each incarnation. */
export class RobotsGate {
  readonly #deps: GateDeps;
  readonly #asking = new Map<string, Promise<RobotsAnswer>>();
  /** Origins whose robots.txt this incarnation fetches now. */
  readonly #fetching = new Set<string>();

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  /** At once where the rules are known. @throws what concerns the node, and DownloadError when the page is taken away. */
  check(flight: Flight, page: RequestRecord): Passage | Promise<Passage> {
    if (page.meta.dont_obey_robotstxt === true) return go;
    const origin = originOf(page.url);
    const known = this.#deps.known.get(origin);
    return known === null ? this.#ask(origin, flight, page) : this.#judge(known, flight, page);
  }

  #judge(known: Known, { lease }: Flight, page: RequestRecord): Passage {
    if (known.kind === 'unreachable') return known;
    const { robots, delayMs } = known;
    if (robots !== null && !isAllowed(robots, page, this.#deps.options)) return { kind: 'forbidden' };
    if (delayMs <= lease.delayMs) return go;
    // The domain does not know of the Crawl-delay yet, as one of another `download_slot`.
    this.#throttle(lease.domain, { delayMs, source: 'robots' });
    return { kind: 'released', reason: 'crawl-delay' };
  }

  async #ask(origin: string, flight: Flight, page: RequestRecord): Promise<Passage> {
    const underWay = this.#asking.get(origin);
    const { lease } = flight;
    let answer: RobotsAnswer;
    try {
      answer = await (underWay ?? this.#askStore(origin, lease.domain));
    } catch (error) {
      // The settle says that the store is away.
      if (error instanceof FrontierUnavailableError) return waits;
      throw error;
    }
    const { known } = this.#deps;
    switch (answer.kind) {
      case 'rules': {
        const { text, forMs } = answer;
        return this.#judge(known.get(origin) ?? known.keepRules(origin, text, forMs), flight, page);
      }
      case 'unreachable':
        return this.#judge(known.keepUnreachable(origin, answer.why, answer.forMs), flight, page);
      case 'wait':
        return waits;
      case 'fetch':
        return underWay === undefined ? this.#fetch(answer.claim, flight, page) : waits;
    }
  }

  async #askStore(origin: string, domain: string): Promise<RobotsAnswer> {
    const { frontier, outage, halt } = this.#deps;
    const asked = outage.through('robots', halt, () =>
      frontier.robots(origin, domain, this.#fetching.has(origin)),
    );
    this.#asking.set(origin, asked);
    try {
      const answer = await asked;
      if (answer.kind === 'fetch') this.#fetching.add(origin);
      return answer;
    } finally {
      this.#asking.delete(origin);
    }
  }

  async #fetch(claim: RobotsClaim, flight: Flight, page: RequestRecord): Promise<Passage> {
    const { origin } = claim;
    const giveBack = (): RobotsResult => ({ kind: 'later', url: claim.url, hops: claim.hops, afterMs: 0 });
    try {
      if (this.#isTooLate(flight)) {
        await this.#store(claim, { result: giveBack(), stats: {} });
        return { kind: 'released', reason: 'late' };
      }
      const end = await fetchRobots(claim, flight, page, { ...this.#deps, takeInstant: this.#takeInstant });
      return await this.#conclude(claim, end, flight, page);
    } catch (error) {
      await this.#store(claim, { result: giveBack(), stats: {} });
      if (error instanceof PageCannotBeSent) return { kind: 'failed', error: error.cause };
      if (error instanceof FrontierUnavailableError) return waits;
      throw error;
    } finally {
      this.#fetching.delete(origin);
    }
  }

  /** Tell the store and this node what came of a fetch. */
  async #conclude(claim: RobotsClaim, end: FetchEnd, flight: Flight, page: RequestRecord): Promise<Passage> {
    const { origin } = claim;
    const { known, log } = this.#deps;
    const { lease } = flight;
    if (end.pauseMs > 0) this.#throttle(lease.domain, { forMs: end.pauseMs, source: 'retry-after' });
    let { result } = end;
    let found: Known | null = null;
    if (result.kind === 'rules') {
      const rules = known.keepRules(origin, result.text, result.forMs);
      const { delayMs } = rules;
      found = rules;
      result = { ...result, delayMs };
      // Before the rules are stored, so that no node leases from the domain without the delay in between.
      if (delayMs !== claim.delayMs) this.#throttle(lease.domain, { delayMs, source: 'robots' });
    } else if (result.kind === 'failed') {
      const seconds = Math.ceil(result.afterMs / 1_000);
      log.info({ origin }, `${end.why}: the pages of ${origin} wait ${seconds} s for its robots.txt`);
    } else if (result.kind === 'unreachable') {
      found = known.keepUnreachable(origin, result.why, result.forMs);
      log.warn(
        { origin },
        `the pages of ${origin} fail, since its robots.txt cannot be fetched: ${result.why}`,
      );
    }
    const isStored = await this.#store(claim, { ...end, result });
    if (found === null || !isStored) return waits;
    const isLeaseUsed = lease.delayMs > 0 || end.pauseMs > 0;
    if (found.kind === 'rules' && isLeaseUsed) return { kind: 'released', reason: 'robots' };
    return this.#judge(found, flight, page);
  }

  /** @returns false where the claim was lost, or the store is away. */
  async #store(claim: RobotsClaim, { result, stats }: Pick<FetchEnd, 'result' | 'stats'>): Promise<boolean> {
    const { frontier, outage, halt, log } = this.#deps;
    try {
      return await outage.through('robots', halt, () => frontier.storeRobots(claim, result, stats));
    } catch (error) {
      log.debug(
        { origin: claim.origin, error: messageOf(error) },
        'the result of fetching a robots.txt could not be stored',
      );
      return false;
    }
  }

  readonly #takeInstant = (domain: string, withinMs: number): Promise<number | null> => {
    const { frontier, outage, halt } = this.#deps;
    return outage.through('takeInstant', halt, () => frontier.takeInstant(domain, withinMs));
  };

  /** As for a page: later another node might ask the domain at the same time. */
  #isTooLate({ lease, dueAt }: Flight): boolean {
    return performance.now() - dueAt > beginWithinMs(lease.delayMs);
  }

  #throttle(domain: string, change: Parameters<Frontier['throttle']>[1]): void {
    this.#deps.frontier.throttle(domain, change).catch((error: unknown) => {
      this.#deps.log.debug(
        { domain, error: messageOf(error) },
        'a delay by robots.txt could not be recorded',
      );
    });
  }
}

/** The robots.txt itself is always allowed (RFC 9309 §2.2.2). As in Scrapy a request's own User-Agent counts. */
function isAllowed(
  robots: NonNullable<Extract<Known, { kind: 'rules' }>['robots']>,
  { url, headers }: RequestRecord,
  { userAgent, defaultUserAgent }: RobotsOptions,
): boolean {
  if (robots.isAllowed(url, userAgent ?? ownUserAgent(headers) ?? defaultUserAgent)) return true;
  return new URL(url).pathname === '/robots.txt';
}

function ownUserAgent(headers: RequestRecord['headers']): string | null {
  for (const name in headers) {
    if (name.toLowerCase() === 'user-agent') return [headers[name]].flat()[0] ?? null;
  }
  return null;
}

/** An origin that needs no normalization. */
const PLAIN_ORIGIN = new RegExp(`^https?://${PLAIN_HOST}(?:${OTHER_PORT})?(?=[/?#]|$)`);

function originOf(url: string): string {
  return PLAIN_ORIGIN.exec(url)?.[0] ?? new URL(url).origin;
}
