// `npm run demo`: serve a small site from loopback, crawl it with three nodes through the real executable, kill one of
// them while it holds leases, and compare the items with the site's own log. Before that, one node alone crawls a third
// of the same site, to compare the speed. The store is a Redis: that of REDIS_URL (under job names of the demo's own, removed
// afterwards), else a redis-server of the demo's own if one is on the PATH; without either it is the embedded engine. Ctrl-C ends
// all of it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { compare } from './compare.mjs';
import { openStore } from './open-store.mjs';
import { startSite } from './start-site.mjs';

/** The speed is that of these pages. The nodes start during the ones before. */
const COMPARED = { from: 60, to: 240 };
/** The node is killed when the site has answered so many pages. */
const KILL_AFTER = 300;
const names = ['node-1', 'node-2', 'node-3'];
const doomed = 'node-2';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../..');
const executable = path.join(root, 'bin', 'crawlnode.js');
const id = `demo-${Date.now().toString(36)}-${process.pid}`;
const jobs = { one: `${id}-one`, three: id };

/** The children that run now. */
const children = new Set();
let interruptedBy = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupt(signal));

process.exitCode = await demo();

/** The whole story. @returns the exit code. */
async function demo() {
  if (!existsSync(path.join(root, 'dist', 'index.js'))) {
    const built = await start([path.join(root, 'scripts', 'build.mjs')], root).ended;
    if (interruptedBy !== null) return sayInterrupted();
    if (built !== 0) return 1;
  }
  const project = await makeProject();
  process.chdir(project);
  const store = await openStore(project);
  const site = await startSite();
  try {
    say(
      `${site.urls.length} pages on ${site.origins.length} hosts, each page takes 0.2 to 0.4 s; ${store.text}`,
    );
    const alone = await crawlAlone(site, store);
    if (interruptedBy !== null) return sayInterrupted();
    const crawled = await crawlWithThree(site, store);
    if (interruptedBy !== null) return sayInterrupted();
    return report(await verdict(site, project, store), { alone, ...crawled });
  } finally {
    site.stop();
    if (store.isOfUser) {
      for (const job of Object.values(jobs)) {
        await start(
          [executable, 'reset', 'demo', '--job', job, '--all', '--yes', '--force'],
          project,
          'ignore',
        ).ended;
      }
    }
    await store.stop();
  }
}

/** One node, for the first pages. @returns the pages per second that the site saw */
async function crawlAlone(site, store) {
  say(`one node crawls ${COMPARED.to} pages alone ...`);
  const node = startNode('node-1', site, store, jobs.one, ['--max-pages', String(COMPARED.to)]);
  await node.ended;
  const { log } = await site.ask('take');
  return speedOf(log);
}

/** Three nodes, one of which is killed. @returns how that went */
async function crawlWithThree(site, store) {
  say('three nodes crawl all pages ...');
  const nodes = new Map(names.map((name) => [name, startNode(name, site, store, jobs.three)]));
  const ended = Promise.all([...nodes.values()].map((node) => node.ended));
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  const killed = { pid: null, held: 0, backAfter: null };
  for (let said = 0; !isOver; await sleep(100)) {
    const { count } = await site.ask('count');
    if (count >= said + 100) say(`${count} of ${site.urls.length} pages`);
    if (count >= said + 100) said = count - (count % 100);
    if (killed.pid === null && count >= KILL_AFTER && interruptedBy === null) {
      await kill(nodes.get(doomed), store, killed);
    } else if (killed.pid !== null && killed.backAfter === null) {
      await lookForReturn(store, killed);
    }
  }
  await ended;
  return killed;
}

/** Kill the node while it holds leases. */
async function kill(node, store, killed) {
  const before = (await readStats(store)).nodes.find(({ id: name }) => name === doomed);
  if (before === undefined || before.leased === 0) return;
  process.kill(node.pid, 'SIGKILL');
  await node.ended;
  const { nodes, silentNodes } = await readStats(store);
  const after = [...nodes, ...silentNodes].find(({ id: name }) => name === doomed);
  killed.pid = node.pid;
  killed.held = after?.leased ?? before.leased;
  killed.atMs = performance.now();
  say(`kill -9 ${node.pid}: ${doomed} is dead, and holds ${killed.held} leases`);
}

/** The leases of the dead node go back to the queue once it has been silent for NODE_TIMEOUT. */
async function lookForReturn(store, killed) {
  const { nodes, silentNodes } = await readStats(store);
  const still = [...nodes, ...silentNodes].find(({ id: name }) => name === doomed);
  if (still !== undefined && still.leased > 0) return;
  killed.backAfter = ((performance.now() - killed.atMs) / 1000).toFixed(1);
  say(
    `after ${killed.backAfter} s the other nodes have taken the ${killed.held} leases of ${doomed} back into the queue`,
  );
}

async function readStats(store) {
  const { stats } = await import('../../dist/index.js');
  return stats('demo', { job: jobs.three, settings: store.settings });
}

