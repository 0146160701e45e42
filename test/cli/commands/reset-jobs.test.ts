/** `reset` of a crawl that is not there, and of several jobs at once, on both engines. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { engines, newsSpider, projectOn } from '../../helpers/engine-project.js';

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const files = { 'spiders/news.ts': newsSpider, 'spiders/news2.ts': newsSpider.replace('news', 'news2') };
  const here = projectOn(engine, { files });
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const crawls = async () => {
    const stats = JSON.parse((await run('stats', '--json')).stdout) as {
      spider: string;
      job: string | null;
    }[];
    return stats.filter(({ spider }) => spider === 'news').map(({ job }) => job);
  };

  it('a spider or job of which nothing is stored is refused; a spider of the project has nothing to delete', async () => {
    for (const args of [['shop'], ['news@typo'], ['news', '--job', 'typo'], ['shop', '--all-jobs']]) {
      const { code, stdout, stderr } = await run('reset', ...args, '--yes', '--json');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      const last = JSON.parse(stderr.trim().split('\n').at(-1)!) as object;
      expect(last).toMatchObject({
        code: 'no_such_crawl',
        msg: expect.stringMatching(/^there is no crawl /),
      });
    }
    expect(await run('reset', 'news', '--yes')).toMatchObject({ code: 0 });
    const old = ['--all-jobs', '--older-than', '30d', '--all', '--yes'];
    expect(await run('reset', 'news', ...old)).toMatchObject({ code: 0 });
    if (engine === 'embedded') expect(here.project.exists('.crawlnode')).toBe(false);
  });

  it('--all-jobs resets every job of the spider and no other spider, and only old ones where that is asked', async () => {
    for (const crawl of ['news', 'news@may', 'news@june', 'news2@may']) {
      await run('seed', crawl, 'http://127.0.0.1:1/');
    }
    // A job has begun once a node has joined it.
    for (const crawl of ['news', 'news@may']) {
      await run('crawl', crawl, '--exit-when-done', '-s', 'RETRY_ENABLED=false');
    }
    const young = await run('reset', 'news', '--all-jobs', '--older-than', '7d', '--yes');
    expect(young).toMatchObject({ code: 0, stdout: expect.stringContaining('news@may: nothing to do: ') });
    expect(await crawls()).toEqual([null, 'june', 'may']);
    const dry = await run('reset', 'news', '--all-jobs', '--dry-run', '--json');
    expect((JSON.parse(dry.stdout) as { job: string | null }[]).map(({ job }) => job).sort()).toEqual([
      ...['june', 'may', null],
    ]);
    expect(await run('reset', 'news', '--all-jobs')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    const { code, stdout } = await run('reset', 'news', '--all-jobs', '--all', '--yes');
    expect(code).toBe(0);
    for (const name of ['news', 'news@may', 'news@june']) expect(stdout).toContain(`\n${name}: deleted\n`);
    expect(await crawls()).toEqual([null]);
    expect((await run('stats', 'news2@may', '--json')).stdout).toContain('"pending":1');
  });

  it('--all-crawls finds what nobody has used for a time, in all projects, and list --store shows it', async () => {
    for (const crawl of ['news', 'news@may', 'news2']) await run('seed', crawl, 'http://127.0.0.1:1/');
    await run('crawl', 'news@may', '--exit-when-done', '-s', 'RETRY_ENABLED=false');
    await rm(path.join(here.project.dir, 'spiders/news2.ts'));
    const { stdout } = await run('list', '--store');
    expect(stdout).toMatch(
      /^CRAWL +AGE +SIZE +UNUSED FOR +LAST RUN\nnews .*\nnews@may .*ended.*\nnews2 .*\n$/,
    );
    expect(JSON.parse((await run('list', '--store', '--json')).stdout)).toMatchObject([
      { spider: 'news', job: null, lastRun: null, beganAtMs: expect.any(Number), bytes: expect.any(Number) },
      { spider: 'news', job: 'may', lastRun: { closed: 'finished' }, usedAtMs: expect.any(Number) },
      { spider: 'news2', job: null, lastRun: null },
    ]);
    const all = ['reset', '--all-crawls', '--older-than'];
    expect(await run(...all, '30d', '--all', '--yes')).toMatchObject({
      ...{ code: 0, stdout: '' },
      stderr: expect.stringContaining('0 of 3 crawls in the store are due'),
    });
    const dry = await run(...all, '0.001s', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: expect.stringContaining('3 of 3 crawls') });
    expect(dry.stdout).toContain('news2: the crawl was last used ');
    expect(await run(...all, '0.001s')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await run(...all, '0.001s', '--all', '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse((await run('list', '--store', '--json')).stdout)).toEqual([]);
    for (const wrong of [['--all-crawls'], [], ['news', '--all-crawls', '--older-than', '1d']])
      expect(await run('reset', ...wrong)).toMatchObject({ code: 2 });
  });

  it('--all-jobs leaves a job that nodes crawl, and says so', async () => {
    await run('seed', 'news@old', 'http://127.0.0.1:1/');
    const node = startCli(['crawl', 'news@live', '--node-id', 'one'], { cwd: here.project.dir });
    await node.waitForOutput('this node waits for seeds');
    expect(await run('reset', 'news', '--all-jobs', '--yes')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('news@old: deleted'),
      stderr: expect.stringContaining('1 node is crawling news@live (one): it is not changed'),
    });
    expect((await run('stats', 'news@live', '--json')).stdout).toContain('"id":"one"');
    node.kill();
    expect(await node.wait()).toMatchObject({ code: 0 });
  });
});
