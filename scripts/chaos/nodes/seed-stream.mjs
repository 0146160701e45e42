/** R38: seeds of a Redis stream, under nodes that are killed: each is accepted once, and no entry of the group is left over. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';

const KILLS = { short: 3, normal: 10, long: 40 };
const SEEDS = { short: 1_000, normal: 10_000, long: 50_000 };
const NODES = 2;

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  *parse(response) { yield { url: response.url }; }
}
`;

export const streamKills = {
  row: 'R38',
  fault: 'SIGKILL of one of 2 nodes that read seeds from a Redis stream, again and again',
  engines: ['redis'],
  async run(row) {
    const [count, kills] = [SEEDS[row.scale.name], KILLS[row.scale.name]];
    const answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
      return true;
    };
    const site = await startSite({ answer });
    const urls = Array.from({ length: count }, (_, n) => `${site.origin}/${n}`);
    const settings = { REDIS_START_URLS_AS_STREAM: true, ALLOW_PRIVATE_ADDRESSES: true };
    const crawling = await beginCrawl(row, {
      ...{ site: { ...site, args: [], urls }, nodes: NODES, spider, settings },
      args: ['-s', 'START_TIMEOUT=60'],
    });
    await writeFile(path.join(crawling.project.dir, 'seeds.txt'), urls.join('\n'));
    const seeded = await crawling.command('seed', 'walk', '--file', 'seeds.txt', '--to-start-urls');
    let times = 0;
    for (let kill = 1; kill <= kills; kill += 1) {
      await crawling.untilPart((0.9 * kill) / kills);
      if (await crawling.killAndRestart(kill % NODES)) times += 1;
    }
    const verdict = await crawling.verdict();
    if (seeded.code !== 0) verdict.problems.push(`seed: ${seeded.stderr}`);
    if (verdict.stats.done !== count) verdict.problems.push(`${verdict.stats.done} are done`);
    const [group] = await crawling.redis.db.xinfo('GROUPS', 'walk:start_urls');
    const left = group[group.indexOf('pending') + 1] + verdict.stats.startUrls;
    if (left !== 0) verdict.problems.push(`the group holds ${group.join(' ')}`);
    return { ...verdict, times };
  },
};
