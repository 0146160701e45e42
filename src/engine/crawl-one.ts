/**
 * One page, from its lease to its settle:
 * lease → record → Request → download → Response → callback → pipelines → outcome and effects → settle.
 * What an ending means is judged in `outcome.ts`; here it is carried out.
 */

import { DownloadError } from '../downloader/download-error.js';
import type { Download, Downloader } from '../downloader/downloader.js';
import { CrawlnodeError, InvalidRequestError, messageOf } from '../errors.js';
import { ERRORS_COUNTER } from '../frontier/budgets.js';
import type { Effects, Outcome } from '../frontier/frontier.js';
import { noEffects } from '../frontier/frontier.js';
import { priorityInBounds } from '../http/priority.js';
import { Request } from '../http/request.js';
import { decodeRecord, encodeRecord } from '../http/request-codec.js';
import type { RequestRecord } from '../http/request-record.js';
import { Response } from '../http/response.js';
import type { Logger } from '../log.js';
import type { ItemPipelines } from '../pipelines/item-pipeline.js';
import { type Failure, type PageResult, runCallback, runErrback } from '../spider/run-callback.js';
import type { Spider } from '../spider/spider.js';
import { add, admit, type Counters, toFrontier } from './discovered.js';
import { effectsOf } from './effects.js';
import type { EngineOptions } from './engine-options.js';
import { concernsNode } from './node-errors.js';
import { askedPause, beginWithinMs, judgeFailure, judgeStatus, type Verdict } from './outcome.js';
import { type LinkDeps, noLinks, PageLinks } from './page-links.js';
import { redirected } from './redirect.js';
import type { Flight, Slots } from './slots.js';

/** What every page of a crawl is processed with. */
export interface PageDeps extends LinkDeps {
  readonly spider: Spider;
  readonly downloader: Downloader;
  readonly pipelines: ItemPipelines;
  readonly options: EngineOptions;
  readonly log: Logger;
}

/** How a page ends: the arguments of its settle. */
interface Ending {
  readonly outcome: Outcome;
  readonly effects: Effects;
  /** Where the page yielded requests. */
  readonly links?: PageLinks;
}

/** A page on its way: what the steps below have in common. */
interface Work {
  readonly flight: Flight;
  readonly record: RequestRecord;
  readonly request: Request;
  readonly counters: Counters;
  readonly deps: PageDeps;
}

/**
 * Process a leased page and settle it, once. Never rejects.
 * @param onError hears what ends the whole incarnation, such as the death of it.
 */
export async function crawlOne(
  flight: Flight,
  slots: Slots,
  deps: PageDeps,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    const ending = await processPage(flight, deps);
    slots.settle(flight, ending.outcome, ending.effects, ending.links);
  } catch (error) {
    if (flight.over) return; // the echo of an abort, after a drop or a release
    if (concernsNode(error)) return onError(error);
    // One page must not take the node along, whatever is wrong with it or with us.
    deps.log.error({ id: flight.lease.id, error: messageOf(error) }, 'a page failed in an unforeseen way');
    const outcome = {
      kind: 'failed',
      reason: 'internal_error',
      attempts: 0,
      detail: messageOf(error),
    } as const;
    slots.settle(flight, outcome, noEffects);
  }
}

async function processPage(flight: Flight, deps: PageDeps): Promise<Ending> {
  const { lease } = flight;
  if (performance.now() - flight.askedAt > beginWithinMs(lease.delayMs)) {
    return { outcome: { kind: 'released', reason: 'late', unstarted: true }, effects: noEffects };
  }
  let work: Work;
  try {
    const record = decodeRecord(lease.record);
    work = { flight, record, request: Request.fromRecord(record), counters: {}, deps };
  } catch (error) {
    const outcome = { kind: 'failed', reason: 'bad_record', attempts: 0, detail: messageOf(error) } as const;
    return { outcome, effects: noEffects };
  }

  add(work.counters, 'downloader/request_count');
  add(work.counters, `downloader/request_method_count/${work.record.method}`);
  flight.started = true;
  let download: Download;
  try {
    download = await flight.during(deps.downloader.start(work.request));
  } catch (error) {
    return afterFailure(work, error);
  }
  return afterAnswer(work, download);
}

/** No answer: retry, or errback and failed. */
async function afterFailure(work: Work, error: unknown): Promise<Ending> {
  if (work.flight.over || !(error instanceof DownloadError)) throw error;
  add(work.counters, 'downloader/exception_count');
  add(work.counters, `downloader/exception_type_count/${error.reason}`);
  const verdict = judgeFailure(error, work.record, work.deps.options);
  if (verdict.kind === 'retry') return retry(work, verdict, null);
  if (error.retryable) add(work.counters, 'retry/max_reached');
  return failed(work, { reason: verdict.reason, status: null, response: null, message: error.message });
}

async function afterAnswer(work: Work, download: Download): Promise<Ending> {
  const { status, headers } = download;
  const { counters, record, deps } = work;
  add(counters, 'downloader/response_count');
  add(counters, `downloader/response_status_count/${status}`);
  add(counters, 'downloader/response_bytes', download.wireBytes);

  const pauseMs = askedPause(status, headers, Date.now(), deps.options.retry.retryAfterCapMs);
  if (pauseMs !== null && pauseMs > 0) leaveAlone(work, pauseMs);
  const verdict = judgeStatus(status, headers, record, deps.options, pauseMs);
  if (verdict.kind === 'retry') return retry(work, verdict, status);
  if (verdict.kind === 'redirect') return redirect(work, status, verdict.location);

  add(counters, 'response_received_count');
  const attempts = record.attempts + 1;
  const response = new Response({ ...pick(download), request: work.request });
  if (verdict.kind === 'callback') {
    deps.log.debug({ url: record.url, status }, 'crawled');
    const { maxItems } = deps.options;
    const run = () => runCallback(deps.spider, record.callback, response, { maxItems });
    return commit(work, run, { kind: 'done', reason: 'crawled', status, attempts });
  }
  const failure = { reason: 'http_status', status, response, message: `${record.url} answered ${status}` };
  if (verdict.kind === 'exhausted') {
    add(counters, 'retry/max_reached');
    return failed(work, failure);
  }
  add(counters, 'httperror/response_ignored_count');
  add(counters, `httperror/response_ignored_status_count/${status}`);
  return errback(work, failure, { kind: 'done', reason: 'httperror', status, attempts });
}

