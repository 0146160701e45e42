/** What each verdict of `judge-download.ts` makes of a page: the outcome and the effects of its settle. */
import { concernsNode, InvalidRequestError } from '../../errors.js';
import { type Effects, MAX_IGNORED_URL_CHARS, noEffects, type Outcome } from '../../frontier/frontier.js';
import { priorityInBounds } from '../../http/message/priority.js';
import { encodeRecord } from '../../http/message/record/request-codec.js';
import { Request } from '../../http/message/request.js';
import { isRequestModuleError } from '../../http/message/request-module.js';
import { type Failure, type PageLimits, runErrback } from '../../spider/run-callback.js';
import { endFile, type FileEnd } from '../files/end-file.js';
import { add, refusalOf, toFrontier } from '../links/filter-links.js';
import { refererIn } from '../links/referer.js';
import type { Verdict } from './judge-download.js';
import type { PageDeps, PageEnding, Work } from './page-work.js';
import { redirected } from './redirected-request.js';
import { failedOutcome, runProjectCode, tellDropped } from './run-project-code.js';

/** The status of a redirect that is followed with GET. */
const SEE_OTHER = 303;

/** The same request once more, later. */
export function retry(
  work: Work,
  { reason, reasonCount, plan, isLenient = false }: Extract<Verdict, { kind: 'retry' }>,
  status: number | null,
): PageEnding {
  add(work.counters, 'retry/count');
  add(work.counters, `retry/reason_count/${reasonCount}`);
  const { afterMs, priority } = plan;
  const attempts = work.record.attempts + 1;
  const record = encodeRecord({
    ...{ ...work.record, attempts, priority },
    ...(isLenient && { lenient: true as const }),
  });
  const outcome: Outcome = {
    kind: 'retry',
    reason,
    attempts,
    afterMs,
    priority,
    record,
    ...(status !== null && { status }),
  };
  return { outcome, effects: { ...noEffects, stats: work.counters } };
}

/**
 * A redirect is a new request, judged by the dupefilter like any discovered one; this request is done. @param reason a `meta_refresh` is
 * followed with GET.
 */
export async function redirect(
  work: Work,
  status: number,
  location: string,
  reason: 'redirect' | 'meta_refresh',
): Promise<PageEnding> {
  const { counters, record, flight, deps } = work;
  const attempts = record.attempts + 1;
  const outcome: Outcome = { kind: 'done', reason, status, attempts, noPage: 'other' };
  const done = (...requests: Effects['requests']): PageEnding => ({
    outcome,
    effects: { ...noEffects, requests, stats: counters },
  });

  // Cookies that were added to the jar follow the rules of the jar, so the redirect does not copy them.
  const asked = flight.cookies === null ? record : { ...record, cookies: null };
  const hop = redirected(asked, reason === 'meta_refresh' ? SEE_OTHER : status, location);
  const leadNowhere = () => {
    add(counters, 'redirect/bad_location');
    deps.deadEnds.note('redirect without a usable Location', record.url);
    return record.waitingItem === null ? done() : endOfFile(work, { failed: 'bad_redirect' }, outcome);
  };
  if (hop === null) return leadNowhere();
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
    return leadNowhere();
  }
}

/** Errback, then the failed list. */
export function failed(work: Work, failure: Omit<Failure, 'request'>): Promise<PageEnding> {
  const { reason, status, message } = failure;
  return errback(work, failure, {
    kind: 'failed',
    reason,
    attempts: work.record.attempts + 1,
    detail: message,
    ...(status !== null && { status }),
  });
}

/** Errback, then done, and listed among the ignored pages. A file is not listed: its item records it. */
export async function ignored(
  work: Work,
  failure: Omit<Failure, 'request'> & { readonly status: number },
): Promise<PageEnding> {
  const { counters, record, deps } = work;
  const { status } = failure;
  const isFile = record.waitingItem !== null;
  if (!isFile) deps.deadEnds.note(`status ${status}`, record.url);
  add(counters, 'httperror/response_ignored_count');
  add(counters, `httperror/response_ignored_status_count/${status}`);
  const attempts = record.attempts + 1;
  const outcome: Outcome = { kind: 'done', reason: 'httperror', status, attempts, noPage: 'error' };
  const ending = await errback(work, failure, outcome);
  if (isFile || ending.outcome.kind !== 'done') return ending;
  const page = {
    status,
    url: record.url.slice(0, MAX_IGNORED_URL_CHARS),
    referer: refererIn(record.headers)?.slice(0, MAX_IGNORED_URL_CHARS) ?? null,
  };
  return { ...ending, effects: { ...ending.effects, ignored: page } };
}

/** Run the errback, if there is one, and commit its results with the outcome. */
export async function errback(
  work: Work,
  failure: Omit<Failure, 'request'>,
  outcome: Outcome,
): Promise<PageEnding> {
  const { record, request, deps } = work;
  if (record.waitingItem !== null) {
    const { reason, status } = failure;
    return endOfFile(work, { failed: reason === 'http_status' ? `http_${status}` : reason }, outcome);
  }
  if (!deps.failedStartPages.tell(record, failure.message)) logLoss(work, failure, outcome);
  if (record.errback === null) return { outcome, effects: { ...noEffects, stats: work.counters } };
  return runProjectCode(
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

/**
 * The request of a file is done, whatever the result: its item records it. Only an error of `endFile` fails the request.
 */
export async function endOfFile(work: Work, end: FileEnd, outcome: Outcome): Promise<PageEnding> {
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
    return {
      outcome: { ...failedOutcome(work, error, status, false), ...(unstarted && { unstarted }) },
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
