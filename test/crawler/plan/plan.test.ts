/** `crawlnode plan`: from the figures of the benches, and from those of a crawl. */
import { describe, expect, it } from 'vitest';
import { benched, benchedDupefilters, benchedPage } from '../../../src/crawler/plan/costs.js';
import { dupefilterNames } from '../../../src/frontier/dupefilter-classes.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { newsSpider, projectOn } from '../../helpers/engine-project.js';
import { tempDir } from '../../helpers/temp-dir.js';

const large = ['plan', '--pages', '1e9', '--domains', '1e6', '--rate', '2000'];

describe('without a crawl', () => {
  const run = (args: readonly string[]) => runHere(args, { cwd: tempDir('plan').dir });
  const json = async (args: readonly string[]) => JSON.parse((await run([...args, '--json'])).stdout);

  it('it calculates with the figures of the benches, and says so', async () => {
    const plan = await json(large);
    expect(plan).toMatchObject({ pages: 1e9, domains: 1e6, pagesPerSecond: 2_000, from: null });
    expect(plan.days).toBeCloseTo(1e9 / 2_000 / 86_400);
    expect(plan.costs).toEqual(benchedPage);
    expect(plan.nodes.cpuSeconds).toBeCloseTo((1e9 * benchedPage.nodeMs) / 1_000);
    expect(plan.redis.map(({ dupefilter }: { dupefilter: string }) => dupefilter)).toEqual(dupefilterNames);
    expect(plan.redis[0].dupefilterBytes).toBeCloseTo(1e9 * benchedDupefilters.RFPDupeFilter.bytes);

    const { code, stdout } = await run(large);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1,000,000,000 pages of 1,000,000 domains at 2,000 pages\/s\n/);
    expect(stdout).toMatch(/\n {2}time +6 d\n/);
    expect(stdout).toMatch(/\n {2}CompactDupeFilter .* GB\n/);
    expect(stdout).toContain('These figures are of benches (docs/internals/performance.md)');
  });

  it('it takes as many nodes as their slots or their CPU ask for, whichever are more', async () => {
    const slots = (count: string) => [...large, '-s', `CONCURRENT_REQUESTS=${count}`];
    expect((await json(slots('16'))).nodes).toMatchObject({ count: 2_000 / 16, countedBy: 'slots' });
    expect((await json(slots('1000'))).nodes).toMatchObject({
      count: Math.ceil((2 * benchedPage.nodeMs) / 0.7),
      countedBy: 'cpu',
    });
  });

  it('it bounds the queue by SCHEDULER_QUEUE_LIMIT, beyond twice of which links are dropped', async () => {
    const [{ queueBytes }] = (await json([...large, '-s', 'SCHEDULER_QUEUE_LIMIT=1e6'])).redis;
    expect(queueBytes).toBeCloseTo(2e6 * benched.requestBytes + 1e6 * benched.domainBytes);
  });

  it('it says when the domains, or one Redis, do not allow the rate', async () => {
    const polite = ['plan', '--pages', '1e6', '--domains', '100', '-s', 'DOWNLOAD_DELAY=2'];
    expect((await json([...polite, '--rate', '10'])).domainsAllowPagesPerSecond).toBe(50);
    expect((await run([...polite, '--rate', '50'])).stdout).not.toContain('do not allow');
    expect((await run([...polite, '--rate', '51'])).stdout).toContain('The domains do not allow this rate');
    const fast = await run(['plan', '--pages', '1e9', '--domains', '1e6', '--rate', '2e4']);
    expect(fast.stdout).toContain('One Redis is too slow for this rate');
  });

  it.each([
    [['--pages', '0'], "option '--pages <n>' argument '0' is invalid. Expected a whole number"],
    [['--pages', '1.5'], 'such as 20 or 1e6'],
    [['--domains', 'many'], "option '--domains <n>' argument 'many' is invalid"],
    [['--rate', '-1'], 'Expected a number above 0, such as 2000 or 0.5'],
    [['--rate', '1e999'], 'Expected a number above 0'],
    [['--domains', '1e10'], '--domains 10000000000 is more than --pages 1000000000'],
    [['--job', 'may'], '--job is of the crawl of --from: add --from SPIDER'],
  ])('it refuses %j, and says what to type', async (args, message) => {
    const { code, stderr } = await run([...large, ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

describe('--from', () => {
  const here = projectOn('embedded', { files: { 'spiders/news.ts': newsSpider } });
  it('it refuses a crawl of which too little was measured, and a spider that there is not', async () => {
    const news = await runHere([...large, '--from', 'news'], { cwd: here.project.dir });
    expect(news).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/too little was measured of this crawl: 0 pages .* 100 are needed/),
    });
    const other = await runHere([...large, '--from', 'nws'], { cwd: here.project.dir });
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('news') });
  });
});
