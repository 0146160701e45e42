/** R30: a `start()` of many requests whose node is killed: each is accepted once, and done once. */
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';

const KILLS = 3;
const REQUESTS = { short: 4_000, normal: 20_000, long: 200_000 };

const spiderOf = (origin, count) => `
import { Request, Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  async *start() {
    for (let n = 0; n < ${count}; n++) yield new Request('${origin}/' + n, { dontFilter: n % 2 === 0 });
  }
  *parse(response) { yield { url: response.url }; }
}
`;

export const startKills = {
  row: 'R30',
  fault: 'SIGKILL of the one node in the middle of a start() of many requests, half of them with dontFilter',
  engines: ['redis', 'embedded'],
  async run(row) {
    const count = REQUESTS[row.scale.name];
    const answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
      return true;
    };
    const site = await startSite({ answer });
    const urls = Array.from({ length: count }, (_, n) => `${site.origin}/${n}`);
    const crawling = await beginCrawl(row, {
      site: { ...site, args: [], urls },
      nodes: 1,
      spider: spiderOf(site.origin, count),
    });
    let times = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await crawling.untilPart(kill / (KILLS + 1));
      if (await crawling.killAndRestart(0)) times += 1;
    }
    const verdict = await crawling.verdict();
    // What was in progress at a kill was fetched again, and is done once all the same.
    if (verdict.stats.done !== count) verdict.problems.push(`${verdict.stats.done} are done`);
    return { ...verdict, times };
  },
};
