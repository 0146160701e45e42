/**
 * What each verdict of `judge-download.ts` makes of a page: the outcome and the effects of its settle. Spider code and the
 * pipelines run here; if any of it throws, the page has failed and nothing that it gave is committed.
 */
import type { Downloader } from '../../downloader/downloader.js';
import { CrawlnodeError, concernsNode, InvalidRequestError, messageOf } from '../../errors.js';
import { ERRORS_COUNTER } from '../../frontier/budgets.js';
import { keptReason } from '../../frontier/callback-error-keep.js';
import { type Effects, noEffects, type Outcome } from '../../frontier/frontier.js';
import { priorityInBounds } from '../../http/message/priority.js';
import { encodeRecord } from '../../http/message/record/request-codec.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import { isRequestModuleError } from '../../http/message/request-module.js';
import type { Logger } from '../../log.js';
import type { ItemPipelines } from '../../pipelines/item-pipeline.js';
import { type Failure, type PageLimits, type PageResult, runErrback } from '../../spider/run-callback.js';
import type { Spider } from '../../spider/spider.js';
import type { NodeStats } from '../../stats/stats.js';
import type { SessionCookies } from '../cookies/session-cookies.js';
import type { Signals } from '../extensions/signals.js';
import { endFile, type FileEnd } from '../files/end-file.js';
import { add, type Counters, refusalOf, refuse, toFrontier, unfetchable } from '../links/filter-links.js';
import { type LinkDeps, PageLinks } from '../links/page-links.js';
import type { DelayLog } from '../membership/autothrottle-log.js';
import type { Middleware } from '../middleware/load-middleware.js';
import type { NodeOptions } from '../node-options.js';
import type { ConditionalRequests } from '../recrawl/conditional-requests.js';
import type { RobotsGate } from '../robots/robots-gate.js';
import type { LostStarts } from './failed-start-pages.js';
import type { HangingHosts } from './hanging-hosts.js';
import type { Authorize } from './http-auth.js';
import type { Verdict } from './judge-download.js';
import type { Flight } from './leased-pages.js';
import { redirected } from './redirected-request.js';
import { effectsOf } from './settle-effects.js';

/** What every page of a crawl is processed with. */
export interface PageDeps extends LinkDeps {
  readonly spider: Spider;
  readonly downloader: Downloader;
  readonly pipelines: ItemPipelines;
  readonly middleware: Middleware | null;
  readonly options: NodeOptions;
  readonly authorize: Authorize;
  readonly delays: DelayLog;
  readonly lostStarts: LostStarts;
  readonly hangingHosts: HangingHosts;
  readonly cookies: SessionCookies;
  readonly stats: NodeStats;
  /** Null without extensions. */
  readonly signals: Signals | null;
  /** Null where no page of the crawl comes again. */
  readonly recrawl: ConditionalRequests | null;
  /** Null when robots.txt is not obeyed. */
  readonly robots: RobotsGate | null;
  readonly log: Logger;
}

/** How a page ends: the arguments of its settle. */
export interface Ending {
  readonly outcome: Outcome;
  readonly effects: Effects;
  /** Where the page yielded requests. */
  readonly links?: PageLinks;
}

/** A page on its way: what the steps below have in common. */
export interface Work {
  readonly flight: Flight;
  readonly record: RequestRecord;
  readonly request: Request;
  readonly counters: Counters;
  /** Its Cookie header has been made, for middleware to see. */
  readonly hasCookies?: boolean;
  readonly deps: PageDeps;
}

/** The status of a redirect that is followed with GET. */
const SEE_OTHER = 303;

const badLocation = 'redirect without a usable Location';

/** The same request once more, later. */
export function retry(
  work: Work,
  { reason, count, plan }: Extract<Verdict, { kind: 'retry' }>,
  status: number | null,
): Ending {
  add(work.counters, 'retry/count');
  add(work.counters, `retry/reason_count/${count}`);
  const { afterMs, priority } = plan;
  const record = encodeRecord({ ...work.record, attempts: work.record.attempts + 1, priority });
  const outcome: Outcome = {
    kind: 'retry',
    reason,
    attempts: work.record.attempts + 1,
    afterMs,
    priority,
    record,
    ...(status !== null && { status }),
  };
  return { outcome, effects: { ...noEffects, stats: work.counters } };
}

/**
 * The hop is a new request, judged like any other that is discovered; this one is done.
 * @param reason a `meta_refresh` is followed with GET.
 */
