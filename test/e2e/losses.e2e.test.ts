/** Work that vanishes from the store is said, and never taken for finished. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { startCli } from '../helpers/cli.js';
import { projectOn } from '../helpers/engine-project.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

const docs = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'docs';
  startUrls = [this.args.start].filter(Boolean);
  *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

describe('a crawl whose pending requests somebody deletes', () => {
  const here = projectOn('redis', {
    settings: { START_TIMEOUT: 1, DOWNLOAD_DELAY: 0.1, SCHEDULER_PERSIST: false },
    files: { 'spiders/docs.ts': docs },
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: 60 });
  });
  afterEach(() => site.close());

  it('ends with exit 1 and says so, is not cleared, and neither stats, doctor nor the next run call it done', {
    timeout: 60_000,
  }, async () => {
    const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
    const crawl = ['crawl', 'docs', '-a', `start=${site.url}`, '--exit-when-done'];
    const crawling = startCli(crawl, { cwd: here.project.dir });
    const pending = () => here.look((frontier) => frontier.snapshot(), 'docs');
    await waitFor(async () => (await pending()).pending > 5);
    const client = new Redis(here.redis!.url);
    await client.del('docs:requests');
    client.disconnect();
    const ended = await crawling.wait();
    expect(ended).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/requests_lost[\s\S]*requests are lost/),
    });
    expect(ended.stderr).toMatch(/"level":"error"[^\n]*requests are lost/);
    const stats = JSON.parse((await run('stats', 'docs', '--json')).stdout);
    expect(stats.lost).toBeGreaterThan(4);
    expect((await run('stats', 'docs')).stdout).toContain(`${stats.lost} requests lost`);
    expect(await run('doctor', 'docs')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('requests lost'),
    });
    const again = await run(...crawl);
    expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('requests are lost') });
    expect(again.stdout + again.stderr).not.toMatch(/are done or failed/);
  });
});
