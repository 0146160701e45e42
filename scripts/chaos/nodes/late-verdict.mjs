/**
 * R36: a node stands still until its page is in work at another node. Then its own download of the page fails, and it says so
 * to the store before it learns that it counts as dead. What it says has no effect: the other node's page is done.
 */
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { until } from '../harness/stage.mjs';

const HELD = '/held';
const PAGES = 30;
const QUIET_MS = 500;
const AGAIN_MS = 30_000;
/** How long the other download goes on after the first node has woken. */
const WAKE_MS = 3_000;

export const lateVerdict = {
  row: 'R36',
  fault: 'a node stands still until its page is at another one, and wakes to a failed download of it',
  engines: ['redis', 'embedded'],
  async run(row) {
    const held = [];
    const site = await startSite({
      pages: PAGES,
      delayMs: () => 20,
      answer(path, response) {
        if (path === '/') html(response, ['/p1', '/p2', HELD]);
        else if (path === HELD) held.push(response);
        else return false;
        return true;
      },
    });
    const settings = { RETRY_TIMES: 0, LOG_LEVEL: 'DEBUG' };
    const crawling = await beginCrawl(row, { site, nodes: 2, settings });
    const isLast = () => held.length === 1 && site.requests.filter(({ done }) => done).length === PAGES;
    await until(isLast, 'all other pages');
    // Nothing is left to commit: a process that stops in a commit holds up the whole embedded store.
    await crawling.pause(QUIET_MS);
    const { agent } = site.requests.find(({ path }) => path === HELD);
    const first = crawling.nodes.find((node) => node.agent === agent);
    first.signal('SIGSTOP');
    const isAskedAgain = await until(() => held.length === 2, 'another node', AGAIN_MS).catch(() => false);
    if (isAskedAgain) held[0].destroy();
    else html(held[0]);
    first.signal('SIGCONT');
    await crawling.pause(WAKE_MS);
    for (const response of held.slice(1)) html(response);
    const verdict = await crawling.verdict({ expected: [...site.urls, site.origin + HELD] });
    const late = isAskedAgain && crawling.saidTimes('was lost before it was settled');
    return { ...verdict, happened: { 'late verdicts without effect': Number(late) } };
  },
};
