/** Opens the feed files before a crawl, and writes the remaining items after it. */
import { unwrittenMessage } from '../../node/shutdown/node-stop-reason.js';
import { waitTimeoutMs } from '../project/settings-to-options.js';
import type { FeedTarget } from './feed-targets.js';
import type { FeedsOptions, LeftOut, OpenFeeds } from './open-feeds.js';

/** What the feed files of a crawl need. */
export interface FeedsPlan extends FeedsOptions {
  readonly targets: readonly FeedTarget[];
  /** Also write the items that dead nodes of this machine had committed for their files. */
  readonly writeOrphans: boolean;
  /** Aborted to leave at once. Items that are not written then stay in the frontier. */
  readonly force: AbortSignal;
  /** Somebody waits for the end of the crawl, which decides the default of WAIT_TIMEOUT. */
  readonly isAwaited: boolean;
  /** The rest of a grace time in ms, once the crawl was told to leave. */
  graceLeftMs(graceMs: number): number;
}

/** A crawl that has ended, and its files. */
export interface WithFeeds<T> {
  readonly result: T;
  /** Why items of this node, or of one that died on this machine, are in no file; null when all are. */
  readonly unwritten: string | null;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Open the files, crawl, write the remaining items: for WAIT_TIMEOUT, or for the grace time once the crawl was told to leave.
 * @param hasWaited whether the crawl ended after it had waited for the store or a feed, so that nothing is waited for any more
 * @throws FeedHeldError when another writer holds a file; CrawlnodeError when one cannot be written; errors of the crawl
 */
export async function withFeeds<T>(
  plan: FeedsPlan,
  crawl: (feeds: OpenFeeds) => Promise<T>,
  hasWaited: (result: T) => boolean,
): Promise<WithFeeds<T>> {
  const feeds = await openedFeeds(plan);
  let result: T;
  try {
    result = await crawl(feeds);
  } catch (error) {
    await feeds.close(() => 0);
    throw error;
  }
  const unwritten = await closeFeeds(plan, feeds, hasWaited(result));
  return { result, unwritten, leftOut: feeds.leftOut() };
}

/** Loaded on demand, since a crawl without files does not need this code. */
async function openedFeeds(plan: FeedsPlan): Promise<OpenFeeds> {
  if (plan.targets.length === 0) {
    return { leftOut: () => [], failing: () => null, close: async () => null };
  }
  const { openFeeds } = await import('./open-feeds.js');
  return openFeeds(plan.targets, plan);
}

async function closeFeeds(plan: FeedsPlan, feeds: OpenFeeds, hasWaited: boolean): Promise<string | null> {
  const { settings, drain, force, isAwaited, log } = plan;
  const waitMs = waitTimeoutMs(settings, isAwaited);
  const waitsUntil = waitMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + waitMs;
  let drainsUntil: number | null = null;
  const trouble = await feeds.close(() => {
    if (force.aborted || hasWaited) return 0;
    if (!drain.aborted) return waitsUntil - performance.now();
    drainsUntil ??= performance.now() + plan.graceLeftMs(settings.SHUTDOWN_TIMEOUT * 1000);
    return drainsUntil - performance.now();
  });
  if (trouble !== null) {
    const isOver = !drain.aborted && !hasWaited;
    return trouble.isFinal ? trouble.why : unwrittenMessage(trouble.why, isOver ? waitMs : null);
  }
  if (plan.writeOrphans && !force.aborted && !hasWaited) {
    const left = await writeOrphans(plan).catch((error: unknown) => {
      log.debug({ error: String(error) }, 'looking for items of nodes that died here failed');
      return null;
    });
    // A signal keeps its exit code, so that a supervisor starts nothing again.
    return drain.aborted ? null : left;
  }
  return null;
}

async function writeOrphans(plan: FeedsPlan): Promise<string | null> {
  const found = await plan.frontier.snapshot();
  if (found.outbox.length === 0) return null;
  const { writeOrphanedFeeds } = await import('./orphaned-feeds.js');
  return writeOrphanedFeeds(found, plan);
}
