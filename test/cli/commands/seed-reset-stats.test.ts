/** seed, reset, stats and control on both engines. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { CrawlStats } from '../../../src/crawler/stats/crawl-stats.js';
import { connect } from '../../../src/disk/sqlite.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import { request } from '../../frontier-contract/world.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli, startCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const spider = (name: string) => `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = '${name}';
  parse(response: Response) { return { url: response.url }; }
}
`;

const project = {
  settings: { NODE_TIMEOUT: 4, HEARTBEAT_INTERVAL: 1 },
  files: { 'spiders/news.ts': spider('news'), 'spiders/news2.ts': spider('news2') },
};

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine, project);

  const run = (args: readonly string[], input = '') => runHere(args, { cwd: here.project.dir, input });
  const stats = async (name: string) => JSON.parse((await run(['stats', name, '--json'])).stdout);

  it('seed takes arguments, a file and stdin, and says what became of each', async () => {
    await here.project.write(
      'seeds.txt',
      '\ufeffhttp://a.example/1\r\n\r\n{"url":"http://a.example/2","priority":3}\nnot a url\n',
    );
    const { code, stdout, stderr } = await run(
      [
        'seed',
        'news',
        'http://a.example/1',
        '{"url":"http://a.example/9","frob":1}',
        '--file',
        'seeds.txt',
        '--stdin',
      ],
      'http://a.example/3\n123\n',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'news: 3 accepted, 1 duplicate, 3 bad\n' });
    expect(stderr).toContain('key "frob" is unknown');
    expect(stderr).toMatch(/seeds\.txt:4: bad seed: .*"not a url"/);
    expect(stderr).toContain('stdin:2: bad seed: it is JSON, but not an object');
    expect(await stats('news')).toMatchObject({ pending: 3, seen: 3, engine, job: null });
    expect(await stats('news2')).toMatchObject({ pending: 0, seen: 0 });
  });

  it('reset of the queue alone says that start pages are fetched again, and reset of both parts does not', async () => {
    await run(['seed', 'news', 'http://a.example/']);
    const again = 'the next crawl fetches the start pages again';
    expect((await run(['reset', 'news', '--only', 'queue', '--dry-run'])).stdout).toContain(again);
    expect((await run(['reset', 'news', '--dry-run'])).stdout).not.toContain(again);
    expect((await run(['reset', 'news', '--only', 'queue', '--yes'])).stdout).toContain(again);
  });

  it('doctor names requests that were deleted, without --deep', async () => {
    await run(['seed', 'news', ...[1, 2, 3].map((n) => `http://a.example/${n}`)]);
    expect(await run(['doctor', 'news'])).toMatchObject({ code: 0 });
    if (here.redis !== null) {
      const client = new Redis(here.redis.url);
      await client.zremrangebyrank('news:requests:~queue', 1, 1);
      await client.quit();
    } else {
      const connection = connect(fileIn(here.place()));
      connection.exec('DELETE FROM request WHERE n = 2');
      connection.close();
    }
    const { code, stdout } = await run(['doctor', 'news']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/I4: .*--repair/) });
    await run(['doctor', 'news', '--repair']);
    expect(await run(['doctor', 'news'])).toMatchObject({ code: 0 });
  });

  it('a seed of which every one is bad is exit 2; without seeds, or of no spider, as well', async () => {
    expect(await run(['seed', 'news', 'nonsense', '--json'])).toMatchObject({
      code: 2,
      stdout: '{"accepted":0,"duplicates":0,"bad":1}\n',
    });
    expect(await run(['seed', 'news', 'http://a.example/', '--column', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--column goes with --file or --stdin'),
    });
    expect(await run(['seed', 'news'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no seeds'),
    });
    expect(await run(['seed', 'nwes', 'http://a.example/'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean news'),
    });
    expect(await run(['seed', 'news', '--file', 'no.txt'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no.txt'),
    });
  });

  it('--to-start-urls appends as it is, for a node to judge', async () => {
    expect((await run(['seed', 'news', 'http://a.example/', 'junk', '--to-start-urls'])).code).toBe(0);
    expect(await stats('news')).toMatchObject({ startUrls: 2, pending: 0 });
  });

  it('stats has the agreed shape; without a spider, one of each', async () => {
    await run(['seed', 'news', 'http://a.example/', '--job', 'may']);
    const [first, second, ...more] = JSON.parse((await run(['stats', '--json', '--job', 'may'])).stdout);
    expect(more).toEqual([]);
    expect(Object.keys(first)).toEqual([
      ...[
        'spider',
        'job',
        'engine',
        'startUrls',
        'pending',
        'delayed',
        'leased',
        'done',
        'failed',
        'seen',
        'items',
      ],
      ...['bytes', 'nodes', 'counters', 'run'],
      ...['pagesPerSecond', 'accepted', 'removed', 'lost', 'suspects', 'badSeeds', 'domains', 'control'],
      ...['silentNodes', 'feeds', 'pipelines', 'format', 'shape', 'state', 'customStats'],
      ...[
        'limitedBy',
        'limitedByText',
        'leasable',
        'slots',
        'slotsUsed',
        'usableSlots',
        'eta',
        'wantedNodes',
      ],
      ...['storeMemory', 'deadNodes', 'worstDomains', 'beganAtMs', 'usedAtMs', 'memoryLimit'],
    ]);
    expect(Object.keys(first.bytes).slice(0, 2)).toEqual(['frontier', 'dupefilter']);
    expect([first.spider, first.job, first.pending, second.spider, second.pending]).toEqual([
      'news',
      'may',
      1,
      'news2',
      0,
    ]);
    expect((await run(['stats', 'news', '--job', 'may'])).stdout).toMatch(
      /^news@may {2}\(.*waits for its first node\n(.*\n)* +pending +1 +ready for a node\n/,
    );
  });

  it('an empty job is refused by every command, and is not the crawl without a job', async () => {
    await run(['seed', 'news', 'http://a.example/']);
    for (const command of [
      ...['crawl news --dry-run', 'seed news http://a.example/2', 'reset news --all --yes', 'pause news'],
      ...[
        'failed news purge --yes',
        'items news list',
        'stats',
        'stats news',
        'inspect news http://a.example/',
      ],
      ...['forget news http://a.example/', 'doctor news', 'parse http://a.example/ --spider news'],
    ]) {
      for (const empty of [
        ['--job', ''],
        ['-s', 'JOB='],
      ]) {
        const { code, stderr } = await run([...command.split(' '), ...empty]);
        const told = expect.stringContaining('the crawl without a job: leave it out');
        expect({ command, empty, code, stderr }).toEqual({ command, empty, code: 2, stderr: told });
      }
    }
    expect(await stats('news')).toMatchObject({ pending: 1, job: null });
  });

  it('stats of a job that the store does not have says so', async () => {
    await run(['seed', 'news', 'http://a.example/', '--job', 'may']);
    for (const json of [[], ['--json']]) {
      const typo = await run(['stats', 'news', '--job', 'mai', ...json]);
      expect(typo).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('there is no crawl news@mai in the store'),
      });
      const known = await run(['stats', 'news', '--job', 'may', ...json]);
      expect(known.stderr).not.toContain('there is no crawl');
      const told = 'there is no crawl of the job mai in the store';
      expect((await run(['stats', '--job', 'mai', ...json])).stderr).toContain(told);
      const inspected = await run(['inspect', 'news@mai', 'http://a.example/', ...json]);
      expect(inspected.stderr).toContain('there is no crawl news@mai in the store');
      const named = await run(['inspect', 'news@may', 'http://b.example/', ...json]);
      expect(named.stderr).not.toContain('there is no crawl');
    }
  });

  it('stats without a spider finds all crawls of the store, with their jobs, also of spiders not here', async () => {
    await run(['seed', 'news', 'http://a.example/']);
    await run(['seed', 'news', 'http://a.example/', '--job', 'may']);
    await here.look((frontier) => frontier.push([request('x')], 'seeds'), 'far.away');
    const all = JSON.parse((await run(['stats', '--json'])).stdout);
    expect(all.map(({ spider, job, pending }: CrawlStats) => [spider, job, pending])).toEqual([
      ['far.away', null, 1],
      ['news', null, 1],
      ['news', 'may', 1],
      ['news2', null, 0],
    ]);
    const { stdout } = await run(['stats']);
    expect(stdout).toMatch(
      /^CRAWL +START_URLS +PENDING .*STATE\nfar\.away +0 +1 .*\nnews .*\nnews@may .*\nnews2 .*not begun\n$/,
    );
  });

  it('stats --watch writes a line a second into a pipe, or a line of JSON, until it is interrupted', async () => {
    await run(['seed', 'news', 'http://a.example/']);
    const lines = startCli(['stats', 'news', '--watch'], { cwd: here.project.dir });
    await lines.waitForOutput(/(.*Z {2}news {2}start_urls 0 · pending 1 .* · waits for its first node\n){2}/);
    lines.kill('SIGINT');
    expect(await lines.wait()).toMatchObject({ code: 0, stderr: expect.stringContaining('no terminal') });
    const json = startCli(['stats', 'news', '--watch', '--json'], { cwd: here.project.dir });
    await json.waitForOutput(/\n.*\n/);
    json.kill('SIGTERM');
    const { stdout, code } = await json.wait();
    expect(code).toBe(0);
    for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ pending: 1 });
  });

  it('reset says what it deletes, asks off a terminal for --yes, and spares items and other spiders', async () => {
    for (const name of ['news', 'news2']) await run(['seed', name, 'http://a.example/']);
    expect((await run(['reset', 'news', '--dry-run'])).stdout).toMatch(
      /would delete\n(.*\n)* +dupefilter +1\n/,
    );
    expect(await run(['reset', 'news'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await stats('news')).toMatchObject({ pending: 1, seen: 1 });
    const { code, stdout } = await run(['reset', 'news', '--yes', '--json']);
    expect({ code, ...JSON.parse(stdout) }).toEqual({
      ...{ code: 0, spider: 'news', job: null, dryRun: false },
      parts: { queue: 1, dupefilter: 1, start_urls: 0, failed: 0, stats: expect.any(Number) },
    });
    expect(await stats('news')).toMatchObject({ pending: 0, seen: 0 });
    expect(await stats('news2')).toMatchObject({ pending: 1, seen: 1 });
    expect(await run(['reset', 'news', '--only', 'queu', '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean queue?'),
    });
  });

  it('stats and reset go on without the module of the spider, and say so', async () => {
    await run(['seed', 'news', 'http://a.example/']);
    await here.project.write('spiders/news.ts', 'export {};\n');
    const shown = await runCli(['stats', 'news', '--json'], { cwd: here.project.dir });
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('without customSettings') });
    expect(JSON.parse(shown.stdout).pending).toBe(1);
    expect((await runCli(['reset', 'news', '--all', '--yes'], { cwd: here.project.dir })).code).toBe(0);
  });

  it('while a node lives, reset is refused, pause makes it wait, and stop makes it leave', async () => {
    const site = await startSite({ pages: 3 });
    const crawl = startCli(['crawl', 'news', '--node-id', 'one'], { cwd: here.project.dir });
    await crawl.waitForOutput('crawling news');
    await run(['seed', 'news@other', 'http://a.example/']);
    expect(await run(['reset', 'news', '--job', 'other', '--yes'])).toMatchObject({
      ...{
        code: 0,
        stdout: expect.stringMatching(/^news@other: to be deleted\n(.*\n)*news@other: deleted\n$/),
      },
    });
    expect(await run(['reset', 'news', '--yes'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('(one)'),
    });
    if (here.redis !== null) {
      // On the embedded engine it may hold the lock of the folder as it is stopped.
      crawl.kill('SIGSTOP');
      const reset = ['reset', 'news', '--yes', '-s', 'HEARTBEAT_INTERVAL=1'];
      await waitFor(async () =>
        /\(one, no heartbeat for \d+ s\).*NODE_TIMEOUT/.test((await run(reset)).stderr),
      );
      crawl.kill('SIGCONT');
    }
    expect((await run(['pause', 'news'])).stdout).toBe('news: paused (1 node)\n');
    await crawl.waitForOutput('the crawl is paused; \\"crawlnode resume news\\" continues it');
    await run(['seed', 'news', site.url]);
    expect(await stats('news')).toMatchObject({ pending: 1, nodes: [{ id: 'one', pid: crawl.pid }] });
    expect((await run(['resume', 'news'])).code).toBe(0);
    expect((await run(['stop', 'news'])).stdout).toBe(
      'news: stopping after the pages in progress (1 node)\n',
    );
    expect(await crawl.wait()).toMatchObject({ code: 0, stdout: expect.stringContaining('news: stopped, ') });
    expect((await run(['stop', 'news'])).stdout).toContain('nothing to stop');
    await site.close();
  });

  it('a crawl that has not begun cannot be paused, and need not be resumed; once it is seeded it can', async () => {
    expect(await run(['pause', 'news'])).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('news has not begun, so there is nothing to pause'),
    });
    const resumed = { code: 0, stdout: 'news: nothing to resume, the crawl has not begun\n' };
    expect(await run(['resume', 'news'])).toMatchObject(resumed);
    await run(['seed', 'news', 'http://a.example/']);
    expect(await run(['pause', 'news'])).toMatchObject({
      code: 0,
      stdout: 'news: paused (no node is running)\n',
    });
  });
});

describe('on the redis engine alone', () => {
  const here = projectOn('redis', project);
  const run = (args: readonly string[]) => runHere(args, { cwd: here.project.dir });

  it('--all leaves no key of the spider, and every other key as it was', async () => {
    const client = new Redis(here.redis!.url);
    await client.mset({ 'news:mine': '1', news: '2', 'new:start_urls': '3' });
    await run(['seed', 'news', 'http://a.example/']);
    await run(['seed', 'news', 'http://a.example/', '--job', 'j']);
    await run(['seed', 'news2', 'http://a.example/']);
    const others = async () => {
      const keys = (await client.keys('*')).filter(
        (key) => !/^news:(requests|dupefilter|start_urls|items|stats)(:|$)/.test(key),
      );
      return Promise.all(keys.sort().map(async (key) => [key, await client.dumpBuffer(key)]));
    };
    const before = await others();
    expect((await run(['reset', 'news', '--all', '--yes'])).code).toBe(0);
    expect(await client.keys('news:[rdsi]*')).toEqual(
      (await client.keys('news:[rdsi]*')).filter((key) => key.includes('@j')),
    );
    expect(await others()).toEqual(before);
    client.disconnect();
  });

  it('a key shared with other spiders stays without --force', async () => {
    const client = new Redis(here.redis!.url);
    await client.rpush('shared', 'http://a.example/');
    const shared = ['-s', 'REDIS_START_URLS_KEY=shared,%(name)s:start_urls'];
    await client.rpush('news:start_urls', 'http://a.example/');
    const { code, stderr } = await run(['reset', 'news', '--yes', ...shared]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('shared is shared with other spiders'),
    });
    expect([await client.llen('shared'), await client.exists('news:start_urls')]).toEqual([1, 0]);
    expect((await run(['reset', 'news', '--yes', '--force', ...shared])).code).toBe(0);
    expect(await client.exists('shared')).toBe(0);
    client.disconnect();
  });

  it('a password that Redis does not ask for is told once, as a line of the log', async () => {
    const { port } = new URL(here.redis!.url);
    const env = { REDIS_URL: `redis://:needless@127.0.0.1:${port}`, START_TIMEOUT: '1' };
    expect(await runHere(['stats', 'news'], { cwd: here.project.dir, env })).toMatchObject({ stderr: '' });
    const { code, stderr } = await runHere(['crawl', 'news', '--exit-when-done'], {
      cwd: here.project.dir,
      env,
    });
    const log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string });
    const told = log.filter(({ msg }) => msg.includes('asks for no password'));
    expect({ code, told }).toMatchObject({ code: 0, told: [{ level: 'warn' }] });
    expect(stderr).not.toContain('needless');
  });

  it('a node whose Redis goes away says so as the network does, and that it could not deregister', async () => {
    const redis = await startRedis();
    const env = { REDIS_URL: redis.url, SHUTDOWN_TIMEOUT: '1' };
    const node = startCli(['crawl', 'news'], { cwd: here.project.dir, env });
    await node.waitForOutput('crawling news');
    await redis.stop();
    await node.waitForOutput(`Redis does not answer: connect ECONNREFUSED 127.0.0.1:${redis.port}`);
    node.kill();
    expect(await node.wait()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('could not deregister'),
    });
  });

  it('Redis that is away or refuses is exit 4, without the password in what is said', async () => {
    const away = await runHere(['stats', 'news'], {
      cwd: here.project.dir,
      env: { REDIS_URL: 'redis://:top-secret@127.0.0.1:1', REDIS_CONNECT_TIMEOUT: '1' },
    });
    expect(away).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('127.0.0.1:1 cannot be reached'),
    });
    expect(away.stderr).not.toContain('top-secret');
    const guarded = await startRedis({ password: 'right-one' });
    const wrong = await runHere(['crawl', 'news'], {
      cwd: here.project.dir,
      env: { REDIS_URL: `redis://:wrong-one@127.0.0.1:${guarded.port}` },
    });
    expect(wrong).toMatchObject({ code: 4, stderr: expect.stringContaining('REDIS_PASSWORD') });
    expect(wrong.stderr).not.toContain('wrong-one');
    expect(
      (await runHere(['stats', 'news'], { cwd: here.project.dir, env: { REDIS_URL: guarded.url } })).code,
    ).toBe(0);
    await guarded.stop();
  });
});
