/**
 * Whether a leased page may be downloaded by the robots.txt of its origin.
 *
 * ```
 *   rules in this node's cache ────────────────────────────► go | forbidden
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
import type { Flight } from '../page/flight.js';
import { type FetchDeps, type FetchEnd, fetchRobots, PageCannotBeSent } from './fetch-robots.js';
import type { OriginRules, RulesCache } from './rules-cache.js';

/** What becomes of the page. */
export type Passage =
  | { readonly kind: 'go' }
  | { readonly kind: 'forbidden' }
  /** Not decided yet: release the lease. */
  | { readonly kind: 'released'; readonly reason: string }
  | Extract<OriginRules, { kind: 'unreachable' }>
  /** The page cannot be sent at all. */
  | { readonly kind: 'failed'; readonly error: DownloadError };

export interface GateDeps extends Omit<FetchDeps, 'takeInstant'> {
  readonly frontier: Frontier;
  readonly options: RobotsOptions;
  readonly rulesCache: RulesCache;
  readonly outage: Outage;
  /** Aborted when the node is to stop: it then stops waiting for a store that is away. */
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

  /** Synchronous when the rules are cached. @throws errors that concern the node; DownloadError when the page is taken from this node. */
  check(flight: Flight, page: RequestRecord): Passage | Promise<Passage> {
    if (page.meta.dont_obey_robotstxt === true) return go;
    const origin = originOf(page.url);
    const cached = this.#deps.rulesCache.get(origin);
    return cached === null ? this.#ask(origin, flight, page) : this.#judge(cached, flight, page);
  }

  #judge(rules: OriginRules, { lease }: Flight, page: RequestRecord): Passage {
    if (rules.kind === 'unreachable') return rules;
    const { robots, delayMs } = rules;
    if (robots !== null && !isAllowed(robots, page, this.#deps.options)) return { kind: 'forbidden' };
    if (delayMs <= lease.delayMs) return go;
    // The store does not have the Crawl-delay for this domain yet: `meta.download_slot` may give an origin several domains.
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
      // The settle of the page reports that the store is away.
      if (error instanceof FrontierUnavailableError) return waits;
      throw error;
    }
    const { rulesCache } = this.#deps;
    switch (answer.kind) {
      case 'rules': {
        const { text, forMs } = answer;
        return this.#judge(rulesCache.get(origin) ?? rulesCache.addRules(origin, text, forMs), flight, page);
      }
      case 'unreachable':
        return this.#judge(rulesCache.addUnreachable(origin, answer), flight, page);
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
      // The request for a robots.txt uses the lease of its page.
      if (performance.now() > flight.beginByMs) {
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

  /** Record the result of a fetch in the store and in this node's cache. */
  async #conclude(claim: RobotsClaim, end: FetchEnd, flight: Flight, page: RequestRecord): Promise<Passage> {
    const { origin } = claim;
    const { rulesCache, log } = this.#deps;
    const { lease } = flight;
    if (end.pauseMs > 0) this.#throttle(lease.domain, { forMs: end.pauseMs, source: 'retry-after' });
    let { result } = end;
    let found: OriginRules | null = null;
    if (result.kind === 'rules') {
      const rules = rulesCache.addRules(origin, result.text, result.forMs);
      const { delayMs } = rules;
      found = rules;
      result = { ...result, delayMs };
      // Before the rules are stored, so that no node leases from the domain without the delay in between.
      if (delayMs !== claim.delayMs) this.#throttle(lease.domain, { delayMs, source: 'robots' });
    } else if (result.kind === 'failed') {
      const seconds = Math.ceil(result.afterMs / 1_000);
      log.info({ origin }, `${end.why}: the pages of ${origin} wait ${seconds} s for its robots.txt`);
    } else if (result.kind === 'unreachable') {
      found = rulesCache.addUnreachable(origin, result);
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

  #throttle(domain: string, change: Parameters<Frontier['throttle']>[1]): void {
    this.#deps.frontier.throttle(domain, change).catch((error: unknown) => {
      this.#deps.log.debug(
        { domain, error: messageOf(error) },
        'a delay by robots.txt could not be recorded',
      );
    });
  }
}

/** The robots.txt itself is always allowed (RFC 9309 §2.2.2). The User-Agent of the request counts, as in Scrapy. */
function isAllowed(
  robots: NonNullable<Extract<OriginRules, { kind: 'rules' }>['robots']>,
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
