/**
 * Runs the code of the project for a page (callback or errback, then the item pipelines) and makes the effects of its settle.
 * If any of it throws, the page has failed, and nothing that it gave is committed.
 */
import { CrawlnodeError, concernsNode, messageOf } from '../../errors.js';
import { ERRORS_COUNTER } from '../../frontier/budgets.js';
import { keptReason } from '../../frontier/callback-error-keep.js';
import { noEffects, type Outcome } from '../../frontier/frontier.js';
import type { PageResult } from '../../spider/run-callback.js';
import { add, refuse, unfetchable } from '../links/filter-links.js';
import { PageLinks } from '../links/page-links.js';
import type { PageEnding, Work } from './page-work.js';
import { effectsOf } from './settle-effects.js';

/**
 * Run the code of the project. With CALLBACK_ERROR `keep`, what the callback yielded before its error is committed, and the
 * page is marked in the failed list. @param wanted the outcome where nothing throws
 */
export async function runProjectCode(
  work: Work,
  run: () => Promise<PageResult>,
  wanted: Outcome,
): Promise<PageEnding> {
  const { flight, counters, deps } = work;
  const status = 'status' in wanted ? wanted.status : undefined;
  try {
    const {
      items,
      requests,
      unfetchable: links,
      error,
      closing,
    } = await (deps.measures === null ? run() : deps.measures.callback(run));
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

/** Report an error of a callback to the extensions. Errors of a pipeline are reported with their item. */
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

/** The settle of the page will close the run. The first reason counts. */
export function close({ flight, record, deps }: Work, reason: string): void {
  flight.closing ??= reason;
  deps.log.info({ url: record.url, reason }, `a page closes the crawl: ${reason}`);
}

async function endingOf(
  work: Work,
  items: PageResult['items'],
  requests: PageResult['requests'],
  outcome: Outcome,
): Promise<PageEnding> {
  const { flight, record, counters, deps } = work;
  const { lease } = flight;
  const { pipelines, rules, deadEnds, signals } = deps;
  const carrier = { lease, record, pipelines, rules, deadEnds, observer: signals?.observer(work) };
  if (requests.length === 0) return { outcome, effects: await effectsOf(items, null, counters, carrier) };
  const links = new PageLinks({ id: lease.id, record }, deps);
  const settled = await links.take(requests, counters, flight);
  return { outcome, effects: await effectsOf(items, { settled, all: links }, counters, carrier), links };
}

/** @param isKept true when the results before the error are committed. */
export function failedOutcome(
  work: Work,
  error: unknown,
  status: number | undefined,
  isKept: boolean,
): Outcome {
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
