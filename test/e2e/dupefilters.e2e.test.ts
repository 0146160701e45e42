/** A crawl on each dupefilter on both engines: every page once, and what each is for. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { classOf, dupefilterNames } from '../../src/frontier/dupefilter-classes.js';
import { runHere } from '../helpers/cli/run-here.js';
import { engines, projectOn } from '../helpers/engine-project.js';
import { type Site, startSite } from '../helpers/sites/site.js';

const PAGES = 40;

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const here = projectOn(engine, {
    settings: { CONCURRENT_REQUESTS_PER_DOMAIN: 16, START_TIMEOUT: 1, ROBOTSTXT_OBEY: false },
    files: {},
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: PAGES });
    await here.project.write(
      'spiders/site.ts',
      `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'site';
  startUrls = ['${site.url}'];
  *parse(response: Response) {
    yield* response.followAll('a', this.parse);
  }
}
`,
    );
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
