/** The state of a crawl and of its run, in a few words. */
import { crawlStateOf } from '../../crawler/stats/crawl-state.js';
import type { CrawlStats } from '../../crawler/stats/crawl-stats.js';
import { duration, howMany } from '../../format-amounts.js';
import type { Paint } from '../terminal/colour.js';

/** Whether the store has nothing of a job. Its zeros look like those of a job that has only begun. */
export function isMissingJob({
  job,
  accepted,
  seen,
  startUrls,
  nodes,
  run,
}: Omit<CrawlStats, 'spider'>): boolean {
  return job !== null && run === null && accepted + seen + startUrls + nodes.length === 0;
}

/** For the head of `stats SPIDER`, the table of crawls and the lines of `--watch`. */
export function stateText(stats: CrawlStats, paint: Paint, nowMs: number): string {
  const { nodes, run, pagesPerSecond } = stats;
  const who = nodes.length === 0 ? '' : `, ${howMany(nodes.length, 'node')}`;
  const paused = stats.control === 'paused' ? 'paused, ' : '';
  const state = crawlStateOf(stats);
  switch (state) {
    case 'running':
      return paint('green', `running${who}, ${pagesPerSecond.toFixed(1)} pages/s`);
    case 'paused':
    case 'stopping':
      return paint('yellow', `${state}${who}`);
    case 'closing':
      return paint('yellow', `closing (${run?.closed})${who}`);
    case 'not_begun':
      return 'not begun';
    case 'waiting':
      return 'waits for its first node';
    case 'died':
      return paint('red', `${paused}all its nodes died`);
    case 'ended': {
      const when = run?.endedAt == null ? '' : ` ${duration(nowMs - run.endedAt)} ago`;
      return `${paused}ended${when}: ${run?.closed}`;
    }
  }
}

/** When the run started, and how many pages it started. `stateText` has its state. */
export function runText({ run }: CrawlStats, nowMs: number): string {
  return run === null
    ? ''
    : `began ${duration(nowMs - run.startedAt)} ago, ${howMany(run.pages, 'page')} begun`;
}
