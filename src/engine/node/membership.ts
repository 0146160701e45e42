/** Becoming a node of the crawl: join, say what was found, push the start requests if nobody has. */
import type { FrontierRequest, Joined } from '../../frontier/frontier.js';
import { inChunks, requestWeight } from '../../frontier/in-chunks.js';
import type { EngineDeps } from '../engine-options.js';
import { howToCrawlAgain, nothingNew } from './node-endings.js';
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
  log.info({ ...found }, whatItComesInto(found, spider.name));
}

function whatItComesInto(found: Joined['found'], spider: string): string {
  if (found.nodes > 0) return `joining the crawl of ${spider}`;
  const { pending, delayed, leased } = found;
  if (pending + delayed + leased === 0) return `crawling ${spider}`;
  const parts = [`${pending.toLocaleString('en')} pending`];
  if (delayed > 0) parts.push(`${delayed.toLocaleString('en')} delayed`);
  if (leased > 0) parts.push(`${leased.toLocaleString('en')} held by nodes that died`);
  return `resuming ${spider} with the requests that an earlier run left: ${parts.join(', ')}`;
}

/**
 * A service node that finds a finished crawl would wait in silence; one that leaves when done says it as it leaves.
 * @returns whether it was said.
 */
export function sayNothingNew({ found }: Joined, { log, crawlArguments, options }: EngineDeps): boolean {
  if (options.exitWhenDone || found.pending + found.delayed + found.leased + found.nodes > 0) return false;
  const how = howToCrawlAgain({ crawlArguments });
  log.warn({}, `${nothingNew({ found })}; this node waits for seeds. You may want to: ${how}`);
  return true;
}

/**
 * Push the spider's start requests, once per job: the store counts how many it has, so that a node that comes second,
 * or after one that died half-way, adds only those that are missing.
 * @param again those that may be fetched again in this run: judged like any link, so that the first node has them taken.
 * @returns how many were accepted.
 */
export async function pushStart(
  requests: readonly FrontierRequest[],
  { frontier, log }: Pick<EngineDeps, 'frontier' | 'log'>,
  outage: Outage,
  stop: AbortSignal,
  again = false,
): Promise<number> {
  const total = requests.length;
  let from = 0;
  let accepted = 0;
  for (const chunk of inChunks(requests, requestWeight)) {
    const part = { from, total };
    const push = () => (again ? frontier.push(chunk, 'seeds-filtered') : frontier.push(chunk, 'start', part));
    accepted += (await outage.through('push', stop, push)).accepted;
    from += chunk.length;
  }
  const which = again ? 'the start requests that may be fetched again' : 'the start requests';
  if (accepted > 0) log.info({ accepted }, `pushed ${which}`);
  return accepted;
}
