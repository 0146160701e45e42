/** What goes wrong under a crawl of real processes: nothing is lost, nothing comes twice, and every crawl ends. */
import { spawnSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import type http from 'node:http';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import type { Frontier, Snapshot } from '../../src/frontier/frontier.js';
import { executable, type RunningCli, startCli } from '../helpers/cli.js';
import { describeBeside, onEachEngine, projectOn } from '../helpers/engine-project.js';
import { expectSound } from '../helpers/expect-sound.js';
import { createProject } from '../helpers/project.js';
import { startRedis } from '../helpers/redis/redis-server.js';
import { type Site, type SiteOptions, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

/** Follows every link and yields every page; arguments name pages that are fatal. */
const walk = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = [this.args.start];
  *parse(response: Response) {
    const { pathname } = new URL(response.url);
    if (pathname === this.args.abort) process.abort();
    if (pathname === this.args.loop) while (true);
    if (pathname === this.args.forget) void Promise.reject(new Error('the database is away'));
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

onEachEngine('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { ROBOTSTXT_OBEY: false, NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1, RETRY_BACKOFF: 0.1 },
    files: { 'spiders/walk.ts': walk },
  });
  let site: Site;
  afterEach(async () => {
    await expectSound('walk', { cwd: here.project.dir });
    await site.close();
  });

  /** A node that ends when the crawl does. */
  const node = (...args: string[]): RunningCli =>
    startCli(['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done', ...args], {
      cwd: here.project.dir,
    });

  /** Ask the frontier; it must be sound. */
  const look = <T>(question: (frontier: Frontier) => Promise<T>): Promise<T> =>
    here.look(async (frontier) => {
      expect(await frontier.verify()).toEqual([]);
      return question(frontier);
    }, 'walk');
  const snapshot = (): Promise<Snapshot> => look((frontier) => frontier.snapshot());
  const failures = () =>
    look(async (frontier) =>
      (await frontier.failed.list(null, 100)).requests.map(({ reason, crashes }) => ({ reason, crashes })),
    );

  /** URLs of the items in the files, sorted. */
  const written = async (...files: string[]) => {
    const items = await Promise.all(files.map((file) => here.project.readJsonLines<{ url: string }>(file)));
    return items
      .flat()
      .map(({ url }) => url)
      .sort();
  };

  // The contract suite has the decisions of both engines; the processes need one.
  if (engine === 'redis') {
    it('nodes that are killed, stopped and started again: every page is in the files, once', async () => {
      site = await startSite({ pages: 200, delayMs: 30 });
      const files = ['one.jsonl', 'two.jsonl', 'three.jsonl'];
      const nodes = files.map((file) => node('-o', file));
      await waitFor(() => site.log.length > 20, { what: 'some pages' });
      nodes[0]!.kill('SIGKILL');
      nodes[1]!.kill('SIGSTOP');
      await nodes[0]!.wait();
      nodes[0] = node('-o', files[0]!);
      const others = async () => (await snapshot()).nodes.every(({ pid }) => pid !== nodes[1]!.pid);
      await waitFor(others, { what: 'the stopped node to be declared dead' });
      nodes[1]!.kill('SIGCONT');
      for (const one of nodes) expect(await one.wait()).toMatchObject({ code: 0 });
      expect(await written(...files)).toEqual([...site.urls].sort());
      expect(await failures()).toEqual([]);
      expect(await snapshot()).toMatchObject({ done: 200, items: 0, leased: 0, pending: 0, nodes: [] });
    });

    it('a slow page that yields links at last: no node leaves before', async () => {
      const late = Array.from({ length: 20 }, (_, n) => `/late${n}`);
      let release = () => {};
      const handler = answering({ '/': ['/slow', '/a', '/b'], '/slow': late, '*': [] });
      site = await startSite({
        handler: (request, response) => {
          if (request.url === '/slow') release = () => handler(request, response);
          return request.url === '/slow' || handler(request, response);
        },
      });
      const nodes = [node(), node()];
      let ended = 0;
      for (const one of nodes) void one.wait().then(() => (ended += 1));
      await waitFor(async () => {
        const { done, nodes: live } = await snapshot();
        return done === 3 && live.length === 2;
      });
      expect(ended).toBe(0);
      release();
      for (const one of nodes)
        expect(await one.wait()).toMatchObject({
          code: 0,
          stdout: expect.stringContaining('walk: finished'),
        });
      expect(await snapshot()).toMatchObject({ done: 24, leased: 0, pending: 0 });
    });

    it('a page that ends its process takes no innocent page along', async () => {
      const links = Array.from({ length: 30 }, (_, n) => `/p${n}`);
      site = await startSite({ handler: answering({ '/': [...links, '/bad'], '*': [] }) });
      const parent = node('--workers', '2', '-a', 'abort=/bad', '-O', 'items.jsonl');
      const { code, stderr } = await parent.wait();
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/(died \(SIGABRT\) and is replaced[\s\S]*){3}/),
      });
      expect(await failures()).toEqual([{ reason: 'crashed', crashes: 3 }]);
      expect(await written('items.jsonl')).toEqual(['/', ...links].map((link) => site.origin + link).sort());
    });
    return;
  }

  // A busy machine may hold up several requests: then the times are looked at once more.
  it('a budget and a clock are shared by all nodes', { retry: 3 }, async () => {
    site = await startSite({ pages: 60 });
    const args = ['--max-pages', '12', '-s', 'DOWNLOAD_DELAY=0.2'];
    for (const one of [node(...args), node(...args), node(...args)]) {
      expect(await one.wait()).toMatchObject({ code: 0 });
    }
    expect(site.log).toHaveLength(12);
    const times = site.log.map(({ atMs }) => atMs).sort((a, b) => a - b);
    const gaps = times.slice(1).map((at, n) => at - times[n]!);
    // A request that a busy machine holds up stands nearer to the next one.
    expect(gaps.filter((gapMs) => gapMs < 150).length).toBeLessThanOrEqual(1);
    expect(times.at(-1)! - times[0]!).toBeGreaterThanOrEqual(gaps.length * 200 - 150);
    expect(await snapshot()).toMatchObject({ done: 12, leased: 0 });
  });
});

