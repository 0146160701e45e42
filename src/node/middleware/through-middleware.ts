/**
 * The way of a page through the modules of DOWNLOADER_MIDDLEWARES: one chain, one lease, one settle.
 *
 * ```
 *   request ──► processRequest, ascending ──► download ──┐
 *                  │ a Response: no download             │ response           error
 *                  └────────────────────────────────────►▼                      ▼
 *                        processResponse ≥ 600           │      processException ≥ 550
 *                        redirect (600) ends the way     │      retry (550) ends the way
 *                        processResponse 550–599         │      processException < 550
 *                        retry (550) ends the way        │      a Response ──► as a response
 *                        processResponse < 550           ▼
 *   callback, errback ◄──────────────────────────────────┘
 * ```
 */
import { DownloadError } from '../../downloader/download-error.js';
import type { Download } from '../../downloader/downloader.js';
import { closingReason, isIgnoreRequest } from '../../errors.js';
import { noEffects } from '../../frontier/frontier.js';
import { type OutgoingRequest, outgoingRequest } from '../../http/message/outgoing-request.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { isPrivateHost } from '../../http/url/private-hosts.js';
import { COOKIES, REDIRECT, RETRY } from '../../settings/built-in-middleware.js';
import { add } from '../links/filter-links.js';
import { failed, retry } from '../page/apply-verdict.js';
import { judgeFailure, judgeStatus, type Verdict } from '../page/judge-download.js';
import type { PageEnding, Work } from '../page/page-work.js';
import { close } from '../page/run-project-code.js';
import type { DownloaderChain, Part, Step, Thrown } from './downloader-chain.js';
import { dropped } from './dropped-page.js';
import { takeReturned } from './returned-request.js';

/** The response to a page, downloaded or made by a module. */
export interface Received {
  readonly response: Response;
  readonly fromPrivateAddress: boolean;
  /** What the server asked for in Retry-After; null when it did not. */
  readonly pauseMs: number | null;
}

/** The steps of a page that do not depend on middleware; see `crawl-one.ts` and `download-page.ts`. */
export interface PageSteps {
  startDownload(work: Work): Promise<Download>;
  noteFailure(work: Work, error: unknown): DownloadError;
  noteResponse(work: Work, download: Download): Received;
  finish(work: Work, verdict: Verdict, received: Received): Promise<PageEnding> | PageEnding;
  giveUp(work: Work, error: DownloadError, isExhausted: boolean): Promise<PageEnding>;
}

/** The built-in steps that a response passes; after each of them its way may end. */
const inward: readonly (Part & {
  readonly passed: 'redirect' | 'retry' | null;
  readonly end: Verdict['kind'] | null;
})[] = [
  { from: REDIRECT, below: Number.POSITIVE_INFINITY, passed: null, end: 'redirect' },
  { from: RETRY, below: REDIRECT, passed: 'redirect', end: 'retry' },
  { from: Number.NEGATIVE_INFINITY, below: RETRY, passed: 'retry', end: null },
];
/** The Cookie header is made in between. */
const beforeCookies: Part = { from: Number.NEGATIVE_INFINITY, below: COOKIES };
const afterCookies: Part = { from: COOKIES, below: Number.POSITIVE_INFINITY };
const aboveRetry: Part = { from: RETRY, below: Number.POSITIVE_INFINITY };
const belowRetry: Part = { from: Number.NEGATIVE_INFINITY, below: RETRY };

interface Page {
  readonly work: Work;
  readonly request: OutgoingRequest;
  readonly chain: DownloaderChain;
  readonly steps: PageSteps;
}

/** Process a page. A page that ends without a download is not counted against the budget. */
export async function throughMiddleware(
  stored: Work,
  chain: DownloaderChain,
  steps: PageSteps,
): Promise<PageEnding> {
  const request = outgoingRequest(stored.request);
  const work = { ...stored, request };
  const ending = await goOut({ work, request, chain, steps });
  if (work.flight.started) return ending;
  return { ...ending, outcome: { ...ending.outcome, unstarted: true } };
}

