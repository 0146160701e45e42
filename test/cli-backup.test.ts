/** `reset --backup`, `restore` and the clean policy through the real executable, on both engines. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { gunzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { backUp } from '../src/cli/backup/back-up.js';
import { processContext } from '../src/cli/context.js';
import { allParts, type Frontier } from '../src/frontier/frontier.js';
import { openFrontier } from '../src/frontier/open.js';
import { readAll } from './frontier-contract/backups-dupefilters.js';
import { commit, failed, request, take } from './frontier-contract/world.js';
import { executable, runCli, startCli } from './helpers/cli.js';
import { engines, projectOn } from './helpers/engine-project.js';
import { defaultShape, openOptions } from './helpers/open-options.js';
import { startRedis } from './helpers/redis-server.js';
import { waitFor } from './helpers/wait-for.js';

const tunables = {
  ...{ delayMs: 0, randomizeDelay: false, concurrencyPerDomain: 8 },
  ...{ nodeTimeoutMs: 30_000, failedLimit: 10, queueLimit: 0 },
};
const noBudgets = { maxPages: 0, maxItems: 0, maxErrors: 0, maxRunMs: 0 };

async function within<T>(
  place: string,
  use: (frontier: Frontier) => Promise<T>,
  spider = 'news',
): Promise<T> {
  const frontier = await openFrontier(openOptions(place, spider));
  try {
    return await use(frontier);
  } finally {
    await frontier.close();
  }
}

/** A crawl with something of everything. */
async function fill(place: string, count = 20): Promise<void> {
  await within(place, async (frontier) => {
    await frontier.join(
      { id: 'one', host: os.hostname(), pid: process.pid },
      {
        ...{ shape: defaultShape, tunables, budgets: noBudgets },
        ...{ feeds: [], hasStart: false, flushOnStart: false },
      },
    );
    for (let at = 0; at < count; at += 1_000) {
      const pages = Array.from({ length: Math.min(1_000, count - at) }, (_, n) =>
        request(`page-${at + n}`, { domain: `${n % 7}.example`, priority: n % 3 }),
      );
      await frontier.push(pages, 'links');
    }
    await frontier.push([request('later', { delayMs: 3_600_000 })], 'links');
    const [a, b] = await take(frontier, 2);
    await commit(frontier, a!, failed('timeout'));
    await commit(frontier, b!, undefined, { items: ['{"n":1}', '{"n":"ü"}'], stats: { pages: 3 } });
    await frontier.appendSeeds(['http://a.example/', 'x']);
    await frontier.leave('shutdown');
  });
}

