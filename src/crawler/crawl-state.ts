/** How a crawl stands, in one word: the same for `stats` on a terminal, in a pipe and as JSON. */
import type { Snapshot } from '../frontier/frontier.js';

/**
 * ```
 *   not_begun ─► waiting ─► running ⇄ paused ─► stopping or closing ─► ended ─► running, when a node joins again
 *                              └─► died ─► running, when a node joins
 * ```
 * `waiting`: nothing has been run since it was seeded or restored. `closing`: a budget or a reason ends the run, and nodes
 * finish what they have in work. `died`: the run goes on, and all its nodes are dead; the next node goes on with it.
 */
export type CrawlState =
  | 'not_begun'
  | 'waiting'
  | 'running'
  | 'paused'
  | 'stopping'
  | 'closing'
  | 'ended'
  | 'died';

/** Decide it from what the store says. */
export function crawlStateOf(
  stats: Pick<Snapshot, 'control' | 'run' | 'pending' | 'delayed' | 'startUrls' | 'done' | 'failed'> & {
    readonly nodes: readonly unknown[];
  },
): CrawlState {
  const { control, nodes, run } = stats;
  if (nodes.length > 0) {
    if (control !== 'running') return control;
    return run?.closed ? 'closing' : 'running';
  }
  if (run === null) {
    const hasAny = stats.pending + stats.delayed + stats.startUrls + stats.done + stats.failed > 0;
    if (control === 'paused') return 'paused';
    return hasAny ? 'waiting' : 'not_begun';
  }
  return run.closed === null ? 'died' : 'ended';
}