async function goOut(page: Page): Promise<PageEnding> {
  const { work, request, chain, steps } = page;
  const { deps } = work;
  const early = await chain.request(request, deps.spider, beforeCookies);
  if (early.kind === 'thrown') return recover(page, early.thrown);
  if (early.kind !== 'pass') return follow(page, early);
  const cookie = await deps.cookies.attach(work, chain.defaultCookie);
  const step = await chain.request(request, deps.spider, afterCookies);
  if (step.kind !== 'pass') detach(request, cookie);
  if (step.kind === 'thrown') return recover(page, step.thrown);
  if (step.kind === 'request') return follow(page, { ...step, request: withoutCookie(step.request, cookie) });
  if (step.kind === 'response') return follow(page, step);

  let download: Download;
  try {
    download = await steps.startDownload(cookie === null ? work : { ...work, hasCookies: true });
  } catch (error) {
    detach(request, cookie);
    return recover(page, steps.noteFailure(work, error));
  }
  detach(request, cookie);
  return comeIn(page, steps.noteResponse(work, download));
}

/**
 * Remove the Cookie header that was added. A copy of the request that is made later would store today's session with it,
 * and send that instead of the jar's cookies.
 */
function detach({ headers }: OutgoingRequest, cookie: string | null): void {
  if (cookie !== null && headers.Cookie === cookie) delete headers.Cookie;
}

function withoutCookie(request: Request, cookie: string | null): Request {
  const isAttached = (name: string) => name.toLowerCase() === 'cookie' && request.headers[name] === cookie;
  if (cookie === null || !Object.keys(request.headers).some(isAttached)) return request;
  const headers = Object.entries(request.headers).filter(([name]) => !isAttached(name));
  return request.replace({ headers: Object.fromEntries(headers) });
}

async function comeIn(page: Page, given: Received): Promise<PageEnding> {
  const { work, request, chain, steps } = page;
  const { deps } = work;
  const record = asChanged(page);
  let received = given;
  let verdict: Verdict = { kind: 'ignored' };
  for (const part of inward) {
    const step = await chain.response(request, received.response, deps.spider, part);
    if (step.kind !== 'response') return follow(page, step, received.response);
    const { response } = step;
    received = { ...received, response };
    verdict = judgeStatus(
      response.status,
      response.headers,
      record,
      deps.options,
      received.pauseMs,
      part.passed,
    );
    if (verdict.kind === part.end) break;
  }
  return steps.finish(work, verdict, received);
}

/** Errors of the download and of modules that process the request. */
async function recover(page: Page, cause: DownloadError | Thrown): Promise<PageEnding> {
  const { work, request, chain, steps } = page;
  const { deps } = work;
  const isDownload = cause instanceof DownloadError;
  const error = isDownload ? cause : cause.error;
  const above = await chain.exception(request, error, deps.spider, aboveRetry);
  if (above.kind !== 'pass') return follow(page, above);
  const verdict = isDownload ? judgeFailure(cause, asChanged(page), deps.options) : null;
  if (verdict?.kind === 'retry') return retry(work, verdict, null);
  const below = await chain.exception(request, error, deps.spider, belowRetry);
  if (below.kind !== 'pass') return follow(page, below);
  return isDownload ? steps.giveUp(work, cause, verdict?.kind === 'exhausted') : refuse(work, cause, null);
}

/** Modules may also change what `meta` says of statuses and retries. */
function asChanged({ work, request }: Page): RequestRecord {
  return { ...work.record, meta: request.meta };
}

/** @param answered the response that a module was called with, if any */
async function follow(
  page: Page,
  step: Exclude<Step, { kind: 'pass' }>,
  answered: Response | null = null,
): Promise<PageEnding> {
  const { work } = page;
  if (step.kind === 'thrown') return refuse(work, step.thrown, answered);
  if (step.kind === 'request') {
    return takeReturned(work, step.request, step.by, answered?.status ?? null);
  }
  // Only the module knows where the response came from, so the URL decides whether its links may lead to private addresses.
  const fromPrivateAddress = isPrivateHost(work.record.url);
  return comeIn(page, { response: step.response, fromPrivateAddress, pauseMs: null });
}

/** A module dropped the page, or failed. */
async function refuse(work: Work, thrown: Thrown, response: Response | null): Promise<PageEnding> {
  const { counters, flight } = work;
  const { error, message } = thrown;
  const closing = closingReason(error);
  if (closing !== null) {
    close(work, closing);
    // Its request is left to the next run.
    const outcome = { kind: 'released', reason: 'close_spider', unstarted: !flight.started } as const;
    return { outcome, effects: noEffects };
  }
  const status = response?.status ?? null;
  if (!isIgnoreRequest(error)) return failed(work, { reason: 'middleware_error', status, response, message });
  add(counters, 'downloader/exception_count');
  add(counters, 'downloader/exception_type_count/IgnoreRequest');
  return dropped(work, thrown, response);
}