/** What a backup of all of it would hold, in an order of its own. */
const contents = (place: string, spider = 'news') =>
  within(
    place,
    async (frontier) =>
      (await readAll(frontier))
        .flatMap((entry): unknown[] => ('values' in entry ? [...entry.values] : []))
        .map((value) => JSON.stringify(value, Object.keys(Object(value)).sort()))
        .sort(),
    spider,
  );

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runCli(args, { cwd: here.project.dir });
  const stats = async (spider = 'news') => JSON.parse((await run('stats', spider, '--json')).stdout);

  it('what a reset deletes is in the backup first, and comes back as it was', async () => {
    await fill(here.place());
    const before = await contents(here.place());
    const file = here.project.path('backups/news.jsonl.gz');
    const reset = await run('reset', 'news', '--all', '--backup', 'backups/news.jsonl.gz', '--yes', '--json');
    expect(JSON.parse(reset.stdout)).toMatchObject({
      ...{ spider: 'news', dryRun: false },
      parts: { queue: 19, dupefilter: 21, start_urls: 2, items: 2, failed: 1 },
      backup: { file, counts: { requests: 19, seen: 21, failed: 1, seeds: 2, items: 2 } },
    });
    expect(await contents(here.place())).toEqual([]);
    expect(readdirSync(here.project.path('backups'))).toEqual(['news.jsonl.gz']);
    const dry = await run('restore', 'news', file, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toMatchObject({ outcome: 'dry run', counts: { requests: 19 } });
    expect(await contents(here.place())).toEqual([]);
    expect(await run('restore', 'news', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is in the crawl again'),
    });
    expect(await contents(here.place())).toEqual(before);
    expect((await run('doctor', 'news', '--deep')).stdout).toContain('no problems');
  });

  it('a restore is refused where something is, and adds what is missing by force, once', async () => {
    await fill(here.place());
    await run('reset', 'news', '--backup', 'b.jsonl', '--yes');
    await run('seed', 'news', 'http://new.example/');
    expect(await run('restore', 'news', 'b.jsonl')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/holds requests already.*--force/),
    });
    expect((await run('restore', 'news', 'b.jsonl', '--only', 'failed,start_urls')).code).toBe(0);
    expect(await stats()).toMatchObject({ failed: 1, startUrls: 2, pending: 1 });
    expect((await run('restore', 'news', 'b.jsonl', '--only', 'queue,dupefilter', '--force')).code).toBe(0);
    expect(await stats()).toMatchObject({ pending: 19, delayed: 1, seen: 22 });
    const again = await run('restore', 'news', 'b.jsonl', '--only', 'queue,dupefilter', '--force');
    expect(again.stdout).toContain('was brought back before; nothing was changed');
    expect(await stats()).toMatchObject({ pending: 19, delayed: 1, seen: 22 });
  });

  it('a backup that is not whole is refused before anything is written', async () => {
    await fill(here.place());
    await run('reset', 'news', '--all', '--backup', 'b.jsonl', '--yes');
    await here.project.write('cut.jsonl', (await here.project.read('b.jsonl')).slice(0, -50));
    expect(await run('restore', 'news', 'cut.jsonl')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /is not whole: it ends after line \d+, before its last; take another copy/,
      ),
    });
    expect(await contents(here.place())).toEqual([]);
  });

  it('nothing is cleared where the backup cannot be written, exists, or is not whole when it is killed', async () => {
    await fill(here.place(), 5_000);
    const before = await contents(here.place());
    await here.project.write('taken.jsonl', 'mine');
    expect(await run('reset', 'news', '--backup', 'taken.jsonl', '--yes')).toMatchObject({ code: 2 });
    expect(await run('reset', 'news', '--backup', 'taken.jsonl/b', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing was cleared'),
    });
    // A disk that is full after 100 KB.
    const full = spawnSync('sh', [
      '-c',
      `cd '${here.project.dir}' && ulimit -f 200 && exec "$0" "$1" reset news --backup full.jsonl --yes`,
      ...[process.execPath, executable],
    ]);
    if (engine === 'redis') expect(full.status).toBe(1);
    expect(existsSync(here.project.path('full.jsonl'))).toBe(false);
    const killed = startCli(['reset', 'news', '--backup', 'killed.jsonl', '--yes'], {
      cwd: here.project.dir,
    });
    await waitFor(
      () => killed.stdout().includes('to be deleted') || existsSync(here.project.path('killed.jsonl')),
      {
        intervalMs: 1,
      },
    );
    killed.killGroup('SIGKILL');
    await killed.wait();
    if (!existsSync(here.project.path('killed.jsonl'))) expect(await contents(here.place())).toEqual(before);
    expect(await here.project.read('taken.jsonl')).toBe('mine');
  });

  it('what is added while the backup is made stops the reset', async () => {
    await fill(here.place());
    await within(here.place(), async (frontier) => {
      const busy = Object.create(frontier, {
        count: { value: () => frontier.count() },
        snapshot: { value: () => frontier.snapshot() },
        backups: {
          value: {
            async *read(parts: typeof allParts) {
              yield* frontier.backups.read(parts);
              await frontier.push([request('late')], 'links');
            },
          },
        },
      }) as Frontier;
      const context = { ...processContext([], { set: [], json: false }), cwd: here.project.dir };
      const options = {
        ...{ file: 'b.jsonl', spider: 'news', job: null, shape: defaultShape, parts: allParts },
        ...{ counts: await frontier.count(), force: false },
      };
      await expect(backUp(context, busy, options)).rejects.toMatchObject({ code: 'backup_outdated' });
    });
  });

  it('a restore that is killed again and again goes on where it was, and each thing is there once', async () => {
    await fill(here.place(), 30_000);
    const before = await contents(here.place());
    await run('reset', 'news', '--all', '--backup', 'b.jsonl', '--yes');
    let last = 0;
    for (let kills = 0; kills < 4; kills += 1) {
      const cli = startCli(['restore', 'news', 'b.jsonl'], { cwd: here.project.dir });
      let ended = false;
      const end = cli.wait().then(() => {
        ended = true;
      });
      await within(here.place(), async (frontier) => {
        await waitFor(
          async () => {
            const { queue, dupefilter } = await frontier.count();
            return ended || queue + dupefilter > last;
          },
          { intervalMs: 1 },
        );
      });
      const isOver = ended;
      cli.killGroup('SIGKILL');
      await end;
      if (isOver) break;
      await within(here.place(), async (frontier) => {
        const { queue, dupefilter } = await frontier.count();
        last = queue + dupefilter;
      });
      if (kills === 0) {
        expect(await run('crawl', 'news', '--exit-when-done')).toMatchObject({
          code: 3,
          stderr: expect.stringContaining('run "crawlnode restore" with the same file again'),
        });
      }
    }
    const { code, stdout, stderr } = await run('restore', 'news', 'b.jsonl');
    if (code !== 0) expect(stderr).toContain('already');
    else expect(stdout).toMatch(/went on where it was cut off|is in the crawl again/);
    expect(await contents(here.place())).toEqual(before);
    expect((await run('doctor', 'news', '--deep')).stdout).toContain('no problems');
  });

  it('with a policy it happens when the crawl is due, else it says why nothing was done', async () => {
    await run('seed', 'news', 'http://a.example/1', 'http://a.example/2');
    const policy = (...more: string[]) => run('reset', 'news', '--yes', '--backup', 'b.jsonl', ...more);
    expect(await policy('--older-than', '7d', '--if-larger-than', '10000000')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^news: nothing to do: the crawl began \d+s ago \(limit 1w\), the dupefilter holds 2 fingerprints \(limit 10,000,000\)\n$/,
      ),
    });
    expect(existsSync(here.project.path('b.jsonl'))).toBe(false);
    expect((await policy('--older-than', '7d', '--if-larger-than', '1', '--dry-run')).stdout).toMatch(
      /would delete\n(.*\n)*after a backup to b\.jsonl\n$/,
    );
    expect(await stats()).toMatchObject({ pending: 2 });
    expect(JSON.parse((await policy('--if-larger-than', '1', '--json')).stdout)).toMatchObject({
      ...{ due: true, parts: { queue: 2 } },
    });
    expect(await stats()).toMatchObject({ pending: 0, seen: 0 });
    expect((await run('reset', 'news', '--yes', '--older-than', '7')).code).toBe(2);
  });

  it('an -o file that was written to since the backup keeps what it holds', async () => {
    await fill(here.place());
    await run('items', 'news', 'export', '-o', 'out.jsonl');
    await run('reset', 'news', '--all', '--backup', 'b.jsonl', '--yes');
    appendFileSync(here.project.path('out.jsonl'), '{"n":"by hand"}\n');
    expect((await run('restore', 'news', 'b.jsonl')).stderr).toContain('was changed since the backup');
    await fill(here.place());
    await run('items', 'news', 'export', '-o', 'out.jsonl');
    expect((await here.project.readJsonLines('out.jsonl')).map(({ n }) => n)).toEqual([
      ...[1, 'ü', 'by hand', 1, 'ü'],
    ]);
  });

  it('another job and another spider are left alone, whatever their names have in common', async () => {
    await here.project.write(
      'spiders/news2.ts',
      (await here.project.read('spiders/news.ts')).replace("'news'", "'news2'"),
    );
    await run('seed', 'news2', 'http://a.example/');
    await run('seed', 'news', 'http://a.example/', '--job', 'j');
    await run('seed', 'news', 'http://a.example/');
    const client = engine === 'redis' ? new Redis(here.redis!.url) : null;
    const strange = ['news*:requests', 'news?:dupefilter', 'n[e]ws:items', 'news:requests:mine', 'news:'];
    for (const key of strange) await client?.set(key, '1');
    expect((await run('reset', 'news', '--all', '--yes')).code).toBe(0);
    expect(await stats()).toMatchObject({ pending: 0, seen: 0 });
    expect(await stats('news2')).toMatchObject({ pending: 1, seen: 1 });
    const job = JSON.parse((await run('stats', 'news', '--job', 'j', '--json')).stdout);
    expect(job).toMatchObject({ pending: 1, seen: 1 });
    if (client !== null) {
      expect(await client.exists(...strange)).toBe(strange.length);
      const own = (await client.keys('news:*')).filter(
        (key) => !key.includes('@j') && !strange.includes(key),
      );
      expect(own).toEqual([]);
      client.disconnect();
    }
  });
});

