/** What `seed` says while it waits for room in the queue. */
import type { FullQueue } from '../../crawler/seeds/queue-room.js';
import { n } from '../terminal/format-values.js';

/**
 * Says once that the queue is full, each time it is, and what would make room.
 * @param crawl as a command to be typed names it.
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
      say(
        `the queue is full (${n(full.waiting)} requests wait, SCHEDULER_QUEUE_LIMIT is ${n(full.limit)}); waiting, ${nodes}`,
      );
    }
    isWaiting = full !== null;
  };
}
