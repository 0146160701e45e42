/** SCHEDULER_MEMORY_LIMIT in a real crawl: its node measures the crawl, and another crawl of the same store goes on. */
import { expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { runCli } from '../helpers/cli.js';
import { onEachEngine, projectOn } from '../helpers/engine-project.js';
import { startSite } from '../helpers/sites/site.js';

const PAGES = 500;
const spider = (name: string) => `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = '${name}';
  *parse(response) {
    yield { url: response.url, text: 'x'.repeat(2_000) };
    yield response.follow('/more?of=' + encodeURIComponent(response.url), this.parseMore);
  }
  parseMore() {}
}
`;

onEachEngine('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    files: { 'spiders/news.ts': spider('news'), 'spiders/docs.ts': spider('docs') },
  });

  it('seeds wait and links are dropped beyond it; the run ends with 1 and says so, and another crawl ends well', async () => {
    const site = await startSite({
      pages: PAGES,
      extraLinks: 0,
      handler: ({ url }, response) => {
        if (!url?.startsWith('/more')) return false;
        response.writeHead(200, { 'content-type': 'text/plain' }).end('more');
        return true;
      },
    });
    const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
    await here.project.write('urls.txt', site.urls.join('\n'));
    for (const name of ['news', 'docs'])
      expect(await run('seed', name, '--file', 'urls.txt', '--to-start-urls')).toMatchObject({ code: 0 });
    const set = (values: Record<string, unknown>) =>
      Object.entries(values).flatMap(([name, value]) => ['-s', `${name}=${value}`]);
    const common = {
      ROBOTSTXT_OBEY: false,
      ALLOW_PRIVATE_ADDRESSES: true,
      ITEM_PIPELINES: '{"RedisPipeline":300}',
    };
    const limited = {
      ...common,
      SCHEDULER_MEMORY_LIMIT: 100_000,
      WAIT_TIMEOUT: 2,
      DOWNLOAD_DELAY: 0.04,
      SCHEDULER_QUEUE_LIMIT: 50,
    };
    const crawl = (name: string, values: Record<string, unknown>) =>
      runCli(['crawl', name, '--exit-when-done', ...set(values)], { cwd: here.project.dir });
    const ended = await crawl('news', limited);
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('memory_limit') });
    expect(ended.stdout).toMatch(/\d+ links? of the run dropped, as the queue or the crawl was at its limit/);
    const stats = JSON.parse((await run('stats', 'news', '--json')).stdout);
    expect(stats).toMatchObject({ pending: 0, failed: 0, lost: 0, memoryLimit: 100_000 });
    expect(stats.startUrls).toBeGreaterThan(0);
    expect(stats.counters['scheduler/dropped']).toBeGreaterThan(0);
    expect((await run('doctor', 'news')).stdout).toMatch(/SCHEDULER_MEMORY_LIMIT is 100.0 KB/);
    expect(await crawl('docs', common)).toMatchObject({ code: 0 });
    // Without the limit it goes on where it was.
    expect(await crawl('news', common)).toMatchObject({ code: 0 });
    const after = JSON.parse((await run('stats', 'news', '--json')).stdout);
    expect(after).toMatchObject({ startUrls: 0, items: PAGES });
  });
});
