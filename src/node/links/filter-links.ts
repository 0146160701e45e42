/** Converts what a callback yielded to requests of the frontier: depth, origin, filters, identity. */
import { InvalidRequestError } from '../../errors.js';
import type { Snapshot } from '../../frontier/frontier.js';
import { priorityInBounds } from '../../http/message/priority.js';
import { toFrontierRequest } from '../../http/message/record/request-codec.js';
import type {
  FrontierRequest,
  Origin,
  RequestRecord,
  WaitingItem,
} from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';
import { type TrapLimits, trapOf } from '../../http/url/url-trap.js';
import { type Refresh, refreshOf } from '../../spider/refresh.js';
import type { LinkOptions } from '../node-options.js';
import type { DeadEnds } from '../page/dead-ends.js';
import { withReferer } from './referer.js';

/** Counters of one page, by Scrapy's names. */
export type Counters = Record<string, number>;

export function add(counters: Counters, name: string, by = 1): void {
  counters[name] = (counters[name] ?? 0) + by;
}

/** A request with the names of its callbacks, as `runCallback` gives it. */
export interface Found {
  readonly request: Request;
  readonly callback: string | null;
  readonly errback: string | null;
}

/** The rules for the links of all pages of a crawl. `linkRules` makes them once. */
export interface LinkRules extends LinkOptions {
  readonly domainKey: 'host' | 'registered';
  readonly job: string | null;
  /** Matches URLs within the spider's `allowedDomains`; null when it has none. */
  readonly onsite: RegExp | null;
  /** Which requests may be fetched again; null when none may. Takes effect `inRun`. */
  readonly refresh: Refresh | null;
}

/** The members of a spider that decide which links are followed. */
export interface LinkSpider {
  readonly name?: string;
  readonly allowedDomains?: readonly string[];
  readonly refresh?: unknown;
  fingerprint?(request: Request): string;
}

/** @param spider its `allowedDomains`, `refresh` and `fingerprint` are honoured. @throws SpiderLoadError for bad rules. */
export function linkRules(
  spider: LinkSpider,
  options: LinkOptions,
  domainKey: 'host' | 'registered',
  job: string | null,
): LinkRules {
  return {
    ...options,
    fingerprint:
      spider.fingerprint === undefined ? options.fingerprint : (request) => ownFingerprint(spider, request),
    domainKey,
    job,
    onsite: onsitePattern(spider.allowedDomains),
    refresh: refreshOf(spider),
  };
}

/**
 * The run whose period applies to a seed with refresh rules: the current run, or, after its end, a placeholder until the
 * next one begins.
 */
export function runFor(run: Snapshot['run']): string {
  if (run === null) return '';
  return run.closed === null ? run.id : `after ${run.id}`;
}

/** The rules as they are in one run: requests that may be fetched again get the identity of their period. */
export function inRun(rules: LinkRules, run: string): LinkRules {
  const { refresh, fingerprint } = rules;
  if (refresh === null) return rules;
  return {
    ...rules,
    fingerprint: (request) => refresh.inPeriod(fingerprint(request), request.url, run, Date.now()),
  };
}

/** @throws InvalidRequestError, which fails the page and not the node. */
function ownFingerprint(spider: { fingerprint?(request: Request): string }, request: Request): string {
  const fingerprint: unknown = spider.fingerprint?.(request);
  if (typeof fingerprint === 'string' && /^[0-9a-f]{40}$/.test(fingerprint)) return fingerprint;
  // Nothing awaits this promise, so its rejection must be handled here.
  if (fingerprint instanceof Promise) fingerprint.catch(() => {});
  const given = fingerprint instanceof Promise ? 'a promise' : JSON.stringify(fingerprint);
  throw new InvalidRequestError(
    `fingerprint() of the spider gave ${given} for ${request.url}; it must give 40 hex digits in lower case`,
  );
}

/** The page that yields requests. They inherit its `origin`. */
export interface Page {
  /** Id of its lease. */
  readonly id: string;
  readonly record: Pick<RequestRecord, 'depth' | 'origin' | 'url'>;
}

/** Why a discovered request is not followed. */
export interface Refusal {
  /** Its counter, by Scrapy's name. */
  readonly counter: string;
  /** For the summary. */
  readonly what: string;
}

