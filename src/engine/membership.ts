/** Becoming a node of the crawl: join, say what was found, push the start requests if nobody has. */
import type { FrontierRequest, Joined } from '../frontier/frontier.js';
import { inChunks, requestWeight } from '../frontier/in-chunks.js';
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
 * Push the spider's start requests, once per job: the store counts how many it has, so that a node that comes second,
 * or after one that died half-way, adds only those that are missing.
 */
export async function pushStart(
  requests: readonly FrontierRequest[],
  { frontier, log }: Pick<EngineDeps, 'frontier' | 'log'>,
  outage: Outage,
  stop: AbortSignal,
): Promise<void> {
  const total = requests.length;
  let from = 0;
  let accepted = 0;
  for (const chunk of inChunks(requests, requestWeight)) {
    const part = { from, total };
    accepted += (await outage.through('push', stop, () => frontier.push(chunk, 'start', part))).accepted;
    from += chunk.length;
  }
  if (accepted > 0) log.info({ accepted }, 'pushed the start requests');
}
