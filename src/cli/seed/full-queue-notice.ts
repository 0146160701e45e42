/** The notice of `seed` while it waits for space in the queue. */
import type { FullQueue } from '../../crawler/seeds/queue-room.js';
import { byteSize, n } from '../../format-amounts.js';

/**
 * Prints one notice each time the queue becomes full, with what to do.
 * @param crawl the arguments that select it (`crawlArguments`)
 * @returns a function to call with the state of the queue; null means it has space
 */
export function fullQueueNotice(
  crawl: string,
  say: (text: string) => void,
): (full: FullQueue | null) => void {
  let isWaiting = false;
  return (full) => {
    if (full !== null && !isWaiting) {
      const nodes =
        full.nodes === 0
          ? `no node is crawling: start one with "crawlnode crawl ${crawl}"`
          : 'nodes make room';
      const why =
        full.memory === null
          ? `the queue is full (${n(full.waiting)} requests wait, SCHEDULER_QUEUE_LIMIT is ${n(full.limit)})`
          : `the crawl takes ${byteSize(full.memory.bytes)} in the store (SCHEDULER_MEMORY_LIMIT is ${byteSize(full.memory.limit)})`;
      say(`${why}; waiting, ${nodes}`);
    }
    isWaiting = full !== null;
  };
}
