/** inspect and forget on both engines. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { fingerprint } from '../../../src/http/message/fingerprint.js';
import { toFrontierRequest } from '../../../src/http/message/record/request-codec.js';
import { Request } from '../../../src/http/message/request.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli, startCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { openOptions } from '../../helpers/open-options.js';
import { type Site, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  parse() {}
  search() {}
}
`;
const own = `
import { createHash } from 'node:crypto';
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'own';
  parse() {}
  fingerprint(request) { return createHash('sha1').update(new URL(request.url).pathname).digest('hex'); }
}
`;

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { RETRY_TIMES: 1, RETRY_BACKOFF: 600, RETRY_BACKOFF_MAX: 600, START_TIMEOUT: 1 },
    files: { 'spiders/news.ts': spider, 'spiders/own.js': own },
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: 1, handler: ({ url }) => url?.startsWith('/hang') === true });
  });
  afterEach(() => site.close());

  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const inspect = async (url: string, ...args: string[]) => {
    const { code, stdout } = await run('inspect', 'news', url, '--json', ...args);
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };

  it('a seed of the start_urls key at a private address is a bad seed, and can come as a trusted one', async () => {
    await run('seed', 'news', site.url, '--to-start-urls');
    await run('crawl', 'news', '--exit-when-done', '-s', 'SCHEDULER_PERSIST=true');
    expect((await run('seed', 'news', '--list-bad')).stdout).toContain(site.url);
    expect(await inspect(site.url)).toMatchObject({ state: 'unknown' });
    expect((await run('seed', 'news', site.url)).stdout).toContain('1 accepted');
    expect((await run('crawl', 'news', '--exit-when-done', '-s', 'SCHEDULER_PERSIST=true')).code).toBe(0);
    expect(await inspect(site.url)).toMatchObject({ state: 'seen' });
  });

  it('a request that may not connect to its private address can be brought back as a trusted seed, as inspect says', async () => {
    // As the name of a seed that leads to a private address: it is accepted, and fails when it is downloaded.
    const frontier = await openFrontier(openOptions(here.place(), 'news'));
    const context = {
      ...{
        callback: 'search',
        errback: null,
        parentId: null,
        ordinal: 0,
        depth: 0,
        origin: null,
        job: null,
      },
      ...{ isTrustedSeed: false, fingerprint, domainKey: 'host' as const, nowMs: Date.now() },
    };
    await frontier.push([toFrontierRequest(new Request(site.url), context)], 'links');
    await frontier.close();
    expect((await run('crawl', 'news', '--exit-when-done', '-s', 'SCHEDULER_PERSIST=true')).code).toBe(1);
    expect((await run('inspect', 'news', site.url)).stdout).toContain(
      `a retry fails again: it may not connect to its private address. As a trusted seed it may: crawlnode seed news '{"url":"${site.url}","callback":"search"}'`,
    );
    expect((await run('failed', 'news', 'retry')).code).toBe(0);
    expect((await run('crawl', 'news', '--exit-when-done', '-s', 'SCHEDULER_PERSIST=true')).code).toBe(1);
    expect((await run('seed', 'news', site.url)).stdout).toContain('1 accepted');
    expect((await run('crawl', 'news', '--exit-when-done', '-s', 'SCHEDULER_PERSIST=true')).code).toBe(0);
    expect(await inspect(site.url)).toMatchObject({ state: 'seen' });
  });

  it('inspect says what a request is, where it stands, and what is not known of one never seen', async () => {
    const url = 'http://a.example/?b=2&a=1';
    expect(await inspect(url)).toMatchObject({
      state: 'unknown',
      seen: false,
      attempts: null,
      callback: null,
    });
    expect((await run('inspect', 'news', url)).stdout).toMatch(/\nstate +unknown: was never accepted/);
    await run('seed', 'news', JSON.stringify({ url, callback: 'search', priority: 3, meta: { page: 1 } }));
    const pending = await inspect('http://a.example/?a=1&b=2');
    expect(pending).toMatchObject({
      ...{ url, state: 'pending', seen: true, attempts: 0, crashes: 0, owner: null, dueAt: null },
      ...{ method: 'GET', priority: 3, depth: 0, callback: 'search', meta: { page: 1 } },
    });
    expect(await inspect(pending.fingerprint)).toEqual(pending);
  });

  it('method and body are part of what is asked for', async () => {
    const post = { url: 'http://a.example/', method: 'POST', body: 'q=1' };
    await run('seed', 'news', JSON.stringify(post));
    expect(await inspect('http://a.example/')).toMatchObject({ state: 'unknown' });
    expect(await inspect('http://a.example/', '-X', 'post', '-d', 'q=1')).toMatchObject({ state: 'pending' });
    expect(await inspect(JSON.stringify(post))).toMatchObject({ state: 'pending', method: 'POST' });
    expect(await run('inspect', 'news', 'nonsense')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('inspect', 'news', JSON.stringify(post), '-X', 'PUT')).toMatchObject({ code: 2 });
  });

  it("goes by the spider's own fingerprint, and says so where its module is not here", async () => {
    await run('seed', 'own', 'http://a.example/x');
    const { stdout } = await run('inspect', 'own', 'http://b.example/x', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ state: 'pending', url: 'http://a.example/x' });
    await here.project.write('spiders/own.js', 'export {};\n');
    const args = ['inspect', 'own', 'http://b.example/x', '--json'];
    expect(await runCli(args, { cwd: here.project.dir })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"unknown"'),
      stderr: expect.stringContaining('without customSettings'),
    });
  });

  it('names the node of a request in progress, and the time of one that is delayed', async () => {
    const [slow, gone] = [`${site.origin}/hang`, 'http://127.0.0.1:1/'];
    await run('seed', 'news', slow, gone);
    const node = startCli(['crawl', 'news', '--node-id', 'one', '-L', 'debug'], { cwd: here.project.dir });
    await node.waitForOutput('crawling news');
    await waitFor(async () => (await inspect(slow)).state === 'leased');
    await waitFor(async () => (await inspect(gone)).state === 'delayed');
    expect((await inspect(slow)).owner).toMatch(engine === 'redis' ? /^one:/ : /./);
    const { attempts, dueAt } = await inspect(gone);
    expect(attempts).toBe(1);
    expect(Date.parse(dueAt)).toBeGreaterThan(Date.now());
    node.killGroup('SIGKILL');
    await node.wait();
  });

  it('forget says which were there, and that a live request is not doubled', async () => {
    const [a, b] = ['http://a.example/1', 'http://a.example/2'];
    await run('seed', 'news', a, b);
    await here.project.write('urls.txt', `${b}\nnonsense\nhttp://a.example/3\n`);
    const { code, stdout, stderr } = await run('forget', 'news', a, '--file', 'urls.txt');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: [
        `forgotten (pending)\t${a}`,
        `forgotten (pending)\t${b}`,
        'not in the dupefilter\thttp://a.example/3',
        'news: 2 forgotten, 1 not in the dupefilter, 1 bad\n',
      ].join('\n'),
    });
    expect(stderr).toContain('urls.txt:2: ');
    expect(stderr).toContain('2 of them are pending, delayed, leased or failed: they are not fetched twice');
    expect(await inspect(a)).toMatchObject({ state: 'pending', seen: false });
    const again = await run('forget', 'news', a, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ url: a, forgotten: false, state: 'pending' });
    expect(await run('forget', 'news')).toMatchObject({ code: 2 });
    expect((await run('forget', 'news', 'nonsense')).code).toBe(2);
  });
});
