/**
 * One page, from its lease to its settle:
 * lease → record → Request → robots.txt → download → Response → callback → pipelines → outcome and effects → settle.
 * `judge-download.ts` decides what the download means, and `apply-verdict.ts` carries that out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError } from '../../downloader/download-error.js';
import type { Download } from '../../downloader/downloader.js';
import { concernsNode, messageOf } from '../../errors.js';
import { noEffects } from '../../frontier/frontier.js';
import { decodeRecord } from '../../http/message/record/request-codec.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { inheritedOrigin } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { runCallback } from '../../spider/run-callback.js';
import { fileWithoutDownload, followsRedirects, inTurn } from '../files/end-file.js';
import { add } from '../links/filter-links.js';
import { type PageSteps, type Received, throughMiddleware } from '../middleware/through-middleware.js';
import { throughSpiderMiddleware } from '../middleware/through-spider-middleware.js';
import { isUnchanged } from '../recrawl/conditional-requests.js';
import { endRefused } from '../robots/refused-page.js';
import { endOfFile, failed, ignored, redirect, retry } from './apply-verdict.js';
import { noteFailure, noteResponse, startDownload, TooLate } from './download-page.js';
import type { Flight } from './flight.js';
import { endingCounters, judgeFailure, judgeStatus, type Verdict } from './judge-download.js';
import type { Slots } from './leased-pages.js';
import { refreshTarget } from './meta-refresh-request.js';
import type { PageDeps, PageEnding, Work } from './page-work.js';
import { runProjectCode } from './run-project-code.js';

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
    effects = { ...effects, stats: { ...effects.stats, ...endingCounters(ending.outcome) } };
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
    slots.settle(flight, outcome, { ...noEffects, stats: endingCounters(outcome) });
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
    if (passage.kind === 'failed') return giveUp(work, noteFailure(work, passage.error), false);
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

/** Process a page without downloader middleware. */
async function straight(work: Work): Promise<PageEnding> {
  let download: Download;
  try {
    download = await startDownload(work);
  } catch (error) {
    const failure = noteFailure(work, error);
    const verdict = judgeFailure(failure, work.record, work.deps.options);
    if (verdict.kind === 'retry') return retry(work, verdict, null);
    return giveUp(work, failure, verdict.kind === 'exhausted');
  }
  const received = noteResponse(work, download);
  const { response, pauseMs } = received;
  const verdict = judgeStatus(response.status, response.headers, work.record, work.deps.options, pauseMs);
  return await finish(work, verdict, received);
}

const steps: PageSteps = { startDownload, noteFailure, giveUp, noteResponse, finish };

/** A download error that is not retried: errback and failed. @param isExhausted its retries are used up */
function giveUp(work: Work, error: DownloadError, isExhausted: boolean): Promise<PageEnding> {
  if (isExhausted) add(work.counters, 'retry/max_reached');
  return failed(work, { reason: error.reason, status: null, response: null, message: error.message });
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
  const { downloader, signals } = work.deps;
  work.flight.turn = downloader.enter(response.body.length);
  const isHeard = signals?.hears('responseReceived') === true;
  return work.flight.turn !== null || isHeard
    ? passOnLater(work, verdict, response)
    : passOn(work, verdict, response);
}

/**
 * Wait as long as other pages get through, but not longer than the callback of a large page may take, so that the others have
 * at least half of the time.
 */
async function othersFirst({ flight, deps }: Work, bodyBytes: number): Promise<void> {
  const goesAtMs = performance.now() + bodyBytes * CALLBACK_MS_PER_BYTE;
  for (let before = -1; goesAtMs - performance.now() > OTHERS_MS && !flight.over; ) {
    const ended = deps.endedPages();
    if (ended === before) return;
    before = ended;
    await sleep(OTHERS_MS);
  }
}

/**
 * Pass on a response once its turn has come and the extensions were told of it. A page with a large body waits for its turn
 * until the node has the memory for a tree of it and other pages have gone first.
 */
async function passOnLater(work: Work, verdict: Verdict, response: Response): Promise<PageEnding> {
  const { flight, deps, request } = work;
  if (flight.turn !== null) {
    flight.waitsForTurn = true;
    flight.onStall();
    await flight.turn.comes;
    await othersFirst(work, response.body.length);
    flight.waitsForTurn = false;
  }
  if (flight.over) throw new Error('the page was given back before its callback');
  await deps.signals?.ofPage('responseReceived', { response, request }, work);
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
    return runProjectCode(
      work,
      () => runCallback(deps.spider, record.callback, response, deps.options),
      outcome,
    );
  }
  const failure = { reason: 'http_status', status, response, message: `${record.url} answered ${status}` };
  if (verdict.kind === 'exhausted') {
    add(counters, 'retry/max_reached');
    return failed(work, failure);
  }
  return ignored(work, failure);
}

/** The page with another origin, which its links and redirects inherit. */
function passingOn(work: Work, origin: RequestRecord['origin']): Work {
  return origin === work.record.origin ? work : { ...work, record: { ...work.record, origin } };
}
