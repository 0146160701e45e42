/**
 * R29: a node stands still (SIGSTOP) until it counts as dead, and another one is started with the same file of items. The process of
 * the first still has the file, so the second is refused. After SIGCONT the first joins anew, and each item is in the files once.
 */
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
import { endOf } from '../harness/project.mjs';

const NODE_TIMEOUT_S = 3;
const REFUSED = 3;

export const stoppedWriter = {
  row: 'R29',
  fault:
    'SIGSTOP of a node that writes a file of items, until it counts as dead; another is started with its file; then SIGCONT',
  engines: ['redis', 'embedded'],
  async run(row) {
    const site = await startSite({ pages: 400, delayMs: () => 100 });
    const settings = {
      NODE_TIMEOUT: NODE_TIMEOUT_S,
      CONCURRENT_REQUESTS_PER_DOMAIN: 2,
      CONCURRENT_REQUESTS: 2,
    };
    const crawling = await beginCrawl(row, { site, nodes: 2, settings });
    await crawling.untilAllCrawl();
    await crawling.untilPart(0.2);
    const [writer] = crawling.nodes;
    crawling.faultOf(writer);
    const times = Number(!writer.over());
    writer.signal('SIGSTOP');
    await crawling.pause(2_000 * NODE_TIMEOUT_S);
    const other = crawling.start(2, ['-o', 'n0.jsonl']);
    crawling.nodes.pop();
    const { code, signal } = await endOf(other, crawling.longestMs);
    writer.signal('SIGCONT');
    const verdict = await crawling.verdict();
    if (code !== REFUSED)
      verdict.problems.push(`the second writer ended with ${code ?? signal}: ${other.said.slice(-400)}`);
    const happened = { 'nodes that joined anew': crawling.saidTimes('joins the crawl anew') };
    return { ...verdict, times, happened, note: `the second writer: exit ${code}` };
  },
};
