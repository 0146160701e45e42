/**
 * R36: a node stands still until its page is in work at another node. Then its own download of the page fails, and it says so
 * to the store before it learns that it counts as dead. What it says has no effect: the other node's page is done.
 */
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { until } from '../harness/stage.mjs';

const HELD = '/held';
/** How long the other download goes on after the first node has woken. */
const WAKE_MS = 3_000;

export const lateVerdict = {
  row: 'R36',
  fault: 'a node stands still until its page is at another one, and wakes to a failed download of it',
  engines: ['redis', 'embedded'],
  async run(row) {
    const held = [];
    const site = await startSite({
      pages: 30,
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
    await until(() => held.length === 1, 'the page to be asked for');
    const { agent } = site.requests.find(({ path }) => path === HELD);
    const first = crawling.nodes.find((node) => node.agent === agent);
    first.signal('SIGSTOP');
    await until(() => held.length === 2, 'another node to ask for it');
    held[0].destroy();
    first.signal('SIGCONT');
    await crawling.pause(WAKE_MS);
    html(held[1]);
    const verdict = await crawling.verdict({ expected: [...site.urls, site.origin + HELD] });
    const late = crawling.saidTimes('was lost before it was settled');
    return { ...verdict, happened: { 'late verdicts without effect': late } };
  },
};
