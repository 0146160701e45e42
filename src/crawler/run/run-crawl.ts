/** A crawl in this process: one node, and the writers of its feed files. */
import type { NodeResult } from '../../node/node-options.js';
import { type FeedsPlan, type WithFeeds, withFeeds } from '../feeds/with-feeds.js';
import { type NodePlan, runNode } from './run-node.js';

/** Options of a crawl in this process. */
export interface CrawlPlan
  extends Omit<NodePlan, 'feeds' | 'feedsFailing'>,
    Pick<FeedsPlan, 'targets' | 'records' | 'stdout' | 'graceLeftMs'> {
  /** Another process writes the feed files: their ids, and why they cannot be written. Null when this one does. */
  readonly writer: Pick<NodePlan, 'feeds' | 'feedsFailing'> | null;
  /** Called when the files are open, before the node starts. */
  onBegin?(): void;
}

/**
 * Run a node until it leaves, and write the remaining items of its feeds.
 * @throws RefusedError when another writer holds a file; errors of opening the files, of the spider and of the node
 */
export async function runCrawl(plan: CrawlPlan): Promise<WithFeeds<NodeResult>> {
  const { settings } = plan.spider.loaded;
  const isAwaited = plan.isAwaited ?? plan.exitWhenDone;
  return withFeeds(
    { ...plan, settings, isAwaited, writeOrphans: plan.writer === null },
    (feeds) => {
      plan.onBegin?.();
      const own = { feeds: plan.targets.map(({ id }) => id), feedsFailing: feeds.failing };
      return runNode({ ...plan, ...(plan.writer ?? own) });
    },
    (result) => result.hasWaited,
  );
}
