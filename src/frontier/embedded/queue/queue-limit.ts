/** SCHEDULER_QUEUE_LIMIT and SCHEDULER_MEMORY_LIMIT: how many requests may wait, and what room there is for more. */
import type { OpenCrawl } from '../base/open-crawl.js';

/** Whether seeds are to stay in their keys. */
export function isReached(crawl: OpenCrawl): boolean {
  const { queueLimit } = crawl.crawl.tunables;
  return (queueLimit > 0 && waitingRequests(crawl) >= queueLimit) || isMemoryReached(crawl);
}

/** How many discovered requests there is room for: links may fill the queue to twice the limit. */
export function roomForLinks(crawl: OpenCrawl): number {
  if (isMemoryReached(crawl)) return 0;
  const { queueLimit } = crawl.crawl.tunables;
  return queueLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, 2 * queueLimit - waitingRequests(crawl));
}

function isMemoryReached({ crawl, tally }: OpenCrawl): boolean {
  const { memoryLimit } = crawl.tunables;
  return memoryLimit > 0 && tally.stored_bytes >= memoryLimit;
}

function waitingRequests({ tally }: OpenCrawl): number {
  return tally.pending + tally.suspects + tally.delayed;
}
