/**
 * What the fault cases share: a site that keeps an access log, a project, nodes as real processes of the
 * executable, a Redis of one's own, and the look at what a crawl has left behind.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openFrontier } from '../../../dist/internal.js';
import { openOptions } from '../open-options.mjs';
import { startRedis as startServer } from '../redis.mjs';

const bin = fileURLToPath(new URL('../../../bin/crawlnode.js', import.meta.url));
/** What was started and is still to be ended: of each `onOwnStage`, and of everything outside one. */
const stages = new AsyncLocalStorage();
const outermost = [];

/** Follow every link, or those that begin and end so, and yield every page; an argument may add a fault by a path. */
const walk = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = this.args.start ? this.args.start.split(' ') : [];
  *parse(response: Response) {
    const path = new URL(response.url).pathname;
    if (path === this.args.exit) process.exit(0);
    if (path === this.args.abort) process.abort();
    if (path === this.args.loop) while (true);
    if (path === this.args.fill) for (const heap = []; ; ) heap.push(new Array(1e6).fill(path));
    if (path === this.args.block) {
      const until = Date.now() + Number(this.args.blockMs);
      while (Date.now() < until);
    }
    yield { url: response.url };
    const { within = '', ending = '' } = this.args;
    const links = response.links().filter((url) => url.startsWith(within) && url.endsWith(ending));
    yield* response.followAll(links, this.parse);
  }
}
`;

/** Have something done at the end of the stage. */
export function atCleanUp(clean) {
  cleanupsOfStage().push(clean);
}

/** End everything that was started on the stage, newest first. */
export async function cleanUp() {
  for (const clean of cleanupsOfStage().splice(0).reverse()) await clean().catch(() => {});
}

/** Run a case that ends what it started when it is over, and nothing of the cases beside it. */
export async function onOwnStage(run) {
  return stages.run([], async () => {
    try {
      return await run();
    } finally {
      await cleanUp();
    }
  });
}

function cleanupsOfStage() {
  return stages.getStore() ?? outermost;
}

/**
 * A site whose page n links to 2n+1, 2n+2 and a few more. `answer(path, response)` may take a request over.
 * The log holds { path, atMs, host } of each request when it arrived, and `done` once it was answered in full.
 */
export async function startSite({
  pages = 100,
  delayMs = () => 0,
  answer = () => false,
  host = '127.0.0.1',
} = {}) {
  const log = [];
  const server = http.createServer(async (request, response) => {
    const path = request.url;
    const entry = { path, atMs: performance.now(), done: false, status: 0, endMs: 0 };
    log.push(entry);
    response.on('close', () => {
      entry.done = response.writableFinished;
      entry.status = response.statusCode;
      entry.endMs = performance.now();
    });
    if (answer(path, response, request)) return;
    const wait = delayMs(path);
    if (wait > 0) await sleep(wait);
    const page = path === '/' ? 0 : Number(/^\/p(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(page < pages)) return void response.writeHead(404).end();
    const links = [2 * page + 1, 2 * page + 2, (page * 7 + 3) % pages, (page * 13 + 5) % pages];
    html(
      response,
      links.filter((n) => n > 0 && n < pages).map((n) => `/p${n}`),
    );
  });
  server.listen(0, host);
  await once(server, 'listening');
  const origin = `http://${host}:${server.address().port}`;
  atCleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  const urls = Array.from({ length: pages }, (_, n) => (n === 0 ? `${origin}/` : `${origin}/p${n}`));
  return { origin, url: `${origin}/`, log, urls };
}

/** Answer with a page of links. */
export function html(response, links = []) {
  const body = links.map((link) => `<a href="${link}">link</a>`).join('');
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>page</title>${body}`);
}

/** A redis-server with an append-only file that is fsynced at every write. */
export async function startRedis() {
  const dir = await tempDir('redis');
  const redis = await startServer(dir, ['--appendonly', 'yes', '--appendfsync', 'always']);
  atCleanUp(async () => {
    redis.db.disconnect();
    redis.signal('SIGKILL');
  });
  return redis;
}

/** A TCP proxy before a port that now and then resets a connection instead of passing on a reply. */
export async function startCuttingProxy(target, chance) {
  let cuts = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (Math.random() >= chance) return void client.write(chunk);
      cuts += 1;
      client.resetAndDestroy();
      upstream.destroy();
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atCleanUp(async () => void server.close());
  return { url: `redis://127.0.0.1:${server.address().port}`, cuts: () => cuts };
}

