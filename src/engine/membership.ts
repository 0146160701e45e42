/** Becoming a node of the crawl: join, say what was found, push the start requests if nobody has. */
import { type FrontierRequest, type Joined, MAX_SETTLE_REQUESTS } from '../frontier/frontier.js';
import type { EngineDeps } from './engine-options.js';
import type { Outage } from './outage.js';

/**
 * Register as a new incarnation.
 * @throws RefusedError when the crawl has another shape; FrontierUnavailableError when the store cannot be reached.
 */
export function join({ frontier, node, options, spider }: EngineDeps): Promise<Joined> {
  const { shape, tunables, budgets, feeds, flushOnStart } = options;
  const hasStart = spider.startUrls.length > 0;
  return frontier.join(node, { shape, tunables, budgets, feeds, hasStart, flushOnStart });
}

/** Tell the user what this node comes into; after a stop, or beside other nodes, there is work already. */
export function announce({ found, notices }: Joined, { log, spider }: EngineDeps): void {
  for (const notice of notices) log.warn({}, notice);
  const isUnfinished = found.pending + found.delayed + found.leased > 0;
  const message =
    found.nodes > 0
      ? `joining the crawl of ${spider.name}`
      : isUnfinished
        ? `resuming ${spider.name} with the requests that are there`
        : `crawling ${spider.name}`;
  log.info({ ...found }, message);
}

/**
 * Push the spider's start requests, once per job: the last batch carries the mark, and those before it are
 * harmless to repeat when this node dies in between or another one does the same.
 */
export async function pushStart(
  requests: readonly FrontierRequest[],
  { frontier, log }: Pick<EngineDeps, 'frontier' | 'log'>,
  outage: Outage,
  stop: AbortSignal,
): Promise<void> {
  let accepted = 0;
  for (let from = 0; from < requests.length; from += MAX_SETTLE_REQUESTS) {
    const batch = requests.slice(from, from + MAX_SETTLE_REQUESTS);
    const kind = from + batch.length === requests.length ? 'start' : 'seeds-filtered';
    accepted += (await outage.through('push', stop, () => frontier.push(batch, kind))).accepted;
  }
  if (accepted > 0) log.info({ accepted }, 'pushed the start requests');
}
