/** The start requests that were pushed, for each set of arguments of the job, and the node that runs `start()`. */
import type { StartClaim } from '../../frontier.js';
import { startKey } from '../../shared-settings/run-arguments.js';
import type { CrawlRow, Start } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import type { JoinedNode } from '../nodes/node-row.js';

/** How many start requests were pushed under a key, or all of them. */
export function startOf({ starts }: CrawlRow, key: string): Start {
  return starts[key] ?? 0;
}

export function setStart(crawl: CrawlRow, key: string, start: Start): void {
  crawl.starts = { ...crawl.starts, [key]: start };
}

/** Whether the start requests of the run are all pushed. */
export function isStarted(crawl: CrawlRow): boolean {
  return startOf(crawl, startKey(crawl.run?.args ?? {})) === 'pushed';
}

/** Make the node the one that runs `start()`, unless another live node does or all of it was pushed. */
export function claimStart(tx: Transaction, { number: node }: JoinedNode): StartClaim {
  const { crawl } = tx;
  tx.nodes.requireAlive(node);
  if (isStarted(crawl)) return 'pushed';
  const owner = crawl.start_owner;
  if (owner !== null && owner !== node && tx.nodes.findAlive(owner) !== null) return 'taken';
  crawl.start_owner = node;
  return 'claimed';
}
