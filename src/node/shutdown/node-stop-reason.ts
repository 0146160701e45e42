/** Decides why a node stops, from the state of the store and of the node itself. Pure functions. */
import { FrontierGoneError, WaitedTooLongError } from '../../errors.js';
import type { FeedTrouble } from '../../feed-outbox.js';
import { n } from '../../format-amounts.js';
import type { CrawlState, Joined } from '../../frontier/frontier.js';
import { lossMessage } from '../losses/lost-requests.js';

/** The end of a node's part in the crawl. */
export interface NodeEnding {
  /** Scrapy's closing reason where it has one. */
  readonly reason: string;
  readonly exitCode: 0 | 1 | 4;
  readonly message: string | null;
  /** False when there is nothing to deregister from: the records are gone, or this node has left already. */
  readonly leave: boolean;
  /** The store has been away for too long, so the leaving node waits for nothing. */
  readonly atOnce?: true;
  /** `NodeResult.hasWaited`. */
  readonly hasWaited?: true;
}

/** The state of a node when it decides whether to stop. */
export interface NodeView {
  readonly exitWhenDone: boolean;
  readonly startTimeoutMs: number;
  readonly maxIdleMs: number;
  /** WAIT_TIMEOUT; 0 is without end. */
  readonly waitTimeoutMs: number;
  /** Since this node joined. */
  readonly joinedForMs: number;
  /** Whether there were requests when it joined, or it has processed some since. */
  readonly worked: boolean;
  /** Whether an earlier node has pushed the start requests of the spider, so that none will follow. */
  readonly startedBefore: boolean;
  /** What it found when it joined. */
  readonly found: Joined['found'];
  /** `NodeDeps.crawlArguments`. */
  readonly crawlArguments: string;
}

export function ending(reason: string, message: string | null = null): NodeEnding {
  return { reason, exitCode: 0, message, leave: true };
}

/**
 * Whether the crawl is over for this node. The store decides whether it is complete (`finished`), so that all nodes agree.
 * A crawl in which nothing has begun waits for its first seed.
 */
export function crawlEnding(crawl: CrawlState, view: NodeView): NodeEnding | null {
  if (crawl.closing !== null) return withLosses(ending(crawl.closing), crawl, view);
  if (crawl.control === 'stopping') return ending('stopped');
  if (crawl.stall === 'hopeless') return stalled(view);
  if (isIdleTooLong(crawl, view)) return withLosses(ending('finished', nothingToDo(view)), crawl, view);
  if (!view.exitWhenDone) return null;
  if (!crawl.finished) return isMemoryFullTooLong(crawl, view) ? memoryFull(view) : null;
  // Also where this run had nothing to do: it would take what an earlier one has lost for done.
  if (crawl.lost > 0) return withLosses(ending('finished'), crawl, view);
  if (crawl.acceptedInRun > 0 || view.worked) return ending('finished');
  if (view.startedBefore) return ending('finished', `${nothingNew(view)}; ${howToCrawlAgain(view)}`);
  return view.joinedForMs >= view.startTimeoutMs ? ending('finished', nothingCame(view)) : null;
}

/** Nothing is in the queue, so only SCHEDULER_MEMORY_LIMIT can keep seeds out of it, and the nodes can do nothing about that. */
function isMemoryFullTooLong(
  { full, idleMs, seedsWaiting }: CrawlState,
  { waitTimeoutMs }: NodeView,
): boolean {
  return full && seedsWaiting > 0 && waitTimeoutMs > 0 && idleMs >= waitTimeoutMs;
}

function memoryFull({ waitTimeoutMs }: NodeView): NodeEnding {
  const message =
    'seeds wait, as the crawl takes more than SCHEDULER_MEMORY_LIMIT in the store and nothing in progress makes room: raise the limit, take items out ' +
    `of the items list, or choose a smaller DUPEFILTER_CLASS; waited ${waitTimeoutMs / 1_000} s for it (WAIT_TIMEOUT)`;
  return { reason: 'memory_limit', exitCode: 1, message, leave: true, hasWaited: true };
}

/** Waiting would never end. */
function stalled({ crawlArguments }: NodeView): NodeEnding {
  const message =
    'requests are left that no node can find, also after their queues were rebuilt from their records: stop the nodes, and run ' +
    `"crawlnode doctor ${crawlArguments} --deep", which names what is wrong, and "crawlnode doctor ${crawlArguments} --repair"`;
  return { reason: 'crawl_stalled', exitCode: 1, message, leave: true };
}

