/** Work that vanishes from the store is said, and never taken for finished. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../src/disk/sqlite.js';
import { fileIn } from '../../src/frontier/embedded/file/wal.js';
import { commit, done, request, takeOne } from '../frontier-contract/world.js';
import { runHere } from '../helpers/cli/run-here.js';
import { type RunningCli, startCli } from '../helpers/cli.js';
import { type Engine, onEachEngine, projectOn } from '../helpers/engine-project.js';
import { joinAs } from '../helpers/joining.js';
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

/** A crawl of which some requests are lost, and the commands that people use then. */
function lossOn(engine: Engine, settings: Readonly<Record<string, unknown>>) {
  const here = projectOn(engine, {
    settings: { ROBOTSTXT_OBEY: false, START_TIMEOUT: 1, CONCURRENT_REQUESTS: 4, ...settings },
    files: { 'spiders/docs.ts': docs },
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: 60 });
  });
  afterEach(() => site.close());

  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const crawling = (...args: string[]) => ['crawl', 'docs', '-a', `start=${site.url}`, ...args];
  const crawl = (...args: string[]) => run(...crawling('--exit-when-done', ...args));
  const snapshot = () => here.look((frontier) => frontier.snapshot(), 'docs');
  const isSound = () => here.look(async (frontier) => expect(await frontier.verify()).toEqual([]), 'docs');

  const drop = async (key: string) => {
    if (here.redis !== null) {
      const client = new Redis(here.redis.url);
      await client.del(key);
      client.disconnect();
      return;
    }
    const file = connect(fileIn(here.place()));
    file.exec("DELETE FROM record WHERE n IN (SELECT n FROM request WHERE state = 'pending')");
    file.close();
  };
  /** A part of the pages is done, and the records of all others are deleted. */
  const loseSome = async (key = 'docs:requests') => {
    expect(await crawl('--max-pages', '5')).toMatchObject({ code: 0 });
    expect((await snapshot()).pending).toBeGreaterThan(1);
    await drop(key);
  };
  const lossIsSaid = {
    code: 1,
    stdout: expect.stringMatching(/requests? (is|are) lost[\s\S]*--repair[\s\S]*--accept-losses/),
  };
  return { here, run, crawl, crawling, snapshot, isSound, loseSome, lossIsSaid, site: () => site };
}

onEachEngine('a loss on the %s engine', (engine) => {
  const { run, crawl, crawling, here, snapshot, isSound, loseSome, lossIsSaid, site } = lossOn(engine, {});

  it('makes every run that ends by itself exit 1, but neither SIGTERM nor stop, until somebody accepts it', async () => {
    await loseSome();
    for (const _ of ['this run', 'every later run']) expect(await crawl()).toMatchObject(lossIsSaid);
    const { lost } = await snapshot();
    expect(lost).toBeGreaterThan(0);

    const isNew = (url: string) => !site().fetched().has(new URL(url).pathname);
    await run('seed', 'docs', ...site().urls.filter(isNew).slice(-2));
    const budget = await crawl('--max-pages', '1', '-s', 'CONCURRENT_REQUESTS=1');
    expect(budget).toMatchObject(lossIsSaid);
    expect(budget.stdout).toContain('closespider_pagecount');

    const ends = [(node: RunningCli) => node.kill('SIGTERM'), () => run('stop', 'docs')];
    for (const end of ends) {
      const service = startCli(crawling(), { cwd: here.project.dir });
      await waitFor(async () => (await snapshot()).nodes.length === 1);
      await end(service);
      expect(await service.wait()).toMatchObject({ code: 0 });
    }

    expect(await run('doctor', 'docs')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('--accept-losses'),
    });
    // No record is left, so a repair is no way out any more.
    const repaired = await run('doctor', 'docs', '--repair');
    expect(repaired).toMatchObject({ code: 1, stdout: expect.stringContaining('--accept-losses') });
    expect(repaired.stdout).not.toContain('--repair');
    expect(await run('doctor', 'docs', '--accept-losses')).toMatchObject({ code: 0 });
    expect(await snapshot()).toMatchObject({ lost: 0 });
    await isSound();
    expect(await crawl()).toMatchObject({ code: 0 });
  });
});

onEachEngine('a loss of a crawl that does not persist, on the %s engine', (engine) => {
  const { run, crawl, here, loseSome, lossIsSaid, site } = lossOn(engine, { SCHEDULER_PERSIST: false });

  it('keeps a crawl that does not persist, and the next one says so and fetches nothing, until it is accepted', async () => {
    await loseSome();
    expect(await crawl()).toMatchObject(lossIsSaid);
    const fetched = site().log.length;
    expect(await crawl()).toMatchObject(lossIsSaid);
    expect(site().log.length).toBe(fetched);
    expect(await run('doctor', 'docs', '--accept-losses')).toMatchObject({ code: 0 });
    expect(await crawl('-O', 'docs.jsonl')).toMatchObject({ code: 0 });
    expect((await here.project.read('docs.jsonl')).trim().split('\n')).toHaveLength(60);
  });
});

onEachEngine('a loss of items that wait for a feed, on the %s engine', (engine) => {
  const { run, crawl, here, isSound } = lossOn(engine, {});

  it('is named by doctor, and makes every run exit 1 after a repair until it is accepted', async () => {
    const feed = { feed: 'feed', host: 'here', path: '/docs.jsonl', pid: 1, owner: 'w', format: 'jsonl' };
    await here.look(async (frontier) => {
      await joinAs(frontier, { feeds: ['feed'] });
      await frontier.push([request('page')], 'links');
      await commit(frontier, await takeOne(frontier), done, { feedItems: ['{"n":1}', '{"n":2}'] });
      await frontier.feeds.open(feed, { staleMs: 1 });
      await frontier.feeds.checkpoint(feed, { sequence: 1, lengthBytes: 8, header: '' }, 0);
      await frontier.leave('signal');
    }, 'docs');
    if (here.redis !== null) {
      const client = new Redis(here.redis.url);
      await client.del('docs:requests:~outbox');
      client.disconnect();
    } else {
      const file = connect(fileIn(here.place()));
      file.exec('DELETE FROM outbox');
      file.close();
    }
    expect(await run('doctor', 'docs', '--deep')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('0 items wait for the feed feed, and its record says 1'),
    });
    expect(await run('doctor', 'docs', '--repair')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('lost: 1 items that waited for the feed feed'),
    });
    await isSound();
    for (const _ of ['this run', 'every later run'])
      expect(await crawl()).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/items that waited for a feed/),
      });
    expect(await run('doctor', 'docs', '--accept-losses')).toMatchObject({ code: 0 });
    expect(await crawl()).toMatchObject({ code: 0 });
  });
});

describe('a loss of the queue alone', () => {
  const { run, crawl, snapshot, loseSome, site } = lossOn('redis', {});

  it.each(['doctor --repair', 'the next run'])(
    'is undone by %s: nothing is missing, and nothing fetched twice',
    async (by) => {
      await loseSome('docs:requests:~queue');
      if (by !== 'the next run') expect(await run('doctor', 'docs', '--repair')).toMatchObject({ code: 0 });
      expect(await crawl()).toMatchObject({ code: 0 });
      expect(await snapshot()).toMatchObject({ lost: 0 });
      expect(site().compare()).toEqual({ missing: [], twice: [] });
    },
  );
});
