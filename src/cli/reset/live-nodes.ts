/** Finds live nodes. A reset would delete their work, so it is refused while there are any. */

import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { RefusedError } from '../../errors.js';
import { duration, howMany } from '../../format-amounts.js';
import type { Frontier, NodeSnapshot } from '../../frontier/frontier.js';
import { type Context, note } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import type { ResetCrawl } from './reset-plan.js';

/** @throws RefusedError while nodes are live, with their ids and how to stop them. */
export async function refuseWhileCrawling(
  context: Context,
  frontier: Frontier,
  crawl: ResetCrawl,
): Promise<void> {
  const why = await liveNodesText(context, frontier, crawl);
  if (why === null) return;
  const how = `stop them first ("crawlnode stop ${crawlArguments(context, crawl)}"), or --force`;
  throw new RefusedError(`${why.who}; ${how}${why.remark}`, { code: 'live_nodes' });
}

/** Text that lists the live nodes, and a remark about those that may be dead; null when there are none. */
export async function liveNodesText(
  context: Context,
  frontier: Frontier,
  { spider, job, settings }: ResetCrawl,
): Promise<{ readonly who: string; readonly remark: string } | null> {
  const nodes = await nodesOf(context, frontier);
  if (nodes.length === 0) return null;
  // A running node sends heartbeats more often than this.
  const silentMs = settings.HEARTBEAT_INTERVAL * 2_000;
  const which = nodes.map(({ id, heartbeatAgeMs }) =>
    heartbeatAgeMs < silentMs ? id : `${id}, no heartbeat for ${duration(heartbeatAgeMs)}`,
  );
  const verb = nodes.length === 1 ? 'is' : 'are';
  return {
    who: `${howMany(nodes.length, 'node')} ${verb} crawling ${crawlName({ spider, job })} (${which.join('; ')})`,
    remark: nodes.some(({ heartbeatAgeMs }) => heartbeatAgeMs >= silentMs)
      ? '; one that was killed counts as dead after NODE_TIMEOUT'
      : '',
  };
}

/** The live nodes. They are unknown for a crawl in another data format, and a notice says so. */
async function nodesOf(context: Context, frontier: Frontier): Promise<readonly NodeSnapshot[]> {
  try {
    return (await frontier.snapshot()).nodes;
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === 'format')) throw error;
    note(
      context,
      `${error.message}; its failed requests, and items that are not yet in their files, are deleted with the queue`,
    );
    return [];
  }
}