function pick({ url, status, headers, body }: Download) {
  return { url, status, headers, body };
}

/** All nodes leave the domain alone; issued before the page's settle, so no lease slips in between. */
function leaveAlone({ flight, deps }: Work, forMs: number): void {
  const { domain } = flight.lease;
  deps.log.info({ domain, forMs }, 'the site asks to be left alone');
  deps.frontier.throttle(domain, { forMs, source: 'retry-after' }).catch((error: unknown) => {
    deps.log.debug({ domain, error: messageOf(error) }, 'the pause of a domain could not be noted');
  });
}

function retry(
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

/** The hop is a new request, judged like any other that is discovered; this one is done. */
async function redirect(work: Work, status: number, location: string): Promise<Ending> {
  const { counters, record, flight, deps } = work;
  const outcome: Outcome = { kind: 'done', reason: 'redirect', status, attempts: record.attempts + 1 };
  const done = (...requests: Effects['requests']): Ending => ({
    outcome,
    effects: { ...noEffects, requests, stats: counters },
  });

  const hop = redirected(record, status, location);
  if (hop === null) {
    add(counters, 'redirect/bad_location');
    return done();
  }
  if (hop.redirects > (deps.options.redirectMaxTimes ?? 0)) {
    add(counters, 'redirect/max_times_reached');
    const message = `${record.url} was redirected more than ${deps.options.redirectMaxTimes} times`;
    return failed(work, { reason: 'max_redirects', status, response: null, message });
  }
  const priority = priorityInBounds(hop.priority + deps.options.redirectPriorityAdjust);
  try {
    const request = Request.fromRecord(hop).replace({ url: hop.url, priority });
    if (!admit(request, hop.depth, deps.rules, counters)) return done();
    add(counters, 'redirect/count');
    const place = { parentId: flight.lease.id, ordinal: 0, depth: hop.depth, origin: hop.origin };
    return done(toFrontier(request, hop, place, deps.rules, Date.now()));
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    add(counters, 'redirect/bad_location');
    return done();
  }
}

/** Errback, then the failed list. */
function failed(work: Work, failure: Omit<Failure, 'request'>): Promise<Ending> {
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
async function errback(work: Work, failure: Omit<Failure, 'request'>, outcome: Outcome): Promise<Ending> {
  const { record, request, deps } = work;
  deps.log.debug({ url: record.url, reason: failure.reason, status: failure.status }, failure.message);
  const { maxItems } = deps.options;
  if (record.errback === null) return { outcome, effects: { ...noEffects, stats: work.counters } };
  return commit(
    work,
    () => runErrback(deps.spider, record.errback, { ...failure, request }, { maxItems }),
    outcome,
  );
}

/** Run spider code and the pipelines. If any of it throws, nothing the page gave is committed and the page is failed. */
async function commit(work: Work, run: () => Promise<PageResult>, outcome: Outcome): Promise<Ending> {
  const { flight, record, counters, deps } = work;
  try {
    const { items, requests } = await run();
    if (requests.length === 0) {
      return { outcome, effects: await effectsOf(items, noLinks, counters, deps.pipelines) };
    }
    const links = new PageLinks({ id: flight.lease.id, record }, deps);
    const settled = await links.take(requests, counters, flight);
    return { outcome, effects: await effectsOf(items, settled, counters, deps.pipelines), links };
  } catch (error) {
    if (flight.over || concernsNode(error)) throw error;
    return spiderFailed(work, error, 'status' in outcome ? outcome.status : undefined);
  }
}

function spiderFailed(work: Work, error: unknown, status: number | undefined): Ending {
  const { record, counters, deps } = work;
  const code = error instanceof CrawlnodeError ? error.code : 'callback_failed';
  const reason = code === 'callback_failed' ? 'callback_error' : code;
  const thrown = error instanceof CrawlnodeError && error.cause instanceof Error ? error.cause : error;
  if (reason === 'pipeline_error') {
    add(counters, 'item_error_count');
  } else {
    add(counters, `spider_exceptions/${nameOf(thrown)}`);
    add(counters, ERRORS_COUNTER);
  }
  const detail = messageOf(error);
  deps.log.error({ url: record.url, reason }, detail);
  if (thrown instanceof Error) deps.log.debug({ url: record.url, stack: thrown.stack }, 'the error in full');
  const attempts = record.attempts + 1;
  const outcome: Outcome = {
    kind: 'failed',
    reason,
    attempts,
    detail,
    ...(status !== undefined && { status }),
  };
  return { outcome, effects: { ...noEffects, stats: counters } };
}

/** Error classes come from user code: the name becomes part of a counter's name, so it is kept short and plain. */
function nameOf(error: unknown): string {
  const name = error instanceof Error ? error.name || error.constructor.name : typeof error;
  return name.replace(/[^\w.$-]/g, '_').slice(0, 64);
}
