/** A crawl on each dupefilter on both engines: every page once, and what each is for. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { classOf, dupefilterNames } from '../../src/frontier/dupefilter-classes.js';
import { runHere } from '../helpers/cli/run-here.js';
import { startCli } from '../helpers/cli.js';
import { engines, projectOn } from '../helpers/engine-project.js';
import { embeddedHand } from '../helpers/frontier/embedded-hand.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

const PAGES = 40;

const spiderOf = (site: Site) => `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'site';
  startUrls = ['${site.url}'];
  *parse(response: Response) {
    yield* response.followAll('a', this.parse);
  }
}
`;

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const here = projectOn(engine, {
    settings: { CONCURRENT_REQUESTS_PER_DOMAIN: 16, START_TIMEOUT: 1, ROBOTSTXT_OBEY: false },
    files: {},
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: PAGES });
    await here.project.write('spiders/site.ts', spiderOf(site));
  });
  afterEach(() => site.close());

  const page = (n: number) => site.urls[n] as string;
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });

  it.each(dupefilterNames)(
    'a crawl with a %s fetches every page once, knows it, and leaves no key',
    async (name) => {
      const settings = ['-s', `DUPEFILTER_CLASS=${name}`, '-s', 'DUPEFILTER_EXPIRE=3600'];
      const all = [...settings, '-s', 'DUPEFILTER_ERROR_RATE=0.00001'];
      expect(await run('crawl', 'site', '--exit-when-done', ...all)).toMatchObject({ code: 0 });
      expect(site.compare()).toEqual({ missing: [], twice: [] });
      const inspected = JSON.parse((await run('inspect', 'site', page(3), '--json', ...all)).stdout);
      const life = { state: 'done', status: 200, attempts: 1, at: expect.stringMatching(/^20\d\d-.*Z$/) };
      expect(inspected).toMatchObject({
        state: 'seen',
        life: classOf({ class: name }).table === 'seen_state' ? life : null,
      });
      expect(await run('reset', 'site', '--all', '--yes', ...all)).toMatchObject({ code: 0 });
      if (here.redis !== null) {
        const admin = new Redis(here.redis.url);
        expect(await admin.keys('*')).toEqual([]);
        admin.disconnect();
      }
    },
  );

  it('another class than the crawl has is refused with both names; one that cannot forget says what to do', async () => {
    const settings = ['-s', 'DUPEFILTER_CLASS=BloomDupeFilter'];
    expect(await run('seed', 'site', page(1), ...settings)).toMatchObject({ code: 0 });
    expect(await run('seed', 'site', page(2))).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/BloomDupeFilter\(capacity 1000000, errorRate 0\.001\).*RFPDupeFilter/),
    });
    expect(await run('forget', 'site', page(1), ...settings)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        '"crawlnode reset site -s DUPEFILTER_CLASS=BloomDupeFilter --only dupefilter"',
      ),
    });
  });

  it('inspect shows the life of a request in words, with each attempt and its status', async () => {
    const gone = `${site.origin}/none-such-page`;
    const settings = ['-s', 'DUPEFILTER_CLASS=StateDupeFilter'];
    await run('seed', 'site', gone, ...settings);
    expect((await run('inspect', 'site', gone, ...settings)).stdout).toMatch(
      /\nlife +pending at 20\S+, 0 attempts\n/,
    );
    await run('crawl', 'site', '--exit-when-done', ...settings);
    expect((await run('inspect', 'site', gone, ...settings)).stdout).toMatch(
      /\nlife +(done|failed) at 20\S+, HTTP 404, 1 attempt\n/,
    );
  });
});

const LINKED = 21;

describe.each(engines)(
  'a dupefilter that somebody empties, on the %s engine',
  { timeout: 120_000 },
  (engine) => {
    const here = projectOn(engine, {
      settings: {
        CONCURRENT_REQUESTS_PER_DOMAIN: 16,
        START_TIMEOUT: 1,
        ROBOTSTXT_OBEY: false,
        HEARTBEAT_INTERVAL: 1,
      },
      files: {},
    });
    let site: Site;
    beforeEach(async () => {
      site = await startSite({ pages: LINKED });
      await here.project.write('spiders/site.ts', spiderOf(site));
    });
    afterEach(() => site.close());

    const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
    const crawl = () => run('crawl', 'site', '--exit-when-done');
    const isWhole = () => waitFor(async () => site.compare().missing.length === 0);
    /** What the seeds' own recipe of Scrapy-Redis does, and its like on the embedded engine. */
    async function empty(): Promise<void> {
      if (engine === 'embedded') return embeddedHand(here.place()).deleteSeen();
      await byHand((redis) => redis.del('site:dupefilter'));
    }
    async function byHand(act: (redis: Redis) => Promise<unknown>): Promise<void> {
      const redis = new Redis(here.redis!.url);
      await act(redis);
      redis.disconnect();
    }

    it('under a live node: the seeded page and all that it links to are fetched again, and a warning says why', async () => {
      const node = startCli(['crawl', 'site'], { cwd: here.project.dir });
      await isWhole();
      await waitFor(async () => (await here.look((frontier) => frontier.snapshot(), 'site')).done === LINKED);
      site.clearLog();
      await empty();
      await run('seed', 'site', site.url);
      await isWhole();
      expect(site.compare()).toEqual({ missing: [], twice: [] });
      node.kill();
      const { stderr } = await node.wait();
      expect(stderr.match(/21 fingerprints vanished from the dupefilter/g)).toHaveLength(1);
      const { stdout } = await run('doctor', 'site', '--deep');
      expect(stdout).toContain('21 fingerprints vanished from the dupefilter');
      expect(await run('reset', 'site', '--only', 'dupefilter', '--yes')).toMatchObject({ code: 0 });
      expect((await run('doctor', 'site')).stdout).not.toContain('vanished');
    });

    it('between two runs: the next one crawls the start pages and all others again', async () => {
      expect(await crawl()).toMatchObject({ code: 0 });
      site.clearLog();
      await empty();
      const again = await crawl();
      expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('21 fingerprints vanished') });
      expect(site.compare()).toEqual({ missing: [], twice: [] });
      site.clearLog();
      expect(await crawl()).toMatchObject({ code: 0 });
      expect(site.log.filter(({ path }) => path !== '/robots.txt')).toEqual([]);
    });

    it('by reset --only dupefilter: the next run crawls all pages again, and says nothing of a loss', async () => {
      expect(await crawl()).toMatchObject({ code: 0 });
      site.clearLog();
      await run('reset', 'site', '--only', 'dupefilter', '--yes');
      const again = await crawl();
      expect(again).toMatchObject({ code: 0 });
      expect(again.stderr).not.toContain('vanished');
      expect(site.compare()).toEqual({ missing: [], twice: [] });
    });

    it.runIf(engine === 'redis')(
      'by EXPIRE: a live node warns of it, and fetches all again after its end',
      async () => {
        const node = startCli(['crawl', 'site'], { cwd: here.project.dir });
        await isWhole();
        await byHand((redis) => redis.expire('site:dupefilter', 1_000));
        await node.waitForOutput('somebody has set a time to live on the dupefilter');
        await waitFor(
          async () => (await here.look((frontier) => frontier.snapshot(), 'site')).done === LINKED,
        );
        site.clearLog();
        await byHand((redis) => redis.pexpire('site:dupefilter', 1));
        await node.waitForOutput('21 fingerprints vanished');
        await run('seed', 'site', site.url);
        await isWhole();
        expect(site.compare()).toEqual({ missing: [], twice: [] });
        node.kill();
        await node.wait();
      },
    );
  },
);
