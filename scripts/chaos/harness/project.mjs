/** A project whose spider follows links, its nodes as real processes of the executable, and what they have written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openFrontier } from '../../../dist/internal.js';
import { openOptions } from './open-options.mjs';
import { atCleanUp, executable, tempDir } from './stage.mjs';

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

/**
 * Start a command of the executable in a project.
 * @param wrap a command before it @param own another executable @param env added to that of the harness
 */
export function start({ dir }, args, { wrap = [], executable: own = executable(), env = {} } = {}) {
  const { REDIS_URL: _, ...inherited } = process.env;
  const line = [...wrap, process.execPath, own, ...args];
  const options = { cwd: dir, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(line[0], line.slice(1), options);
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

/** Start a node (or with --workers several) of the project's one spider. */
export function crawl(project, args, options) {
  return start(project, ['crawl', 'walk', ...args], options);
}

/** Run a command to its end. @returns { code, signal, stdout, stderr, node } */
export async function command(project, args, { timeoutMs, ...options } = {}) {
  const node = start(project, args, options);
  const end = await endOf(node, timeoutMs);
  return { ...end, stdout: node.out, stderr: node.said, node };
}

/** Wait for an end; a node that does not come to one is killed. */
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
export async function written({ dir }) {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(dir, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line).url);
}
