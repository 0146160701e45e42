/** `restore` of what `reset --backup` wrote, on both engines and between them. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Frontier } from '../../../src/frontier/frontier.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { contents, fill } from '../../helpers/filled-crawl.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { waitFor } from '../../helpers/wait-for.js';

const snapshot = (frontier: Frontier) => frontier.snapshot();

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });

  it('a restore is refused where something is, and adds what is missing by force, once', async () => {
    await here.look(fill);
    await run('reset', 'news', '--backup', 'b.jsonl', '--yes');
    await run('seed', 'news', 'http://new.example/');
    expect(await run('restore', 'news', 'b.jsonl')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/holds requests already.*--force/),
    });
    expect((await run('restore', 'news', 'b.jsonl', '--only', 'failed,start_urls')).code).toBe(0);
    expect(await here.look(snapshot)).toMatchObject({ failed: 1, startUrls: 2, pending: 1 });
    expect((await run('restore', 'news', 'b.jsonl', '--only', 'queue,dupefilter', '--force')).code).toBe(0);
    expect(await here.look(snapshot)).toMatchObject({ pending: 19, delayed: 1, seen: 22 });
    const again = await run('restore', 'news', 'b.jsonl', '--only', 'queue,dupefilter', '--force');
    expect(again.stdout).toContain('was brought back before; nothing was changed');
    expect(await here.look(snapshot)).toMatchObject({ pending: 19, delayed: 1, seen: 22 });
  });

  it('a backup that is not whole is refused before anything is written', async () => {
    await here.look(fill);
    await run('reset', 'news', '--all', '--backup', 'b.jsonl', '--yes');
    await here.project.write('cut.jsonl', (await here.project.read('b.jsonl')).slice(0, -50));
    expect(await run('restore', 'news', 'cut.jsonl')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is damaged: it ends after line \d+, before its last; use another copy/),
    });
    expect(await here.look(contents)).toEqual([]);
  });

  it('a restore that is killed again and again goes on where it was, and each thing is there once', async () => {
    await here.look((frontier) => fill(frontier, 6_000));
    const before = await here.look(contents);
    await run('reset', 'news', '--all', '--backup', 'b.jsonl', '--yes');
    const brought = async (frontier: Frontier) => {
      const { queue, dupefilter } = await frontier.count();
      return queue + dupefilter;
    };
    let last = 0;
    for (let kills = 0; kills < 4; kills += 1) {
      const cli = startCli(['restore', 'news', 'b.jsonl'], { cwd: here.project.dir });
      let ended = false;
      const end = cli.wait().then(() => {
        ended = true;
      });
      await here.look((frontier) =>
        waitFor(async () => ended || (await brought(frontier)) > last, { intervalMs: 1 }),
      );
      const isOver = ended;
      cli.killGroup('SIGKILL');
      await end;
      if (isOver) break;
      last = await here.look(brought);
      if (kills === 0) {
        expect(await run('crawl', 'news', '--exit-when-done')).toMatchObject({
          code: 3,
          stderr: expect.stringMatching(/run .*crawlnode restore.* with the same file again/),
        });
      }
    }
    const { code, stdout, stderr } = await run('restore', 'news', 'b.jsonl');
    if (code !== 0) expect(stderr).toContain('already');
    else expect(stdout).toMatch(/went on where it was cut off|is in the crawl again/);
    expect(await here.look(contents)).toEqual(before);
    expect((await run('doctor', 'news', '--deep')).stdout).toContain('no problems');
  });
});

describe('a backup of one engine', { timeout: 120_000 }, () => {
  const here = projectOn('embedded');

  it('goes to the other engine and back, to another spider and job, and is the same', async () => {
    const redis = await startRedis();
    const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
    await here.project.write(
      'spiders/shop.ts',
      (await here.project.read('spiders/news.ts')).replace("'news'", "'shop'"),
    );
    await here.look((frontier) => fill(frontier, 2_500));
    const before = await here.look(contents);
    const there = ['-s', `REDIS_URL=${redis.url}`];
    expect((await run('reset', 'news', '--all', '--yes', '--backup', 'a.jsonl')).code).toBe(0);
    expect(await run('restore', 'shop', 'a.jsonl', '--job', 'j', ...there)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /is a backup of news, not of shop: "crawlnode restore news a.jsonl --as shop"/,
      ),
    });
    const moved = await run('restore', 'news', 'a.jsonl', '--as', 'shop', '--job', 'j', ...there);
    expect(moved).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('of news, and goes to shop@j'),
    });
    expect((await run('doctor', 'shop', '--deep', '--job', 'j', ...there)).stdout).toContain(
      'all records agree',
    );
    await run('reset', 'shop', '--all', '--yes', '--backup', 'b.jsonl.gz', '--job', 'j', ...there);
    expect((await run('restore', 'shop', 'b.jsonl.gz', '--as', 'news')).code).toBe(0);
    expect(await here.look(contents)).toEqual(before);
    expect(gunzipSync(readFileSync(here.project.path('b.jsonl.gz'))).toString()).toContain('"kind":"end"');
    await redis.stop();
  });

  it('of another shape, or with bits of the other engine, is refused', async () => {
    const redis = await startRedis();
    const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
    const bloom = ['-s', 'DUPEFILTER_CLASS=BloomDupeFilter', '-s', 'DUPEFILTER_CAPACITY=1000'];
    await run('seed', 'news', 'http://a.example/', ...bloom);
    await run('reset', 'news', '--all', '--yes', '--backup', 'a.jsonl', ...bloom);
    for (const [args, says] of [
      [['-s', 'SCHEDULER_QUEUE_CLASS=FifoQueue', ...bloom], 'SCHEDULER_QUEUE_CLASS is PriorityQueue there'],
      [[], 'does not store complete fingerprints'],
      [['-s', `REDIS_URL=${redis.url}`, ...bloom], 'a backup of the embedded engine cannot be restored'],
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