export async function redirect(
  work: Work,
  status: number,
  location: string,
  reason: 'redirect' | 'meta_refresh',
): Promise<Ending> {
  const { counters, record, flight, deps } = work;
  const attempts = record.attempts + 1;
  const outcome: Outcome = { kind: 'done', reason, status, attempts, noPage: 'other' };
  const done = (...requests: Effects['requests']): Ending => ({
    outcome,
    effects: { ...noEffects, requests, stats: counters },
  });

  // Cookies that entered the jar follow by its rules, and not by themselves.
  const asked = flight.cookies === null ? record : { ...record, cookies: null };
  const hop = redirected(asked, reason === 'meta_refresh' ? SEE_OTHER : status, location);
  if (hop === null) {
    add(counters, 'redirect/bad_location');
    deps.deadEnds.note(badLocation, record.url);
    return record.waitingItem === null ? done() : endOfFile(work, { failed: 'bad_redirect' }, outcome);
  }
  const maxTimes = deps.options.redirectMaxTimes ?? deps.options.maxHops;
  if (hop.redirects > maxTimes) {
    add(counters, 'redirect/max_times_reached');
    const message = `${record.url} was redirected more than ${maxTimes} times`;
    return failed(work, { reason: 'max_redirects', status, response: null, message });
  }
  const priority = priorityInBounds(hop.priority + deps.options.redirectPriorityAdjust);
  try {
    const request = Request.fromRecord(hop).replace({ url: hop.url, priority });
    const refusal = record.waitingItem === null ? refusalOf(request, hop.depth, deps.rules) : null;
    if (refusal !== null) {
      add(counters, refusal.counter);
      deps.deadEnds.note('redirect to a URL that the crawl does not follow', record.url);
      await tellDropped(work, request.url, refusal.what);
      return done();
    }
    add(counters, 'redirect/count');
    const { depth, origin, waitingItem } = hop;
    const place = {
      ...{ parentId: flight.lease.id, ordinal: 0, depth, origin, waitingItem },
      isTrustedSeed: false,
    };
    return done(toFrontier(request, hop, place, deps.rules, Date.now()));
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    if (isRequestModuleError(error)) {
      return failed(work, { reason: 'request_module', status, response: null, message: error.message });
    }
    add(counters, 'redirect/bad_location');
    deps.deadEnds.note(badLocation, record.url);
    return record.waitingItem === null ? done() : endOfFile(work, { failed: 'bad_redirect' }, outcome);
  }
}

/** Errback, then the failed list. */
export function failed(work: Work, failure: Omit<Failure, 'request'>): Promise<Ending> {
  const { reason, status, message } = failure;
  return errback(work, failure, {
    kind: 'failed',
    reason,
    attempts: work.record.attempts + 1,
    detail: message,
    ...(status !== null && { status }),
  });
}

/** Run the errback, if there is one, and commit what it gives with the outcome. */
export async function errback(
  work: Work,
  failure: Omit<Failure, 'request'>,
  outcome: Outcome,
): Promise<Ending> {
  const { record, request, deps } = work;
  if (record.waitingItem !== null) {
    const { reason, status } = failure;
    return endOfFile(work, { failed: reason === 'http_status' ? `http_${status}` : reason }, outcome);
  }
  if (!deps.lostStarts.tell(record, failure.message)) logLoss(work, failure, outcome);
  if (record.errback === null) return { outcome, effects: { ...noEffects, stats: work.counters } };
  return commit(
    work,
    () =>
      runErrback(
        deps.spider,
        record.errback,
        { ...failure, request },
        { ...deps.options, ...throughOf(deps, failure) },
      ),
    outcome,
  );
}

/** The request of a file is done, whatever came of it: its item says so. What `endFile` throws fails the request. */
export async function endOfFile(work: Work, end: FileEnd, outcome: Outcome): Promise<Ending> {
  const { flight, record, counters } = work;
  const status = 'status' in outcome ? outcome.status : undefined;
  const { unstarted } = outcome;
  try {
    const effects = await endFile(work, end);
    const reason = 'failed' in end ? 'file_failed' : 'file';
    const attempts = record.attempts + (unstarted === true ? 0 : 1);
    return {
      outcome: {
        ...{ kind: 'done', reason, attempts },
        ...('failed' in end && { noPage: 'other' }),
        ...(status !== undefined && { status }),
        ...(unstarted !== undefined && { unstarted }),
      },
      effects,
    };
  } catch (error) {
    if (flight.over || concernsNode(error)) throw error;
    flight.stats?.take();
    const failed = failedOutcome(work, error, status, false);
    return {
      outcome: { ...failed, ...(unstarted && { unstarted }) },
      effects: { ...noEffects, stats: counters },
    };
  }
}

/** As in Scrapy, spider middleware sees what an errback yields for a response, but not for an error without one. */
function throughOf({ middleware, spider }: PageDeps, { response }: Pick<Failure, 'response'>): PageLimits {
  const chain = middleware?.spider ?? null;
  if (chain === null || response === null) return {};
  return chain.around(response, spider);
}

