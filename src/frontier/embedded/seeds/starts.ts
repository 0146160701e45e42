/** The start requests that were pushed, for each set of arguments of the job, and the node that runs `start()`. */
import type { StartClaim } from '../../frontier.js';
import { startKey } from '../../shared-settings/run-arguments.js';
import type { CrawlRow } from '../crawl/crawl-row.js';
import type { Transaction } from '../crawl/transaction.js';

/** How many start requests were pushed, or all of them. */
export type Start = number | 'pushed';

/** By `startKey`; one that is not there has pushed none. */
export type Starts = Readonly<Record<string, Start>>;

let last: { readonly text: string; readonly starts: Starts } = { text: '{}', starts: {} };

export function startsOf({ starts: text }: Pick<CrawlRow, 'starts'>): Starts {
  if (text !== last.text) last = { text, starts: JSON.parse(text) as Starts };
  return last.starts;
}

export function startOf(crawl: Pick<CrawlRow, 'starts'>, key: string): Start {
  return startsOf(crawl)[key] ?? 0;
}

export function setStart(crawl: CrawlRow, key: string, start: Start): void {
  crawl.starts = JSON.stringify({ ...startsOf(crawl), [key]: start });
}

/** Whether the start requests of the run are all pushed. */
export function isStarted(crawl: CrawlRow): boolean {
  const args = crawl.run_args === '' ? {} : (JSON.parse(crawl.run_args) as Record<string, string>);
  return startOf(crawl, startKey(args)) === 'pushed';
}

/** Make the node the one that runs `start()`, unless another live node does or all of it was pushed. */
export function claimStart(tx: Transaction, node: number): StartClaim {
  const { crawl } = tx;
  tx.nodes.requireAlive(node);
  if (isStarted(crawl)) return 'pushed';
  const owner = crawl.start_owner;
  if (owner !== null && owner !== node && tx.nodes.find(owner)?.is_dead === 0) return 'taken';
  crawl.start_owner = node;
  return 'claimed';
}
