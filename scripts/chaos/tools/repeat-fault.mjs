/** Cause a fault again and again under a crawl, and judge the crawl when it is over. */
import { resumeDelays } from './recovery.mjs';

/**
 * As often as the scale says, at random instants in the middle of the crawl, while each node crawls.
 * @param cause does it once, and resolves with the instant from which the crawl can go on
 * @param settled waits, after the next page, for what the next fault needs
 */
export async function repeatFault(crawling, { scale, random }, cause, settled = async () => {}) {
  const backAtMs = [];
  for (let n = 0; n < scale.faults && !crawling.isOver; n++) {
    await crawling.untilPart(0.15 + (0.6 * n) / scale.faults);
    await crawling.untilAllCrawl();
    await crawling.pause(random.between(0, 1_000));
    if (crawling.isOver) break;
    backAtMs.push(await cause());
    await crawling.untilNextPage();
    await settled();
  }
  const verdict = await crawling.verdict();
  return { ...verdict, times: backAtMs.length, recoveryMs: resumeDelays(verdict.log, backAtMs) };
}
