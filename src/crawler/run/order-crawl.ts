/** `pause`, `resume` and `stop`: orders to all nodes of a crawl, which read them with their next lease. */
import type { Control, Frontier } from '../../frontier/frontier.js';

/** What became of an order. */
export interface Ordered {
  /** Live nodes. */
  readonly nodes: number;
  /** Whether the store has the crawl. One that has not begun cannot be paused. */
  readonly hasBegun: boolean;
}

/** @param by who gives the order, for the events of the crawl */
export async function orderCrawl(frontier: Frontier, control: Control, by: string): Promise<Ordered> {
  const { nodes, beganAtMs } = await frontier.snapshot();
  const hasBegun = beganAtMs !== null;
  // A stop without live nodes would end the next crawl when it starts.
  const isApplied = control === 'stopping' ? nodes.length > 0 : hasBegun;
  if (isApplied) await frontier.control(control, by);
  return { nodes: nodes.length, hasBegun };
}
