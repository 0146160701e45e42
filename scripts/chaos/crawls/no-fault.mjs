/** R0: no fault but all nodes killed once; seeds pushed by another program; and a second crawl after `reset --all`. */
import { beginCrawl } from '../harness/crawling.mjs';

const NODES = 3;
const LIST = 'walk:start_urls';

export const noFault = {
  row: 'R0',
  fault: 'nodes that wait for seeds, a seed by LPUSH, all nodes killed; then reset --all, and the same crawl',
  engines: ['redis'],
  async run(row) {
    const crawling = await beginCrawl(row, { nodes: 0, settings: { ALLOW_PRIVATE_ADDRESSES: true } });
    const { site, redis } = crawling;
    const starts = site.args
      .filter((arg) => arg.startsWith('start='))[0]
      .slice('start='.length)
      .split(' ');
    // Without the argument, spiders have no start URL of their own.
    site.args = site.args.flatMap((arg, n) => (isStart(arg) || isStart(site.args[n + 1]) ? [] : [arg]));
    const startAll = async () => {
      for (let n = 0; n < NODES; n++) crawling.start(n);
      await redis.db.lpush(LIST, ...starts);
    };
    await startAll();
    await crawling.untilPart(0.3);
    await crawling.untilAllCrawl();
    for (const node of crawling.nodes) node.signal('SIGKILL');
    const ends = await crawling.ends();
    for (let n = 0; n < NODES; n++) crawling.start(n);
    const first = await crawling.verdict();
    const { code, stderr } = await crawling.command('reset', 'walk', '--all', '--yes');
    if (code !== 0) first.problems.push(`reset ended with ${code}: ${stderr}`);
    const left = await redis.db.keys('*');
    if (left.length > 0) first.problems.push(`reset --all left ${left}`);
    const asked = first.log.length;
    await startAll();
    await crawling.ends();
    const again = (await crawling.site.log()).length - asked;
    if (again !== site.urls.length) first.problems.push(`the second crawl asked for ${again} pages`);
    const items = new Set(await crawling.items());
    const missing = site.urls.filter((url) => !items.has(url)).length;
    if (missing > 0) first.problems.push(`${missing} pages are missing in the second crawl`);
    const happened = { 'nodes killed': ends.filter(({ signal }) => signal === 'SIGKILL').length };
    return { ...first, happened };
  },
};

const isStart = (arg) => arg?.startsWith('start=');
