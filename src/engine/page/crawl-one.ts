/**
 * One page, from its lease to its settle:
 * lease → record → Request → download → Response → callback → pipelines → outcome and effects → settle.
 * What came of the download is judged in `outcome.ts` and carried out in `page-endings.ts`.
 */
import { DownloadError } from '../../downloader/download-error.js';
import type { Download } from '../../downloader/downloader.js';
import { concernsNode, messageOf } from '../../errors.js';
import { noEffects } from '../../frontier/frontier.js';
import { Request } from '../../http/message/request.js';
import { decodeRecord } from '../../http/message/request-codec.js';
import { Response } from '../../http/message/response.js';
import { runCallback } from '../../spider/run-callback.js';
import { add } from './discovered-requests.js';
import { askedPause, beginWithinMs, judgeFailure, judgeStatus } from './outcome.js';
import {
  commit,
  type Ending,
  errback,
  failed,
  type PageDeps,
  redirect,
  retry,
  type Work,
} from './page-endings.js';
import type { Flight, Slots } from './slots.js';

/**
 * The delay of a domain counts from the lease. A download that begins so much later, half of what two of them may be
 * closer than the delay, has it counted from then, so that the next one keeps its distance.
 */
const NOTICEABLY_LATE_MS = 25;

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
  const lateMs = performance.now() - flight.askedAt;
  if (lateMs > beginWithinMs(lease.delayMs)) {
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
  if (lease.delayMs > 0 && lateMs > NOTICEABLY_LATE_MS) leaveAlone(work, lease.delayMs, 'setting');
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
  if (pauseMs !== null && pauseMs > 0) {
    deps.log.info({ domain: work.flight.lease.domain, forMs: pauseMs }, 'the site asks to be left alone');
    leaveAlone(work, pauseMs, 'retry-after');
  }
  const verdict = judgeStatus(status, headers, record, deps.options, pauseMs);
  if (verdict.kind === 'retry') return retry(work, verdict, status);
  if (verdict.kind === 'redirect') return redirect(work, status, verdict.location);

  add(counters, 'response_received_count');
  const attempts = record.attempts + 1;
  const { url, body } = download;
  const response = new Response({ url, status, headers, body, request: work.request });
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

/** All nodes leave the domain alone from now on; issued before the page's settle, so no lease slips in between. */
function leaveAlone({ flight, deps }: Work, forMs: number, source: 'setting' | 'retry-after'): void {
  const { domain } = flight.lease;
  deps.frontier.throttle(domain, { forMs, source }).catch((error: unknown) => {
    deps.log.debug({ domain, error: messageOf(error) }, 'the pause of a domain could not be noted');
  });
}
