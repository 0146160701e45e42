/** The live nodes of a crawl. A reset would delete their work. */
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { duration, howMany } from '../../format-amounts.js';
import { type Context, note } from '../context.js';
import type { ResetPlan } from './reset-plan.js';

/**
 * Text that lists the live nodes, and a remark about those that may be dead; null when there are none. They are unknown for a
 * crawl in another data format, and a notice says so.
 */
export function liveNodesText(
  context: Context,
  { crawl, snapshot }: ResetPlan,
): { readonly who: string; readonly remark: string } | null {
  if (snapshot instanceof Error) {
    if (snapshot.code !== 'format') throw snapshot;
    const what = 'its failed requests, and items that are not yet in their files, are deleted with the queue';
    note(context, `${snapshot.message}; ${what}`);
    return null;
  }
  const { nodes } = snapshot;
  if (nodes.length === 0) return null;
  // A running node sends heartbeats more often than this.
  const silentMs = crawl.settings.HEARTBEAT_INTERVAL * 2_000;
  const which = nodes.map(({ id, heartbeatAgeMs }) =>
    heartbeatAgeMs < silentMs ? id : `${id}, no heartbeat for ${duration(heartbeatAgeMs)}`,
  );
  const verb = nodes.length === 1 ? 'is' : 'are';
  return {
    who: `${howMany(nodes.length, 'node')} ${verb} crawling ${crawlName(crawl)} (${which.join('; ')})`,
    remark: nodes.some(({ heartbeatAgeMs }) => heartbeatAgeMs >= silentMs)
      ? '; one that was killed counts as dead after NODE_TIMEOUT'
      : '',
  };
}