const tooDeep: Refusal = {
  counter: 'request_depth/request_ignored_count',
  what: 'deeper than DEPTH_LIMIT',
};
const tooLong: Refusal = {
  counter: 'urllength/request_ignored_count',
  what: 'longer than URLLENGTH_LIMIT',
};
const offsite: Refusal = { counter: 'offsite/filtered', what: 'offsite (not in allowedDomains)' };
/** Links of endless sites. */
const traps: Readonly<Record<keyof TrapLimits, Refusal>> = {
  pathDepth: { counter: 'trap/path_depth', what: 'a path deeper than URL_PATH_DEPTH_LIMIT' },
  repeatedSegments: {
    counter: 'trap/repeated_segments',
    what: 'a segment of the path more often than URL_REPEATED_SEGMENTS_LIMIT',
  },
};
/** A link that `follow()` was given and that no client can fetch. */
export const unfetchable: Refusal = {
  counter: 'request_unfetchable/request_ignored_count',
  what: 'not an http or https URL',
};

/** A link for which REQUEST_MODULE failed. @param message of its error */
export function refusedByModule(message: string): Refusal {
  return { counter: 'request_module/request_ignored_count', what: message };
}

/** Count a request that is not followed, and keep one URL of its kind as an example. */
export function refuse(
  { counter, what }: Refusal,
  url: string,
  counters: Counters,
  deadEnds: DeadEnds,
): void {
  add(counters, counter);
  deadEnds.note(what, url, 'request');
}

/**
 * Why a discovered request is not followed, as Scrapy's Depth, UrlLength and Offsite middlewares decide; null when it is
 * followed. @param depth of the request itself.
 */
export function refusalOf(request: Request, depth: number, rules: LinkRules): Refusal | null {
  if (rules.depthLimit > 0 && depth > rules.depthLimit) return tooDeep;
  if (rules.urlLengthLimit > 0 && request.url.length > rules.urlLengthLimit) return tooLong;
  const trap = rules.traps === undefined ? null : trapOf(request.url, rules.traps);
  if (trap !== null) return traps[trap];
  if (
    rules.onsite !== null &&
    !request.dontFilter &&
    request.meta.allow_offsite !== true &&
    !rules.onsite.test(request.url)
  ) {
    return offsite;
  }
  return null;
}

/** Convert a discovered request for the frontier: its depth is one more than its page's, its origin the same. */
export function linked(
  found: Found,
  ordinal: number,
  page: Page,
  rules: LinkRules,
  nowMs: number,
): FrontierRequest {
  const depth = page.record.depth + 1;
  const lowered = rules.depthPriority === 0 ? 0 : depth * rules.depthPriority;
  let { request } = found;
  if (lowered !== 0) request = request.replace({ priority: priorityInBounds(request.priority - lowered) });
  if (rules.referrerPolicy !== undefined)
    request = withReferer(request, page.record.url, rules.referrerPolicy);
  return toFrontier(
    request,
    found,
    { parentId: page.id, ordinal, depth, origin: page.record.origin, isTrustedSeed: false },
    rules,
    nowMs,
  );
}

/** Where a request stands in the crawl. */
export interface Place {
  readonly parentId: string | null;
  readonly ordinal: number;
  readonly depth: number;
  readonly origin: Origin | null;
  /** Of `RequestContext`. */
  readonly isTrustedSeed: boolean;
  /** Of `RequestContext`. */
  readonly waitingItem?: WaitingItem | null;
}

export function toFrontier(
  request: Request,
  names: Pick<Found, 'callback' | 'errback'>,
  place: Place,
  rules: LinkRules,
  nowMs: number,
): FrontierRequest {
  // Field by field: V8 fills fields after a spread slowly.
  return toFrontierRequest(rules.priority ? ordered(request, place, rules.priority) : request, {
    callback: names.callback,
    errback: names.errback,
    parentId: place.parentId,
    ordinal: place.ordinal,
    depth: place.depth,
    origin: place.origin,
    isTrustedSeed: place.isTrustedSeed,
    fingerprint: rules.fingerprint,
    domainKey: rules.domainKey,
    nowMs,
    job: rules.job,
    waitingItem: place.waitingItem ?? null,
  });
}

/** Set the priority that REQUEST_MODULE gives. Requests for files keep theirs: they go before pages. */
function ordered(
  request: Request,
  { depth, waitingItem = null }: Place,
  priorityOf: NonNullable<LinkRules['priority']>,
): Request {
  if (waitingItem !== null) return request;
  const priority = priorityOf(request, depth);
  return priority === request.priority ? request : request.replace({ priority });
}

/** One linear regular expression instead of parsing each URL: the host is a domain, or ends in a dot and the domain. */
function onsitePattern(domains: readonly string[] | undefined): RegExp | null {
  if (domains === undefined || domains.length === 0) return null;
  const names = domains.map((domain) => domain.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(
    `^https?://(?:[^/?#@]*@)?(?:[^/?#@:]*\\.)?(?:${names.join('|')})(?::\\d*)?(?:[/?#]|$)`,
    'i',
  );
}