function startNode(name, site, store, job, more = []) {
  const args = ['crawl', 'demo', '-a', `start=${site.origins[0]}/`, '--job', job, '--node-id', name];
  const settings = Object.entries(store.settings).flatMap(([setting, value]) => [
    '-s',
    `${setting}=${value}`,
  ]);
  return start([executable, ...args, '--exit-when-done', ...more, ...settings], process.cwd(), 'ignore');
}

/** A copy of the demo project to look at afterwards; those of demos that are over go away. */
async function makeProject() {
  const folder = path.join(root, '.demo');
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!isAlive(Number(name))) await rm(path.join(folder, name), { recursive: true, force: true });
  }
  const project = path.join(folder, String(process.pid));
  await cp(path.join(here, 'project'), project, { recursive: true });
  return project;
}

/** Reads the items out of the list in the store, and compares them with the log of the site. */
async function verdict(site, project, store) {
  const file = path.join(project, 'items.jsonl');
  const settings = Object.entries(store.settings).flatMap(([setting, value]) => [
    '-s',
    `${setting}=${value}`,
  ]);
  const exporting = [executable, 'items', 'demo', 'export', '--job', jobs.three, '-o', file, ...settings];
  await start(exporting, project, 'ignore').ended;
  const { log } = await site.ask('take');
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return {
    ...compare({ expected: site.urls, log, items: lines.map((line) => JSON.parse(line)) }),
    three: speedOf(log),
  };
}

/** Pages per second, as the site saw them. */
function speedOf(log) {
  if (log.length < COMPARED.to) return 0; // interrupted, or given up
  const seconds = (log[COMPARED.to - 1].atMs - log[COMPARED.from].atMs) / 1000;
  return (COMPARED.to - COMPARED.from) / seconds;
}

function report({ pages, items, nodes, missing, twice, unknown, three }, { alone, pid, held, backAfter }) {
  const table = new Table({
    head: ['node', 'pages'],
    colAligns: ['left', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }, // no lines between rows
  });
  for (const { node, pages: count } of nodes.sort((a, b) => (a.node < b.node ? -1 : 1)))
    table.push([node === doomed ? `${node}, killed` : node, count]);
  table.push(['in all', items]);
  console.log(`\n${table}`);
  for (const [what, urls] of Object.entries({ missing, twice, unknown })) {
    for (const url of urls.slice(0, 10)) console.log(`${what}: ${url}`);
  }
  const rates = `${three.toFixed(0)} and ${alone.toFixed(0)} pages/s`;
  console.log(`demo: the killed node held ${held} leases; they came back to the queue after ${backAfter} s`);
  console.log(`demo: three nodes were ${(three / alone).toFixed(1)} times as fast as one (${rates})`);
  const killed = pid === null ? 0 : 1;
  console.log(
    `demo: ${pages} pages, ${items} items, ${nodes.length} nodes, ${killed} killed, ${missing.length} missing, ${twice.length} twice`,
  );
  const isComplete = missing.length + twice.length + unknown.length === 0 && nodes.length === names.length;
  return isComplete && backAfter !== null && held > 0 ? 0 : 1;
}

/** Run a Node script, in a process group of its own so that nothing of it can outlive us. `ended`: its exit code; 1 after a signal. */
function start(args, cwd, stdout = 'inherit') {
  const child = spawn(process.execPath, args, {
    ...{ cwd, env: environment(), detached: true },
    // Not a terminal, on which three nodes would each draw their progress.
    stdio: ['ignore', stdout, 'pipe'],
  });
  children.add(child);
  child.stderr.pipe(process.stderr, { end: false });
  const tooLong = setTimeout(() => signalGroup(child, 'SIGKILL'), 120_000);
  const ended = new Promise((resolve) => {
    child.once('exit', (code) => {
      children.delete(child);
      clearTimeout(tooLong);
      signalGroup(child, 'SIGKILL');
      resolve(code ?? 1);
    });
  });
  return { pid: child.pid, ended };
}

/** Settings in the caller's environment are not the demo's, except for where Redis is. */
function environment() {
  const kept =
    /^(PATH|HOME|TERM|COLORTERM|COLUMNS|NO_COLOR|FORCE_COLOR|CI|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|SystemRoot)$/;
  const redis = process.env.REDIS_URL ? /^REDIS_(URL|USERNAME|PASSWORD|DB|TLS.*)$/ : /(?!)/;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => kept.test(name) || redis.test(name)),
  );
}

/** The first signal lets the nodes drain, the next ends them at once. */
function interrupt(signal) {
  for (const child of children) signalGroup(child, interruptedBy === null ? 'SIGINT' : 'SIGKILL');
  interruptedBy ??= signal;
}

function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}

function sayInterrupted() {
  say(`interrupted by ${interruptedBy}`);
  return 130;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function say(text) {
  console.error(`demo: ${text}`);
}
