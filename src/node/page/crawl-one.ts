/**
 * One page, from its lease to its settle:
 * lease → record → Request → robots.txt → download → Response → callback → pipelines → outcome and effects → settle.
 * `judge-download.ts` decides what the download means, and `apply-verdict.ts` carries that out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError } from '../../downloader/download-error.js';
import type { Download, PageTurn } from '../../downloader/downloader.js';
import { concernsNode, messageOf } from '../../errors.js';
import { noEffects } from '../../frontier/frontier.js';
import { inheritedOrigin } from '../../http/message/private-access.js';
import { decodeRecord } from '../../http/message/record/request-codec.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import { Response } from '../../http/message/response.js';
import { runCallback } from '../../spider/run-callback.js';
import type { Signals } from '../extensions/signals.js';
import { fileWithoutDownload, followsRedirects, inTurn } from '../files/end-file.js';
import { add } from '../links/filter-links.js';
import { awaitOwnTurn } from '../middleware/late-download.js';
import { type PageSteps, type Received, throughMiddleware } from '../middleware/through-middleware.js';
import { throughSpiderMiddleware } from '../middleware/through-spider-middleware.js';
import { isUnchanged, withConditions } from '../recrawl/conditional-requests.js';
import { endRefused } from '../robots/refused-page.js';
import { endOfFile, errback, failed, redirect, retry } from './apply-verdict.js';
import { commit } from './commit-page.js';
import { askedPause, judgeFailure, judgeStatus, type Verdict } from './judge-download.js';
import type { Flight, Slots } from './leased-pages.js';
import { refreshTarget } from './meta-refresh-request.js';
import type { PageDeps, PageEnding, Work } from './page-work.js';

/**
 * The delay of a domain counts from the lease. If a download begins later than this, the delay is counted again from its
 * begin, so that the next download keeps its distance. The value is half of the tolerance that two downloads have.
 */
const NOTICEABLY_LATE_MS = 25;

/** How long the callback of a large page may take, for each byte of its body: 100 ms for a megabyte. */
const CALLBACK_MS_PER_BYTE = 100 / 1_000_000;
/** If no other page ends in this time, none can go before a large one. */
const OTHERS_MS = 50;

/**
 * Process a leased page and settle it once. Never rejects. @param onError gets errors that end the whole incarnation, such
 * as its death.
 */
export async function crawlOne(
  flight: Flight,
  slots: Slots,
  deps: PageDeps,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    const ending = await deps.stats.during(flight, () => processPage(flight, deps));
    const { latencyMs, revisit } = flight;
    let effects = latencyMs === null ? ending.effects : { ...ending.effects, latencyMs };
    if (revisit !== null) effects = revisit.addTo(effects, ending.outcome, ending.links);
    slots.settle(flight, ending.outcome, effects, ending.links);
  } catch (error) {
    if (flight.over) return; // after a drop or a release: the error of the page's own abort
    if (concernsNode(error)) return onError(error);
    // A page with an unexpected error must not stop the node.
    deps.log.error(
      { id: flight.lease.id, error: messageOf(error) },
      'a page failed with an unexpected error',
    );
    const outcome = {
      kind: 'failed',
      reason: 'internal_error',
      attempts: 0,
      detail: messageOf(error),
    } as const;
    slots.settle(flight, outcome, noEffects);
  } finally {
    flight.turn?.end();
  }
}

/**
 * The page returns to the queue, not counted as an attempt: its download would begin too late for the delay of its domain.
 */
const late: PageEnding = {
  outcome: { kind: 'released', reason: 'late', unstarted: true },
  effects: noEffects,
};

function processPage(flight: Flight, deps: PageDeps): Promise<PageEnding> | PageEnding {
  const { lease } = flight;
  let work: Work;
  try {
    const record = decodeRecord(lease.record);
    work = { flight, record, request: Request.fromRecord(record), counters: {}, deps };
  } catch (error) {
    const outcome = { kind: 'failed', reason: 'bad_record', attempts: 0, detail: messageOf(error) } as const;
    return { outcome, effects: noEffects };
  }
  return work.record.waitingItem === null ? proceed(work) : inTurn(work, () => proceedToFile(work));
}

