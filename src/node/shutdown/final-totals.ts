/** What the crawl and its run have counted when a node leaves: read from the store just before the node deregisters. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frontier, RunSnapshot, Snapshot } from '../../frontier/frontier.js';
import type { CrawlTotals, RunTotals } from '../node-options.js';
import { failuresByReason, pagesByStatus } from '../page/judge-download.js';

/** How often to look again while other nodes finish their pages. */
const LOOK_AGAIN_MS = 200;

/** Totals at the end of a node. */
export interface FinalTotals {
  readonly crawl: CrawlTotals;
  /** Null where the store knows of no run. */
  readonly run: RunTotals | null;
}

/**
 * Read the totals of the crawl and of its run. @param waitForOthers when the run has ended, wait for at most this many ms
 * for pages that other nodes still finish, since they count too. 0 reads once.
 */
export async function readFinalTotals(
  frontier: Pick<Frontier, 'snapshot'>,
  reason: string,
  waitForOthers: () => number,
): Promise<FinalTotals> {
  for (;;) {
    const snapshot = await frontier.snapshot();
    const isOver = hasRunEnded(snapshot, reason);
    if (!isOver || snapshot.leased === 0 || waitForOthers() <= 0) return finalTotalsOf(snapshot, isOver);
    await sleep(LOOK_AGAIN_MS);
  }
}

function finalTotalsOf(snapshot: Snapshot, isOver: boolean): FinalTotals {
  const { leased, run } = snapshot;
  return { crawl: totalsOf(snapshot), run: run === null ? null : runTotals(run, leased, isOver) };
}

/** The totals in the store, over all nodes and since the first request of the job. */
export function totalsOf({ done, failed, counters }: Snapshot): CrawlTotals {
  return { pages: done + failed, failed, items: counters.item_scraped_count ?? 0 };
}

function runTotals(run: RunSnapshot, leased: number, isOver: boolean): RunTotals {
  const { id, items, failed, errorPages, hasGoodPage, counters } = run;
  const counts = { statuses: pagesByStatus(counters), failures: failuresByReason(counters) };
  const { 'scheduler/dropped': dropped = 0, 'redirect/count': redirects = 0 } = counters;
  return { id, items, failed, errorPages, hasGoodPage, dropped, ...counts, redirects, leased, isOver };
}

/** A run ends when it is finished or closed for all nodes, and when its last node leaves, for whatever reason. */
function hasRunEnded({ run, control, nodes }: Snapshot, reason: string): boolean {
  return reason === 'finished' || run?.closed != null || control === 'stopping' || nodes.length <= 1;
}
