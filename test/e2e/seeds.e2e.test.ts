/** Seeds and the death of nodes: real processes, killed at any moment while they take seeds in. */
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import { runHere } from '../helpers/cli/run-here.js';
import { type RunningCli, startCli } from '../helpers/cli.js';
import { projectOn } from '../helpers/engine-project.js';
import { expectSound } from '../helpers/expect-sound.js';
import { openOptions } from '../helpers/open-options.js';
import { startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

const SEEDS = 240;

/** Yields its URL, and takes a moment to make a request of a seed, so that kills come between reading and accepting. */
const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  async makeRequestFromData(data) {
    await new Promise((resolve) => setTimeout(resolve, 30 * Math.random()));
    return super.makeRequestFromData(data);
  }
  parse(response) { return { url: response.url }; }
}
`;

const running: RunningCli[] = [];
afterEach(async () => {
  for (const node of running.splice(0)) {
    node.killGroup('SIGKILL');
    await node.wait();
  }
});

describe.each([
  ['redis', 'list', 3],
  ['redis', 'set', 2],
  ['redis', 'zset', 2],
  ['redis', 'stream', 4],
  ['embedded', 'list', 3],
] as const)('on the %s engine, seeds of a %s', (engine, type, kills) => {
  const here = projectOn(engine);

  it('are each committed once, none lost, however often nodes are killed', { timeout: 120_000 }, async () => {
    const site = await startSite({ pages: SEEDS, extraLinks: 0 });
    await here.project.write('spiders/news.ts', spider);
    const flags = {
      list: [],
      set: ['-s', 'REDIS_START_URLS_AS_SET=true'],
      zset: ['-s', 'REDIS_START_URLS_AS_ZSET=true'],
      stream: ['-s', 'REDIS_START_URLS_AS_STREAM=true'],
    };
    const settings = [
      '-s',
      'NODE_TIMEOUT=3',
      '-s',
      'HEARTBEAT_INTERVAL=1',
      '-s',
      'REDIS_START_URLS_BATCH_SIZE=4',
      ...flags[type],
    ];
    const more = [
      '-s',
      'CONCURRENT_REQUESTS=4',
      '-s',
      'ITEM_PIPELINES={"RedisPipeline":300}',
      '-s',
      'ROBOTSTXT_OBEY=false',
      '-s',
      'ALLOW_PRIVATE_ADDRESSES=true',
    ];
    await here.project.write('urls.txt', site.urls.join('\n'));
    const put = ['seed', 'news', '--file', 'urls.txt', '--to-start-urls', ...settings];
    expect(await runHere(put, { cwd: here.project.dir })).toMatchObject({ code: 0 });

    const start = () => {
      const node = startCli(['crawl', 'news', '--exit-when-done', ...settings, ...more], {
        cwd: here.project.dir,
      });
      running.push(node);
      return node;
    };
    const observer = await openFrontier(openOptions(here.place(), 'news', { startUrlsType: type }));
    const takenIn = async () => SEEDS - (await observer.snapshot()).startUrls;
    try {
      let nodes = [start(), start()];
      for (let kill = 1; kill <= kills; kill += 1) {
        await waitFor(async () => (await takenIn()) >= (SEEDS * kill) / (kills + 2), { timeoutMs: 40_000 });
        const [victim, survivor] = nodes;
        victim!.killGroup('SIGKILL');
        await victim!.wait();
        nodes = [survivor!, start()];
      }
      for (const node of nodes) expect(await node.wait(60_000)).toMatchObject({ code: 0 });
      expect(await observer.snapshot()).toMatchObject({
        ...{ startUrls: 0, badSeeds: 0, accepted: SEEDS, done: SEEDS, failed: 0, items: SEEDS },
      });
      // A stream is still there at the end, so its setting matters.
      const env = { REDIS_START_URLS_AS_STREAM: String(type === 'stream') };
      await expectSound('news', { cwd: here.project.dir, env });
      expect(site.compare().missing).toEqual([]);
      if (here.redis !== null) {
        const admin = new Redis(here.redis.url);
        const items = await admin.lrange('news:items', 0, -1);
        admin.disconnect();
        expect(items.map((item) => JSON.parse(item).url as string).sort()).toEqual([...site.urls].sort());
      }
    } finally {
      await observer.close();
    }
  });
});