/** A file that another request has fetched meanwhile is not downloaded again. */
async function proceedToFile(work: Work): Promise<PageEnding> {
  if (work.flight.over) throw new Error('the file was given back before its download');
  const finished = await fileWithoutDownload(work);
  if (finished === null) return proceed(work);
  const outcome = { kind: 'done', reason: 'file', attempts: work.record.attempts, unstarted: true } as const;
  return endOfFile(work, finished, outcome);
}

async function proceed(work: Work): Promise<PageEnding> {
  const { flight, deps } = work;
  if (deps.robots !== null) {
    const checked = deps.robots.check(flight, work.record);
    const passage = checked instanceof Promise ? await checked : checked;
    if (passage.kind === 'failed') return giveUp(work, noteFailure(work, passage.error));
    if (passage.kind !== 'go') return endRefused(work, passage);
  }
  const loading = deps.cookies.ready(work.request);
  if (loading !== null) await loading;
  const { waitingItem } = work.record;
  const revisiting = deps.recrawl === null || waitingItem !== null ? null : deps.recrawl.ready(work);
  if (revisiting !== null) await revisiting;
  const middleware = deps.middleware?.downloader ?? null;
  try {
    return await (middleware === null ? straight(work) : throughMiddleware(work, middleware, steps));
  } catch (error) {
    const isCutShort = error instanceof DownloadError && error.proxies?.cutShort === true;
    if (isCutShort || error instanceof TooLate) return late;
    throw error;
  }
}

/** The download of this page must not begin any more. */
class TooLate extends Error {}

/** Process a page without downloader middleware. */
async function straight(work: Work): Promise<PageEnding> {
  let download: Download;
  try {
    download = await startDownload(work);
  } catch (error) {
    const failure = noteFailure(work, error);
    const verdict = judgeFailure(failure, work.record, work.deps.options);
    return verdict.kind === 'retry' ? retry(work, verdict, null) : giveUp(work, failure);
  }
  const received = noteResponse(work, download);
  const { response, pauseMs } = received;
  const verdict = judgeStatus(response.status, response.headers, work.record, work.deps.options, pauseMs);
  return await finish(work, verdict, received);
}

const steps: PageSteps = { startDownload, noteFailure, giveUp, noteResponse, finish };

async function startDownload(work: Work): Promise<Download> {
  const { flight, record, deps, counters } = work;
  const prepared = work.hasCookies === true ? { ...work.request, cookies: null } : deps.cookies.prepare(work);
  let outgoing = prepared instanceof Promise ? await prepared : prepared;
  // Whatever the page waited for before, this is the one place that asks.
  if (flight.beginByMs < performance.now() && !(await hasOtherInstant(work))) throw new TooLate();
  if (flight.over) throw new Error('the page was given back before its download');
  if (flight.revisit !== null) outgoing = withConditions(flight.revisit, outgoing);
  add(counters, 'downloader/request_count');
  add(counters, `downloader/request_method_count/${record.method}`);
  if (isFirstDownload(record) && record.meta.proxy_ignored === true) add(counters, 'proxies/ignored_in_seed');
  flight.started = true;
  const { delayMs } = flight.lease;
  const lateMs = performance.now() - flight.dueAt;
  if (delayMs > 0 && lateMs > NOTICEABLY_LATE_MS) leaveAlone(work, delayMs, 'setting');
  const purpose = record.waitingItem === null ? 'page' : 'file';
  const how = {
    purpose,
    isLenient: record.lenient === true,
    beginByMs: flight.beginByMs,
    onStall: flight.onStall,
  } as const;
  const download = await flight.during(deps.downloader.start(deps.authorize(outgoing), how));
  const taking = deps.cookies.receive(work, download);
  if (taking !== null) await taking;
  return download;
}

/** Only a page with middleware waits: given back, its request would come to the same slow middleware again, for ever. */
function hasOtherInstant({ flight, deps }: Work): Promise<boolean> | false {
  return deps.middleware?.downloader != null && awaitOwnTurn(flight, deps);
}

