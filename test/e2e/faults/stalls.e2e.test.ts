/** Somebody deletes an index of a crawl, while it runs and between two runs: the crawl is whole all the same. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connect } from '../../../src/disk/sqlite.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import { startCli } from '../../helpers/cli.js';
import { type Engine, onEachEngine, projectOn } from '../../helpers/engine-project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const docs = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'docs';
  startUrls = [this.args.start];
  *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

const losses: Record<Engine, readonly string[]> = {
  redis: ['queue', 'ready', 'domains', 'leases', 'every second entry of queue'],
  embedded: [
    ...['DELETE FROM request', 'DELETE FROM domain', "DELETE FROM request WHERE state = 'leased'"],
    'DELETE FROM request WHERE n % 2 = 0',
  ],
};

onEachEngine('a crawl on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 4, CONCURRENT_REQUESTS_PER_DOMAIN: 4 },
    files: { 'spiders/docs.ts': docs },
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: 60, delayMs: 50 });
  });
  afterEach(() => site.close());

  const crawl = (...args: string[]) =>
    startCli(['crawl', 'docs', '-a', `start=${site.url}`, '-o', 'items.jsonl', ...args], {
      cwd: here.project.dir,
    });
  const lose = async (what: string) => {
    if (here.redis !== null) {
      const client = new Redis(here.redis.url);
      const key = `docs:requests:~${what.split(' ').at(-1)}`;
      const entries = what.startsWith('every') ? await client.zrangeBuffer(key, 0, -1) : [];
      const halves = entries.filter((_, n) => n % 2 === 0);
      await (halves.length > 0 ? client.zrem(key, ...halves) : client.del(key));
      client.disconnect();
      return;
    }
    const file = connect(fileIn(here.place()));
    file.exec(what);
    file.close();
  };
  const isWhole = async () => {
    const urls = (await here.project.read('items.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).url);
    expect(urls.sort()).toEqual([...site.urls].sort());
    const breaches = await here.look((frontier) => frontier.verify(), 'docs');
    // Of the domains a deleted row stays counted: nothing but `stats` uses that.
    expect(breaches.filter((breach) => !/^I4: there are \d+ domains/.test(breach))).toEqual([]);
  };
  const somePages = () => waitFor(() => site.log.length > 8, { what: 'some pages' });

  it.each(losses[engine])('that loses %s under its nodes is whole', { timeout: 90_000 }, async (what) => {
    const node = crawl('--exit-when-done', '--workers', '2');
    await somePages();
    await lose(what);
    const { code, stderr } = await node.wait();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    await isWhole();
  });

  it('that loses an index between two runs is whole, and says what was done', {
    timeout: 90_000,
  }, async () => {
    expect(await crawl('--exit-when-done', '--max-pages', '9').wait()).toMatchObject({ code: 0 });
    await lose(losses[engine][0]!);
    const service = crawl();
    await service.waitForOutput('its queues were rebuilt');
    await waitFor(() => site.compare().missing.length === 0, { what: 'all pages' });
    service.kill();
    const { code, stderr } = await service.wait();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('requests are left that no node can find'),
    });
    await isWhole();
  });
});