describeBeside('a node', () => {
  it('whose callback never returns ends, and says why; its page waits for another', async () => {
    const project = await createProject({
      settings: { ROBOTSTXT_OBEY: false, NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1, MAIN_LOOP_TIMEOUT: 1 },
      files: { 'spiders/walk.ts': walk },
    });
    const site = await startSite({ pages: 1 });
    const node = startCli(['crawl', 'walk', '-a', `start=${site.url}`, '-a', 'loop=/'], { cwd: project.dir });
    const { signal, stderr } = await node.wait();
    expect({ signal, stderr }).toEqual({
      signal: 'SIGKILL',
      stderr: expect.stringMatching(/has blocked the main loop/),
    });
    // A run with other arguments is refused until the killed node counts as dead.
    const args = ['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done'];
    const stdout = await waitFor(
      async () => {
        const next = await startCli(args, { cwd: project.dir }).wait();
        return next.code === 0 && next.stdout;
      },
      { what: 'the next run' },
    );
    expect(stdout).toContain('1 page,');
    await expectSound('walk', { cwd: project.dir });
    await site.close();
    await project.remove();
  });

  const namespace = ['--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const canBeFirst = spawnSync('unshare', [...namespace, 'true']).status === 0;
  /** Runs crawlnode as process 1 of a PID namespace, and sends it a SIGTERM for a SIGUSR2. */
  const asFirst = `
    import { spawn } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    const args = [...${JSON.stringify([...namespace, process.execPath, executable])}, ...process.argv.slice(2)];
    const child = spawn('unshare', args, { stdio: 'inherit' });
    const first = () => Number(readFileSync(\`/proc/\${child.pid}/task/\${child.pid}/children\`, 'utf8'));
    process.on('SIGUSR2', () => process.kill(first(), 'SIGTERM'));
    child.on('close', (code) => process.exit(code ?? 137));
  `;

  it.runIf(canBeFirst)(
    'ends so as process 1 of a container too, which no signal from within can kill',
    async () => {
      const redis = await startRedis();
      const project = await createProject({
        settings: {
          ...{ REDIS_URL: redis.url, ROBOTSTXT_OBEY: false },
          ...{ NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1, MAIN_LOOP_TIMEOUT: 1 },
        },
        files: { 'spiders/walk.ts': walk, 'first.mjs': asFirst },
      });
      const site = await startSite({ pages: 1 });
      const args = [
        'crawl',
        'walk',
        '-a',
        `start=${site.url}`,
        '-a',
        'loop=/',
        '--json',
        '--node-id',
        'first',
      ];
      const node = startCli(args, { cwd: project.dir, executable: project.path('first.mjs') });
      const { code, stderr } = await node.wait(40_000);
      expect(code).toBe(1);
      const said = stderr.split('\n').find((line) => line.includes('"fatal"'));
      expect(JSON.parse(said!)).toMatchObject({ node: 'first', msg: expect.stringContaining('main loop') });
      await site.close();
      await project.remove();
      await redis.stop();
    },
  );

  it.runIf(canBeFirst)(
    'is ended by a signal as process 1 before it listens to any, and drains later',
    async () => {
      const slow = `${walk}\nif (process.env.JOB === 'slow') { console.log('loading'); await new Promise((end) => setTimeout(end, 60_000)); }`;
      const redis = await startRedis();
      const project = await createProject({
        settings: { REDIS_URL: redis.url, ROBOTSTXT_OBEY: false },
        files: { 'spiders/walk.ts': slow, 'first.mjs': asFirst },
      });
      const site = await startSite({ pages: 1 });
      for (const [JOB, sign, code] of [
        ['slow', 'loading', 143],
        ['fast', 'nothing is left to crawl', 0],
      ] as const) {
        const options = { cwd: project.dir, executable: project.path('first.mjs'), env: { JOB } };
        const node = startCli(['crawl', 'walk', '-a', `start=${site.url}`], options);
        await node.waitForOutput(sign);
        node.kill('SIGUSR2');
        expect(await node.wait(40_000)).toMatchObject({ code });
      }
      await site.close();
      await project.remove();
      await redis.stop();
    },
  );

  it('outlives a promise that a callback forgot to await, and logs it', async () => {
    const project = await createProject({
      settings: { ROBOTSTXT_OBEY: false },
      files: { 'spiders/walk.ts': walk },
    });
    const site = await startSite({ pages: 20 });
    const args = [
      'crawl',
      'walk',
      '-a',
      `start=${site.url}`,
      '-a',
      'forget=/page/3.html',
      '--exit-when-done',
    ];
    const { code, stderr } = await startCli(args, { cwd: project.dir }).wait();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('the database is away') });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    await expectSound('walk', { cwd: project.dir });
    await site.close();
    await project.remove();
  });

  it('on a Redis that was restored from an older copy takes its file back as far, and crawls all of it', async () => {
    const redis = await startRedis({ persist: true });
    const settings = { REDIS_URL: redis.url, ROBOTSTXT_OBEY: false };
    const project = await createProject({ settings, files: { 'spiders/walk.ts': walk } });
    const site = await startSite({ pages: 200, delayMs: 20 });
    const args = ['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl'];
    const node = startCli(args, { cwd: project.dir });
    const lines = async () => (await project.readJsonLines('items.jsonl')).length;
    await waitFor(async () => (await lines()) > 20, { what: 'some items' });
    const data = path.join(redis.dir, 'appendonlydir');
    await cp(data, project.path('copy'), { recursive: true });
    const copied = await lines();
    await waitFor(async () => (await lines()) > copied + 20, { what: 'more items' });
    await redis.kill();
    await rm(data, { recursive: true });
    await cp(project.path('copy'), data, { recursive: true });
    await redis.restart();
    const { code, stderr } = await node.wait();
    expect(code, stderr).toBe(0);
    const urls = (await project.readJsonLines<{ url: string }>('items.jsonl')).map(({ url }) => url);
    expect(urls.sort()).toEqual([...site.urls].sort());
    await expectSound('walk', { cwd: project.dir });
    await site.close();
    await project.remove();
    await redis.stop();
  });

  it('lives through a Redis that is away with pages under way, and says why it waits', async () => {
    const redis = await startRedis({ persist: true });
    const settings = { REDIS_URL: redis.url, ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 32 };
    const project = await createProject({
      settings: { ...settings, CONCURRENT_REQUESTS_PER_DOMAIN: 32 },
      files: { 'spiders/walk.ts': walk },
    });
    const names = Array.from({ length: 20 }, (_, n) => `/page/${n + 1}.html`);
    const answer = answering({ '/': names, '*': [] });
    const held: (() => void)[] = [];
    const site = await startSite({
      pages: 21,
      handler: (request, response) => {
        if (request.url === '/') return answer(request, response);
        held.push(() => void answer(request, response));
        return true;
      },
    });
    const node = startCli(['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done'], {
      cwd: project.dir,
    });
    await waitFor(() => held.length === names.length, { what: 'all pages to be under way' });
    await redis.kill();
    for (const release of held) release();
    await node.waitForOutput('waiting for it');
    await waitFor(() => site.log.length === names.length + 1, { what: 'pages that end without a store' });
    await redis.restart();
    const { code, stderr } = await node.wait();
    expect(code, stderr).toBe(0);
    const log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; error?: string });
    const away = log.filter(({ msg }) => msg.includes('waiting for it'));
    expect(away[0]?.error).toMatch(
      /^Redis does not answer: .*(ECONNREFUSED 127\.0\.0\.1:\d+|the connection was lost)$/,
    );
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    await expectSound('walk', { cwd: project.dir });
    await site.close();
    await project.remove();
    await redis.stop();
  });

  it('stops with a clear message when somebody flushes its Redis', async () => {
    const redis = await startRedis();
    const settings = { REDIS_URL: redis.url, ROBOTSTXT_OBEY: false };
    const project = await createProject({ settings, files: { 'spiders/walk.ts': walk } });
    const site = await startSite({ pages: 5 });
    const node = startCli(['crawl', 'walk', '-a', `start=${site.url}`], { cwd: project.dir });
    await waitFor(() => site.log.length === 5, { what: 'all pages' });
    const db = new Redis(redis.url);
    await db.flushall();
    const { code, stdout, stderr } = await node.wait();
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/vanished|flushed/) });
    const last = JSON.parse(stderr.trim().split('\n').at(-1)!);
    expect(last).toMatchObject({ level: 'fatal', code: 'frontier_gone', exitCode: 1, spider: 'walk' });
    expect(await db.keys('*')).toEqual([]);
    db.disconnect();
    await expectSound('walk', { cwd: project.dir });
    await site.close();
    await project.remove();
    await redis.stop();
  });
});

/** A site's handler that answers each path with its links; `*` stands for all others. */
function answering(pages: Readonly<Record<string, readonly string[]>>): NonNullable<SiteOptions['handler']> {
  return ({ url = '' }: http.IncomingMessage, response: http.ServerResponse) => {
    const links = pages[url] ?? pages['*'];
    if (links === undefined) return false;
    const body = links.map((link) => `<a href="${link}">link</a>`).join('');
    response.writeHead(200, { 'content-type': 'text/html' }).end(body);
    return true;
  };
}