describe('a backup of one engine', { timeout: 120_000 }, () => {
  const here = projectOn('embedded');

  it('goes to the other engine and back, to another spider and job, and is the same', async () => {
    const redis = await startRedis();
    const run = (...args: string[]) => runCli(args, { cwd: here.project.dir });
    await here.project.write(
      'spiders/shop.ts',
      (await here.project.read('spiders/news.ts')).replace("'news'", "'shop'"),
    );
    await fill(here.place(), 2_500);
    const before = await contents(here.place());
    const there = ['-s', `REDIS_URL=${redis.url}`];
    expect((await run('reset', 'news', '--all', '--yes', '--backup', 'a.jsonl')).code).toBe(0);
    const moved = await run('restore', 'shop', 'a.jsonl', '--job', 'j', ...there);
    expect(moved).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('of news, and goes to shop@j'),
    });
    expect((await run('doctor', 'shop', '--deep', '--job', 'j', ...there)).stdout).toContain(
      'all records agree',
    );
    await run('reset', 'shop', '--all', '--yes', '--backup', 'b.jsonl.gz', '--job', 'j', ...there);
    expect((await run('restore', 'news', 'b.jsonl.gz')).code).toBe(0);
    expect(await contents(here.place())).toEqual(before);
    expect(gunzipSync(readFileSync(here.project.path('b.jsonl.gz'))).toString()).toContain('"kind":"end"');
    await redis.stop();
  });

  it('of another shape, or with bits of the other engine, is refused', async () => {
    const redis = await startRedis();
    const run = (...args: string[]) => runCli(args, { cwd: here.project.dir });
    const bloom = ['-s', 'DUPEFILTER_CLASS=BloomDupeFilter', '-s', 'DUPEFILTER_CAPACITY=1000'];
    await run('seed', 'news', 'http://a.example/', ...bloom);
    await run('reset', 'news', '--all', '--yes', '--backup', 'a.jsonl', ...bloom);
    for (const [args, says] of [
      [['-s', 'SCHEDULER_QUEUE_CLASS=FifoQueue', ...bloom], 'queueClass is PriorityQueue there'],
      [[], 'does not keep fingerprints whole'],
      [['-s', `REDIS_URL=${redis.url}`, ...bloom], 'is of the embedded engine'],
    ] as const) {
      expect(await run('restore', 'news', 'a.jsonl', ...args)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(says),
      });
    }
    expect((await run('restore', 'news', 'a.jsonl', '--only', 'queue')).code).toBe(0);
    await redis.stop();
  });
});