function isFirstDownload({ depth, attempts, redirects }: RequestRecord): boolean {
  return depth === 0 && attempts === 0 && redirects === 0;
}

function noteFailure(work: Work, error: unknown): DownloadError {
  if (work.flight.over || !(error instanceof DownloadError)) throw error;
  if (error.proxies?.cutShort === true) throw error;
  add(work.counters, 'downloader/exception_count');
  add(work.counters, `downloader/exception_type_count/${error.reason}`);
  if (error.proxies !== null) add(work.counters, 'proxies/failed', error.proxies.count);
  const hangs = error.reason === 'timeout' || error.reason === 'too_slow';
  if (hangs) letRest(work);
  return error;
}

/** A download error that is not retried: errback and failed. */
function giveUp(work: Work, error: DownloadError): Promise<PageEnding> {
  if (error.retryable) add(work.counters, 'retry/max_reached');
  return failed(work, { reason: error.reason, status: null, response: null, message: error.message });
}

function noteResponse(work: Work, download: Download): Received {
  const { url, status, headers, body, flags, fromPrivateAddress } = download;
  const { counters, deps, request } = work;
  const { maxNodes } = deps.options;
  deps.hangingHosts.answered(work.flight.lease.domain);
  const isCached = download.cache === 'hit';
  if (!isCached && request.meta.autothrottle_dont_adjust_delay !== true)
    work.flight.latencyMs = download.latencyMs;
  if (!isCached && deps.options.autoThrottleDebug) deps.delays.note(work.flight.lease, download);
  add(counters, 'downloader/response_count');
  add(counters, `downloader/response_status_count/${status}`);
  add(counters, 'downloader/response_bytes', download.wireBytes);
  if (isCached) add(counters, 'httpcache/hit');
  else if (download.cache === 'stored') add(counters, 'httpcache/store');
  if (download.failedProxies !== undefined) add(counters, 'proxies/failed', download.failedProxies);

  const pauseMs = isCached
    ? null
    : askedPause(status, headers, Date.now(), deps.options.retry.retryAfterCapMs);
  if (pauseMs !== null && pauseMs > 0) {
    const { domain } = work.flight.lease;
    const seconds = Math.ceil(pauseMs / 1_000);
    deps.log.info(
      { domain, status, forMs: pauseMs },
      `${domain} answered ${status} with Retry-After: no requests to it for ${seconds} s`,
    );
    leaveAlone(work, pauseMs, 'retry-after');
  }
  const response = new Response({ url, status, headers, body, flags, request, maxNodes });
  return { response, fromPrivateAddress, pauseMs };
}

/** Carry out the verdict on a response. Not async, which saves every page a promise. */
function finish(judged: Work, verdict: Verdict, received: Received): Promise<PageEnding> | PageEnding {
  const { response, fromPrivateAddress } = received;
  const { status } = response;
  if (verdict.kind === 'retry') return retry(judged, verdict, status);
  const work = passingOn(judged, inheritedOrigin(judged.record.origin, fromPrivateAddress));
  const isFile = work.record.waitingItem !== null;
  if (verdict.kind === 'redirect' && !(isFile && !followsRedirects(work))) {
    return redirect(work, status, verdict.location, 'redirect');
  }

  add(work.counters, 'response_received_count');
  work.flight.turn = work.deps.downloader.enter(response.body.length);
  if (work.flight.turn !== null) return inItsTurn(work, verdict, response, work.flight.turn);
  return hear(work, verdict, response);
}

/**
 * A page with a large body waits until the node has the memory for a tree of it. Then it lets other pages go before it, as
 * long as they get through and have not taken more time than its callback may take: the others have at least half of the time.
 */
async function inItsTurn(
  work: Work,
  verdict: Verdict,
  response: Response,
  turn: PageTurn,
): Promise<PageEnding> {
  await turn.comes;
  const goesAtMs = performance.now() + response.body.length * CALLBACK_MS_PER_BYTE;
  const { deps, flight } = work;
  for (let before = -1; goesAtMs - performance.now() > OTHERS_MS && !flight.over; ) {
    const ended = deps.endedPages();
    if (ended === before) break;
    before = ended;
    await sleep(OTHERS_MS);
  }
  if (work.flight.over) throw new Error('the page was given back before its callback');
  return hear(work, verdict, response);
}

