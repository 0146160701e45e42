/**
 * Fetch a robots.txt within the lease of a page of its origin:
 * its turn → download → judge → (rules | a redirect, and its turn | a failure).
 *
 * Every request takes an instant of its domain. The lease has one. Where the domain has a delay, a redirect within it
 * cannot follow at once: the fetch stops there, and the next lease of the domain goes on with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError } from '../../downloader/download-error.js';
import type { Downloader } from '../../downloader/downloader.js';
import type { Authorize } from '../../downloader/http-auth.js';
import type { Frontier } from '../../frontier/frontier.js';
import {
  MAX_ROBOTS_MS,
  type RobotsClaim,
  type RobotsResult,
  type Unreachable,
} from '../../frontier/robots/robots-state.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { inheritedOrigin } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import { type DomainKey, domainOf } from '../../http/url/domain.js';
import { add, type Counters } from '../links/filter-links.js';
import type { RetryOptions } from '../node-options.js';
import type { Flight } from '../page/flight.js';
import { askedPause } from '../page/judge-download.js';
import { planRetry } from '../page/retry-plan.js';
import { judgeRobots } from './judge-robots.js';

/** When a robots.txt could not be fetched, the requests of its origin fail for this time. Then it is tried again. */
const GIVE_UP_MS = 60_000;
/** The longest time that a redirect waits for an instant of another domain. It occupies a slot of the node meanwhile. */
const TURN_WITHIN_MS = 1_000;
/** Asks for a robots.txt without compression, since only the beginning of a long one is read. */
const plainText = { accept: 'text/plain,*/*;q=0.8', 'accept-encoding': 'identity' };

export interface FetchDeps {
  /** As of the frontier; it waits for a store that is away. */
  readonly takeInstant: Frontier['takeInstant'];
  readonly downloader: Downloader;
  readonly authorize: Authorize;
  readonly domainKey: DomainKey;
  readonly retry: RetryOptions;
}

const noRules: RobotsResult = { kind: 'rules', text: '', forMs: GIVE_UP_MS, delayMs: 0 };

/** What came of a fetch. */
export interface FetchEnd {
  readonly result: RobotsResult;
  /** By Scrapy's names. */
  readonly stats: Counters;
  /** Why it failed, if it did. */
  readonly why: string;
  /** The pause that the site asks for; 0 for none. */
  readonly pauseMs: number;
}

/** The page's own request cannot be sent, so its robots.txt says nothing about the site. */
export class PageCannotBeSent extends Error {
  override readonly cause: DownloadError;

  constructor(cause: DownloadError) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * Fetch the robots.txt of a claim. @param page whose lease is used. Its robots.txt may be at a private address if the page
 * may. @throws PageCannotBeSent; DownloadError `aborted` when the page has been taken from this node.
 */
export async function fetchRobots(
  claim: RobotsClaim,
  flight: Flight,
  page: RequestRecord,
  deps: FetchDeps,
): Promise<FetchEnd> {
  const { lease } = flight;
  const stats: Counters = {};
  const ownDomain = domainOf(claim.origin, deps.domainKey);
  let url = new URL(claim.url ?? '/robots.txt', claim.origin);
  let hops = claim.hops;
  let access = claim.url === null || sameHost(url, claim.origin) ? page.origin : untrusted(page.origin);
  let isLeaseUsed = false;
  // The claim does not record why an earlier fetch failed; it may have been a response that is not valid HTTP.
  const isLenient = claim.failures > 0;
  const end = (result: RobotsResult, why = '', pauseMs = 0): FetchEnd => ({ result, stats, why, pauseMs });
  const later = (afterMs: number) => end({ kind: 'later', url: url.href, hops, afterMs });

  for (;;) {
    const domain = domainOf(url.href, deps.domainKey);
    if (domain !== ownDomain) {
      const inMs = await deps.takeInstant(domain, TURN_WITHIN_MS);
      if (inMs === null) return later(TURN_WITHIN_MS);
      await sleep(inMs, undefined, { signal: flight.signal });
    } else if (isLeaseUsed && lease.delayMs > 0) {
      return later(0);
    } else {
      isLeaseUsed = true;
    }

    if (hops === 0) add(stats, 'robotstxt/request_count');
    const { method, headers, body, cookies } = deps.authorize(new Request(url.href, { headers: plainText }));
    const request = { url: url.href, method, headers, body, cookies, origin: access, meta: proxyOf(page) };
    let download: Awaited<ReturnType<Flight['during']>>;
    try {
      const { onStall } = flight;
      download = await flight.during(
        deps.downloader.start(request, { purpose: 'robots', isLenient, onStall }),
      );
    } catch (error) {
      if (flight.over || !(error instanceof DownloadError)) throw error;
      if (hops === 0 && isFaultOfRequest(error)) throw new PageCannotBeSent(error);
      // Trying another proxy would be too late for the delay of the domain.
      if (error.proxies?.cutShort === true) return later(0);
      add(stats, `robotstxt/exception_count/${error.reason}`);
      // A crawl that uses only the cache has no robots.txt, and sends no request to the site.
      if (error.reason === 'not_cached') return end(noRules);
      const waitMs = error.proxies?.waitMs ?? null;
      const { reason, message: why, retryable } = error;
      return end(failure(claim, { reason, why }, retryable, waitMs, deps.retry), why);
    }

    const { status } = download;
    const pauseMs = askedPause(status, download.headers, Date.now(), deps.retry.retryAfterCapMs);
    const verdict = judgeRobots(download, hops);
    if (verdict.kind === 'redirect') {
      access = inheritedOrigin(access, download.fromPrivateAddress);
      url = verdict.to;
      hops += 1;
      continue;
    }
    add(stats, 'robotstxt/response_count');
    add(stats, `robotstxt/response_status_count/${status}`);
    if (verdict.kind === 'failed') {
      const { why } = verdict;
      const because = { reason: 'robots_unreachable', why };
      return end(failure(claim, because, true, pauseMs, deps.retry), why, pauseMs ?? 0);
    }
    const { text } = verdict;
    return end({ kind: 'rules', text, forMs: MAX_ROBOTS_MS, delayMs: 0 }, '', pauseMs ?? 0);
  }
}

/** Another attempt, as for a page (RETRY_TIMES and its backoff), or none any more. */
function failure(
  { failures }: RobotsClaim,
  because: Pick<Unreachable, 'reason' | 'why'>,
  isRetryable: boolean,
  pauseMs: number | null,
  options: RetryOptions,
): RobotsResult {
  const plan = isRetryable
    ? planRetry({ attempts: failures, priority: 0, meta: {} }, pauseMs, options)
    : null;
  if (plan === null) return { kind: 'unreachable', ...because, forMs: GIVE_UP_MS };
  return { kind: 'failed', afterMs: plan.afterMs };
}

/** For example, an untrusted link to a private address must not block the pages of that address for a trusted seed. */
function isFaultOfRequest({ reason }: DownloadError): boolean {
  return reason === 'private_address' || reason === 'bad_request';
}

/** The proxy of the page, which may be the only way to its site. */
function proxyOf({ meta }: RequestRecord): RequestRecord['meta'] {
  return meta.proxy === undefined ? {} : { proxy: meta.proxy };
}

function sameHost({ hostname }: URL, origin: string): boolean {
  return hostname === new URL(origin).hostname;
}

/** A redirect of an earlier fetch may have come from a public address, so it must not lead to a private one. */
function untrusted(origin: RequestRecord['origin']): RequestRecord['origin'] {
  return inheritedOrigin(origin, false);
}