/** A page that was given up is worth a warning; a status that the spider does not want is not. */
function logLoss({ record, deps }: Work, failure: Omit<Failure, 'request'>, outcome: Outcome): void {
  const { reason, status, message } = failure;
  const fields = { url: record.url, reason, status };
  if (outcome.kind !== 'failed') {
    const called = record.errback === null ? 'no callback' : 'the errback, not the callback,';
    deps.log.info(fields, `${called} is called for this page: ${message}`);
    return;
  }
  const after = outcome.attempts > 1 ? ` after ${outcome.attempts} attempts` : '';
  deps.log.warn(fields, `gave up on a page${after}: ${message}`);
}

/**
 * Run spider code and the pipelines. If any of it throws, nothing the page gave is committed and the page is failed. With
 * CALLBACK_ERROR `keep`, what the callback yielded before its error is committed, and the page is failed as kept.
 */
export async function commit(work: Work, run: () => Promise<PageResult>, wanted: Outcome): Promise<Ending> {
  const { flight, counters, deps } = work;
  const status = 'status' in wanted ? wanted.status : undefined;
  try {
    const { items, requests, unfetchable: links, error, closing } = await run();
    if (closing !== null) close(work, closing);
    const outcome = error === null ? wanted : failedOutcome(work, error, status, true);
    if (error !== null) await tellError(work, error);
    for (const url of links) {
      refuse(unfetchable, url, counters, deps.deadEnds);
      await tellDropped(work, url, unfetchable.what);
    }
    return await endingOf(work, items, requests, outcome);
  } catch (error) {
    if (flight.over || concernsNode(error)) throw error;
    flight.stats?.take();
    const outcome = failedOutcome(work, error, status, false);
    await tellError(work, error);
    return { outcome, effects: { ...noEffects, stats: counters } };
  }
}

/** Tell the extensions of an error of a callback. That of a pipeline is told with its item. */
async function tellError(work: Work, error: unknown): Promise<void> {
  const { signals } = work.deps;
  if (signals === null || (error instanceof CrawlnodeError && error.code === 'pipeline_error')) return;
  const said = { error: asThrown(error), response: work.flight.response };
  await signals.ofPage('spiderError', said, work);
}

/** Tell the extensions of a request that is not followed, or of a page that is not processed. */
export async function tellDropped(work: Work, url: string, reason: string): Promise<void> {
  await work.deps.signals?.ofPage('requestDropped', { url, reason }, work);
}

/** The error as the code of the project threw it. */
function asThrown(error: unknown): Error {
  const thrown = error instanceof CrawlnodeError && error.cause instanceof Error ? error.cause : error;
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The run is closed with the settle of the page. The first reason stays. */
export function close({ flight, record, deps }: Work, reason: string): void {
  flight.closing ??= reason;
  deps.log.info({ url: record.url, reason }, `a page closes the crawl: ${reason}`);
}

async function endingOf(
  work: Work,
  items: PageResult['items'],
  requests: PageResult['requests'],
  outcome: Outcome,
): Promise<Ending> {
  const { flight, record, counters, deps } = work;
  const { lease } = flight;
  const { pipelines, rules, signals } = deps;
  const carrier = { lease, record, pipelines, rules, observer: signals?.observer(work) };
  if (requests.length === 0) return { outcome, effects: await effectsOf(items, null, counters, carrier) };
  const links = new PageLinks({ id: lease.id, record }, deps);
  const settled = await links.take(requests, counters, flight);
  return { outcome, effects: await effectsOf(items, { settled, all: links }, counters, carrier), links };
}

/** @param isKept what the page gave before the error is committed. */
function failedOutcome(work: Work, error: unknown, status: number | undefined, isKept: boolean): Outcome {
  const { record, counters, deps } = work;
  const code = error instanceof CrawlnodeError ? error.code : 'callback_failed';
  const why = code === 'callback_failed' ? 'callback_error' : code;
  const reason = isKept ? keptReason(why) : why;
  const thrown = error instanceof CrawlnodeError && error.cause instanceof Error ? error.cause : error;
  if (why === 'pipeline_error' || why === 'files_unwritable') {
    add(counters, 'item_error_count');
  } else {
    add(counters, `spider_exceptions/${nameOf(thrown)}`);
    add(counters, ERRORS_COUNTER);
  }
  const detail = messageOf(error);
  deps.log.error({ url: record.url, reason }, detail);
  if (thrown instanceof Error) deps.log.debug({ url: record.url, stack: thrown.stack }, 'stack trace');
  const attempts = record.attempts + 1;
  return { kind: 'failed', reason, attempts, detail, ...(status !== undefined && { status }) };
}

/** Error classes come from user code: the name becomes part of a counter's name, so it is kept short and plain. */
function nameOf(error: unknown): string {
  const name = error instanceof Error ? error.name || error.constructor.name : typeof error;
  return name.replace(/[^\w.$-]/g, '_').slice(0, 64);
}
