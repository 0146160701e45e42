/** A crawl that another version of crawlnode keeps in another format: refused by every command, and reset works. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { dataFormats } from '../../src/frontier/data-format.js';
import { findInFolder as listCrawls } from '../../src/frontier/embedded/crawl/find-crawls.js';
import { openDatabase } from '../../src/frontier/embedded/file/database.js';
import { runHere } from '../helpers/cli/run-here.js';
import { runCli } from '../helpers/cli.js';
import { engines, projectOn } from '../helpers/engine-project.js';

describe.each(engines)('on the %s engine, a crawl of a later data format', (engine) => {
  const here = projectOn(engine);
  const ours = dataFormats[engine];
  const later = ours + 1;
  /** A crawl is a process of its own, as it handles signals; the other commands run here. */
  const run = (...args: string[]) =>
    (args[0] === 'crawl' ? runCli : runHere)(args, { cwd: here.project.dir });

  /** As if a later crawlnode had written the crawl, with a structure that we do not know. */
  async function makeLater(): Promise<void> {
    if (here.redis !== null) {
      const client = new Redis(here.redis.url);
      await client.hset('news:requests:~meta', 'version', later);
      await client.set('news:requests:~unheard-of', 'text');
      await client.zadd('news:requests:~leases', 1, 'a hash in ours');
      client.disconnect();
      return;
    }
    const database = openDatabase(here.place());
    database.writable.run`UPDATE crawl SET format = ${later}`;
    await database.close();
  }

  it('is refused by every command, naming both formats and what to do', async () => {
    await run('seed', 'news', 'http://a.example/');
    await makeLater();
    const refusal = new RegExp(
      `news:requests is kept in data format ${later}, .*writes format ${ours}: go on with the version .*\\\\?"crawlnode reset news\\\\?"`,
    );
    for (const args of [
      ['crawl', 'news', '--exit-when-done'],
      ['seed', 'news', 'http://b.example/'],
      ['stats', 'news'],
      ['inspect', 'news', 'http://a.example/'],
      ['forget', 'news', 'http://a.example/'],
      ['failed', 'news', 'list'],
      ['items', 'news', 'export'],
      ['pause', 'news'],
    ]) {
      expect(await run(...args), args.join(' ')).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(refusal),
      });
    }
    const doctor = await run('doctor', 'news', '--deep', '--json');
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.stdout).findings.at(-1)).toMatchObject({
      ...{ level: 'problem', check: 'format', spider: 'news' },
      message: expect.stringContaining(`data format ${later}`),
      action: expect.stringContaining('"crawlnode reset news"'),
    });
  });

  it('does not hide the other crawls from stats', async () => {
    await run('seed', 'news', 'http://a.example/');
    await makeLater();
    const { code, stderr } = await run('stats', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`data format ${later}`) });
    expect(stderr).toContain('crawlnode reset news');
  });

  it('is deleted by reset, all of it, and begins anew', async () => {
    await run('seed', 'news', 'http://a.example/');
    await makeLater();
    expect(await run('reset', 'news', '--only', 'failed', '--yes')).toMatchObject({ code: 3 });
    expect(await run('reset', 'news', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/queue +1\n/),
    });
    if (here.redis !== null) {
      const client = new Redis(here.redis.url);
      expect(await client.keys('*')).toEqual([]);
      client.disconnect();
    } else expect(await listCrawls(here.place())).toEqual([]);
    expect((await run('seed', 'news', 'http://a.example/')).stdout).toContain('1 accepted');
    expect(await here.look((frontier) => frontier.verify())).toEqual([]);
  });
});