/**
 * The end of a run that ends by itself: 1 while requests are lost, in this and every later run. A crawl whose only remaining
 * requests are lost is complete, but not finished. `stop` and signals keep their codes, so that a supervisor starts nothing again.
 */
export function withLosses(
  end: NodeEnding,
  { lost, cameBack }: Pick<CrawlState, 'lost' | 'cameBack'>,
  { crawlArguments }: Pick<NodeView, 'crawlArguments'>,
): NodeEnding {
  if (lost === 0) return end;
  const reason = end.reason === 'finished' ? 'requests_lost' : end.reason;
  return { ...end, reason, exitCode: 1, message: lossMessage(lost, crawlArguments, cameBack) };
}

/**
 * How an error ends this node.
 * @param persist whether the crawl is kept when it is over: else its other nodes may have cleared it.
 * @throws the error itself, where it is none that ends a node in good order
 */
export function errorEnding(error: unknown, persist: boolean): NodeEnding {
  if (error instanceof WaitedTooLongError) {
    const { code: reason, exitCode } = error;
    const message = `${error.message}; nothing committed is lost, and other nodes or the next run do the pages again that this node could not commit`;
    return { reason, exitCode, message, leave: true, atOnce: true, hasWaited: true };
  }
  if (error instanceof FrontierGoneError) {
    const others = persist
      ? ''
      : '; or the other nodes counted this one as dead, finished the crawl and cleared it (SCHEDULER_PERSIST false)';
    const message = `${error.message}${others}`;
    return { reason: 'frontier_gone', exitCode: 1, message, leave: false };
  }
  throw error;
}

/**
 * A feed file could not be written for WAIT_TIMEOUT, and more items wait for it than may (FEED_OUTBOX_LIMIT); or it is not as
 * the crawl has left it.
 */
export function feedEnding({ why, isFinal }: FeedTrouble, waitedMs: number): NodeEnding {
  if (isFinal) return { reason: 'feed_changed', exitCode: 1, message: why, leave: true };
  const message = unwrittenMessage(why, waitedMs);
  return { reason: 'feed_unwritable', exitCode: 1, message, leave: true, hasWaited: true };
}

/** @param waitedMs WAIT_TIMEOUT, where that passed; else null */
export function unwrittenMessage(why: string, waitedMs: number | null): string {
  const waited = waitedMs === null ? '' : `; waited ${waitedMs / 1_000} s for it (WAIT_TIMEOUT)`;
  return `${why}${waited}; the items committed so far wait in the frontier and are written by the next run`;
}

/** Whether no node has had anything to do for so long. A paused crawl is kept for whoever resumes it. */
function isIdleTooLong({ idleMs, seedsWaiting, control }: CrawlState, { maxIdleMs }: NodeView): boolean {
  return maxIdleMs > 0 && idleMs >= maxIdleMs && seedsWaiting === 0 && control === 'running';
}

function nothingToDo({ maxIdleMs }: NodeView): string {
  return `there was nothing to do on any node for ${maxIdleMs / 1_000} s (MAX_IDLE_TIME_BEFORE_CLOSE)`;
}

function nothingCame(view: NodeView): string {
  const waited = `nothing to crawl came within ${view.startTimeoutMs / 1_000} s`;
  if (view.found.seen > 0) return `${waited}, and ${everythingSeen(view.found)}; ${howToCrawlAgain(view)}`;
  return `${waited}; seed it with "crawlnode seed ${view.crawlArguments} URL", or give the spider startUrls`;
}

/** A run whose start requests were pushed by an earlier run, and which has nothing left to do. */
export function nothingNew({ found }: Pick<NodeView, 'found'>): string {
  return `nothing to crawl: an earlier run pushed the start requests, and ${everythingSeen(found)}`;
}

function everythingSeen({ seen, lost }: Joined['found']): string {
  if (lost > 0) return `of the ${n(seen)} requests known from earlier runs ${n(lost)} are lost`;
  return seen === 1
    ? 'the one request known from earlier runs is done or failed'
    : `all ${n(seen)} requests known from earlier runs are done or failed`;
}

/** What a user who runs a finished crawl again may want to do. */
export function howToCrawlAgain({ crawlArguments: name }: Pick<NodeView, 'crawlArguments'>): string {
  return `to start over, run "crawlnode reset ${name}" or use another --job; to fetch single pages again, ${howToSeed(name)}`;
}

/** The command that fetches a page again, whatever callback the page is for. */
export function howToSeed(crawlArguments: string): string {
  const seed = `crawlnode seed ${crawlArguments}`;
  return `${seed} URL (its callback is parse), or ${seed} '{"url": "URL", "callback": "NAME"}'`;
}