function hear(work: Work, verdict: Verdict, response: Response): Promise<PageEnding> | PageEnding {
  const { signals } = work.deps;
  if (signals?.hears('responseReceived')) return tellAndPassOn(work, verdict, response, signals);
  return passOn(work, verdict, response);
}

/** Tell the extensions of a response before it is passed on. */
async function tellAndPassOn(
  work: Work,
  verdict: Verdict,
  response: Response,
  signals: Signals,
): Promise<PageEnding> {
  await signals.ofPage('responseReceived', { response, request: work.request }, work);
  return passOn(work, verdict, response);
}

/** Pass on a response that is neither tried again nor redirected: to its callback or errback, or to the item of its file. */
function passOn(work: Work, verdict: Verdict, response: Response): Promise<PageEnding> | PageEnding {
  const { counters, record, deps } = work;
  const { status } = response;
  const isFile = record.waitingItem !== null;
  const attempts = record.attempts + 1;
  if (isFile && verdict.kind === 'callback') {
    return endOfFile(work, response, { kind: 'done', reason: 'file', status, attempts });
  }
  const { revisit } = work.flight;
  if (isUnchanged(revisit, status)) {
    add(counters, 'recrawl/not_modified');
    deps.deadEnds.note('not modified since the last download', record.url);
    return {
      outcome: { kind: 'done', reason: 'not_modified', status, attempts },
      effects: { ...noEffects, stats: counters },
    };
  }
  const target =
    isFile || verdict.kind === 'exhausted' ? null : refreshTarget(response, record, deps.options.metaRefresh);
  if (target !== null) return redirect(work, status, target, 'meta_refresh');
  work.flight.response = response;
  if (verdict.kind === 'callback') {
    revisit?.receive(response);
    deps.log.debug({ url: record.url, status }, 'crawled');
    const outcome = { kind: 'done', reason: 'crawled', status, attempts } as const;
    const middleware = deps.middleware?.spider ?? null;
    if (middleware !== null) return throughSpiderMiddleware(work, middleware, response, outcome);
    return commit(work, () => runCallback(deps.spider, record.callback, response, deps.options), outcome);
  }
  const failure = { reason: 'http_status', status, response, message: `${record.url} answered ${status}` };
  if (verdict.kind === 'exhausted') {
    add(counters, 'retry/max_reached');
    return failed(work, failure);
  }
  if (!isFile) deps.deadEnds.note(`status ${status}`, record.url);
  add(counters, 'httperror/response_ignored_count');
  add(counters, `httperror/response_ignored_status_count/${status}`);
  return errback(work, failure, { kind: 'done', reason: 'httperror', status, attempts, noPage: 'error' });
}

/** The page with another origin, which its links and redirects inherit. */
function passingOn(work: Work, origin: RequestRecord['origin']): Work {
  return origin === work.record.origin ? work : { ...work, record: { ...work.record, origin } };
}

function letRest(work: Work): void {
  const { flight, deps } = work;
  const { domain } = flight.lease;
  const restMs = deps.hangingHosts.hung(domain, performance.now());
  if (restMs === null) return;
  deps.log.debug(
    { domain, forMs: restMs },
    'a server does not respond; the crawl sends it no requests for a while',
  );
  leaveAlone(work, restMs, 'autothrottle');
}

/** Pause a domain for all nodes. This is sent before the settle of the page, so that no lease comes in between. */
function leaveAlone(
  { flight, deps }: Work,
  forMs: number,
  source: 'setting' | 'retry-after' | 'autothrottle',
): void {
  const { domain } = flight.lease;
  deps.frontier.throttle(domain, { forMs, source }).catch((error: unknown) => {
    deps.log.debug({ domain, error: messageOf(error) }, 'the pause of a domain could not be recorded');
  });
}
