// `npm run situation`: bring up crawls in which several things go wrong, and keep them up for some minutes, so that somebody can find out
// what, by the commands of docs/guide/monitoring.md and the dashboard. What goes wrong stands in sites.mjs and below, and is not printed.
//
//   npm run situation                    # on a redis-server of its own
//   npm run situation -- --embedded      # on the embedded engine
//   npm run situation -- --minutes 5     # how long it stays up (10); Ctrl-C ends it earlier
//   npm run situation -- --json          # how to reach it as one line of JSON
//
// It takes about two minutes until all has happened; then it prints how to reach it. It ends what it has started, and removes the
// folder of the project.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openStore } from '../demo/open-store.mjs';
import { startSites } from './sites.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const executable = path.join(root, 'bin', 'crawlnode.js');
const { values: options } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
  },
});
if (!existsSync(path.join(root, 'dist', 'index.js'))) fail('run "npm run build" first');

// Settings and stores of the user are not for this.
const env = Object.fromEntries(['PATH', 'HOME', 'TERM'].map((name) => [name, process.env[name]]));
delete process.env.REDIS_URL;

const project = mkdtempSync(path.join(tmpdir(), 'crawlnode-situation-'));
const children = new Set();
const over = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => over.abort());

const store = options.embedded ? { settings: {}, stop: async () => {} } : await openStore(project);
if (!options.embedded && store.settings.REDIS_URL === undefined) fail('there is no redis-server on the PATH');
const sites = await startSites();
try {
  const dashboard = await makeSituation();
  const reach = { project, redisUrl: store.settings.REDIS_URL ?? null, dashboard };
  console.log(options.json ? JSON.stringify(reach) : textOf(reach));
  await pause(Number(options.minutes) * 60_000);
} catch (error) {
  if (!over.signal.aborted) throw error;
} finally {
  await Promise.all([...children].map(end));
  sites.stop();
  await store.stop();
  rmSync(project, { recursive: true, force: true });
}

/** @returns the URL of the dashboard, when all has happened */
async function makeSituation() {
  writeProject();
  for (const [host, count] of [
    ['127.0.0.2', 10_000],
    ['127.0.0.3', 400],
    ['127.0.0.4', 600],
    ['127.0.0.5', 20],
    ['127.0.0.6', 200],
    ['127.0.0.7', 40],
  ]) {
    await command(['seed', 'shop', ...urls(host, count)]);
  }
  for (let from = 0; from < 20_000; from += 2_000)
    await command(['seed', 'news', ...urls('127.0.0.1', 2_000, from)]);
  node('news', 'night');
  const nodes = [node('shop', 'ash'), node('shop', 'birch'), node('shop', 'cedar')];
  await until('three nodes', async () => (await stats()).nodes.length === 3);
  const dashboard = await startDashboard();
  await pause(25_000); // the history has a time before
  await command(['pause', 'shop']);
  await pause(15_000);
  await command(['resume', 'shop']);
  await until('leases', () => holdsLeases('birch'));
  nodes[1].kill('SIGKILL');
  await pause(10_000);
  await until('leases', () => holdsLeases('cedar'));
  nodes[2].kill('SIGSTOP');
  await until('both count as dead', async () => (await stats()).deadNodes.length === 2);
  const hangs = ({ facts }) => facts?.oldestLeaseMs > 35_000;
  await until('a page that hangs', async () => (await stats()).nodes.some(hangs));
  return dashboard;
}

async function holdsLeases(name) {
  return (await stats()).nodes.some(({ id, leased }) => id === name && leased > 0);
}

function writeProject() {
  const settings = {
    ...store.settings,
    ...{ ALLOW_PRIVATE_ADDRESSES: true, CONCURRENT_REQUESTS: 16, CONCURRENT_REQUESTS_PER_DOMAIN: 6 },
    ...{ NODE_TIMEOUT: 10, HEARTBEAT_INTERVAL: 2, DOWNLOAD_TIMEOUT: 120, RETRY_TIMES: 1 },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(path.join(project, 'crawlnode.yaml'), lines.join(''));
  mkdirSync(path.join(project, 'spiders'));
  for (const name of ['shop', 'news'])
    writeFileSync(
      path.join(project, 'spiders', `${name}.mjs`),
      `import { Spider } from 'crawlnode';
export default class extends Spider {
  name = '${name}';
  *parse(response) {
    yield { url: response.url };
  }
}
`,
    );
}

function urls(host, count, from = 0) {
  return Array.from({ length: count }, (_, n) => `${sites.origins[host]}/${from + n}`);
}

function node(spider, id) {
  const log = openSync(path.join(project, `${id}.log`), 'w');
  return start(['crawl', spider, '--node-id', id], ['ignore', 'ignore', log]);
}

async function startDashboard() {
  const child = start(['dashboard', '--port', '0', '--json'], ['ignore', 'pipe', 'inherit']);
  const [text] = await once(child.stdout, 'data', { signal: over.signal });
  return JSON.parse(text).url;
}

async function stats() {
  return JSON.parse(await command(['stats', 'shop', '--json']));
}

/** @returns what a command prints */
async function command(args) {
  const child = start(args, ['ignore', 'pipe', 'pipe']);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close', { signal: over.signal });
  if (code !== 0) throw new Error(`crawlnode ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

function start(args, stdio) {
  const child = spawn(process.execPath, [executable, ...args], { cwd: project, env, stdio });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** It may be stopped, so that it hears nothing else. */
async function end(child) {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function until(what, isSo) {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries === 120) throw new Error(`the situation does not come about: ${what}`);
    await pause(500);
  }
}

function textOf({ redisUrl, dashboard }) {
  return [
    `project    ${project} (the commands run there, as in "node ${executable} stats")`,
    `REDIS_URL  ${redisUrl ?? 'none: the crawls are on the embedded engine'}`,
    `dashboard  ${dashboard}`,
    `It ends in ${options.minutes} minutes.`,
  ].join('\n');
}

function pause(ms) {
  return sleep(ms, null, { signal: over.signal });
}

function fail(message) {
  console.error(`situation: ${message}`);
  process.exit(1);
}
