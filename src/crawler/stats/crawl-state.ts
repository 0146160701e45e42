/** The state of a crawl, as `stats` shows it on a terminal, in a pipe and as JSON. */
import type { Snapshot } from '../../frontier/frontier.js';

/**
 * ```
 *   not_begun ─► waiting ─► running ⇄ paused ─► stopping or closing ─► ended ─► running, when a node joins again
 *                              └─► died ─► running, when a node joins
 * ```
 * `waiting`: the crawl was seeded or restored, and no node has run since. `closing`: the run is ending, for example for a
 * budget, and nodes finish their leased requests. `died`: the run has not ended, but all its nodes are dead. The next node
 * continues it.
 */
export type CrawlState = (typeof crawlStates)[number];

export const crawlStates = [
  'not_begun',
  'waiting',
  'running',
  'paused',
  'stopping',
  'closing',
  'ended',
  'died',
] as const;

/** Derive the state from a snapshot of the store. */
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
