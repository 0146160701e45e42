/**
 * Downloads a page, notes what came of it in counters, and paces its domain: the delay of a late download, a Retry-After, and
 * the pauses of a domain whose server hangs.
 */
import { DownloadError } from '../../downloader/download-error.js';
import type { Download } from '../../downloader/downloader.js';
import { messageOf } from '../../errors.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { Response } from '../../http/message/response.js';
import { add } from '../links/filter-links.js';
import { awaitOwnTurn } from '../middleware/late-download.js';
import type { Received } from '../middleware/through-middleware.js';
import { withConditions } from '../recrawl/conditional-requests.js';
import { askedPause } from './judge-download.js';
import type { Work } from './page-work.js';

/**
 * The delay of a domain counts from the lease. If a download begins later than this, the delay is counted again from its
 * begin, so that the next download keeps its distance. The value is half of the tolerance that two downloads have.
 */
const NOTICEABLY_LATE_MS = 25;

/** The download of this page must not begin any more. */
export class TooLate extends Error {}

/** Begin the download of a page and await it. @throws DownloadError; TooLate; other errors when the page is over */
export async function startDownload(work: Work): Promise<Download> {
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
  const begin = () => flight.during(deps.downloader.start(deps.authorize(outgoing), how));
  const download = await (deps.measures === null ? begin() : deps.measures.download(begin));
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

/** Count a download error. @throws any other error, also that of a page that is over or late */
export function noteFailure(work: Work, error: unknown): DownloadError {
  if (work.flight.over || !(error instanceof DownloadError)) throw error;
  if (error.proxies?.cutShort === true) throw error;
  add(work.counters, 'downloader/exception_count');
  add(work.counters, `downloader/exception_type_count/${error.reason}`);
  if (error.proxies !== null) add(work.counters, 'proxies/failed', error.proxies.count);
  const hangs = error.reason === 'timeout' || error.reason === 'too_slow';
  if (hangs) letRest(work);
  return error;
}

/** Count a response, and pause its domain when it asks for that. */
export function noteResponse(work: Work, download: Download): Received {
  const { url, status, headers, body, flags, fromPrivateAddress } = download;
  const { counters, deps, request } = work;
  const { maxNodes } = deps.options;
  deps.hangingDomains.answered(work.flight.lease.domain);
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

function letRest(work: Work): void {
  const { flight, deps } = work;
  const { domain } = flight.lease;
  const restMs = deps.hangingDomains.hung(domain, performance.now());
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