/** A project on Redis, or with null on the embedded engine. */
export async function newProject(redis, settings = {}, spider = walk) {
  const dir = await tempDir('project');
  await mkdir(path.join(dir, 'spiders'));
  await writeFile(path.join(dir, 'spiders', 'walk.ts'), spider);
  const all = {
    ROBOTSTXT_OBEY: false,
    CONCURRENT_REQUESTS_PER_DOMAIN: 64,
    NODE_TIMEOUT: 3,
    HEARTBEAT_INTERVAL: 1,
    RETRY_BACKOFF: 0.2,
    ...(redis && { REDIS_URL: redis.url }),
    ...settings,
  };
  await writeFile(path.join(dir, 'crawlnode.yaml'), JSON.stringify(all));
  return { dir, redis, settings: all };
}

/** Start a node (or with --workers several) of the project's one spider. */
export function crawl(project, args, { wrap = [], executable = bin } = {}) {
  const { REDIS_URL: _, ...env } = process.env;
  const line = [...wrap, process.execPath, executable, 'crawl', 'walk', ...args];
  const child = spawn(line[0], line.slice(1), { cwd: project.dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const node = { pid: child.pid, child, said: '', out: '', startedAt: performance.now() };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    node.said += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text) => {
    node.out += text;
  });
  node.ended = once(child, 'close').then(([code, signal]) => {
    node.endedAt = performance.now();
    return { code, signal };
  });
  node.signal = (signal) => child.kill(signal);
  node.over = () => child.exitCode !== null || child.signalCode !== null;
  node.lines = () =>
    node.said
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        try {
          return JSON.parse(line);
        } catch {
          return { msg: line };
        }
      });
  atCleanUp(async () => {
    if (!node.over()) child.kill('SIGKILL');
  });
  return node;
}

/** Wait for an end; a node that does not come to one is killed and reported with what it said. */
export async function endOf(node, timeoutMs = 90_000) {
  const timer = setTimeout(() => node.signal('SIGKILL'), timeoutMs);
  const end = await node.ended;
  clearTimeout(timer);
  return end;
}

/** The frontier's own view: snapshot, failed list, breaches of the invariants. */
export async function look(project, name = 'walk') {
  const frontier = await clientOf(project, name);
  try {
    const { requests } = await frontier.failed.list(null, 1_000);
    return { ...(await frontier.snapshot()), failures: requests, breaches: await frontier.verify() };
  } finally {
    await frontier.close();
  }
}

/** A client of the crawl's frontier; close it. */
export function clientOf({ dir, redis, settings }, name = 'walk') {
  const shape = { persist: settings.SCHEDULER_PERSIST ?? true };
  return openFrontier(openOptions(redis?.url ?? path.join(dir, '.crawlnode'), name, shape));
}

/** URLs in all .jsonl files of the project; a broken line is an error. */
export async function written(project) {
  const names = (await readdir(project.dir)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(project.dir, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line).url);
}

/** What a crawl of a site came to, against the site's own pages and log. */
export async function judge(site, project, { expected = site.urls, files = true } = {}) {
  const state = await look(project);
  const urls = files ? await written(project) : [];
  const lost = files ? expected.filter((url) => !urls.includes(url)).length : expected.length - state.items;
  const twice = urls.length - new Set(urls).size;
  // Requests beyond the first of each page: also those that were cut off by a kill.
  const refetched = site.log.length - new Set(site.log.map(({ path }) => path)).size;
  const crashed = state.failures.filter(({ reason }) => reason === 'crashed').length;
  const problems = [...state.breaches];
  if (lost !== 0) problems.push(`${lost} lost`);
  if (twice !== 0) problems.push(`${twice} twice`);
  if (state.leased + state.pending + state.delayed > 0)
    problems.push(`left: ${state.pending} pending, ${state.leased} leased`);
  const percent = ((100 * refetched) / expected.length).toFixed(1);
  return { state, lost, twice, refetched, percent, crashed, problems };
}

/** A condition, with a bound. `everyMs`: how often it is asked. */
export async function until(condition, what, timeoutMs = 60_000, everyMs = 10) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(everyMs);
  }
}

export async function tempDir(name) {
  const dir = await mkdtemp(path.join(tmpdir(), `crawlnode-faults-${name}-`));
  atCleanUp(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
