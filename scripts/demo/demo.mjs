// `npm run demo`: serve a small site from loopback, crawl it with two nodes through the real executable, and compare
// what came out with the site's own log. With REDIS_URL set the frontier is in that Redis (under a job name of its
// own, removed afterwards), else it is the embedded one. Ctrl-C ends all of it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { compare } from './compare.mjs';
import { startSite } from './start-site.mjs';

const workers = 2;
const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../..');
const executable = path.join(root, 'bin', 'crawlnode.js');
const redisUrl = process.env.REDIS_URL || null;
const job = `demo-${Date.now().toString(36)}-${process.pid}`;

/** The child that runs now; a signal to us is passed on to it. */
let running = null;
let interruptedBy = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupt(signal));

process.exitCode = await demo();

/** The whole story. @returns the exit code. */
async function demo() {
  if (!existsSync(path.join(root, 'dist', 'index.js'))) {
    const built = await run([path.join(root, 'scripts', 'build.mjs')], root);
    if (interruptedBy !== null) return sayInterrupted();
    if (built !== 0) return 1;
  }
  const project = await makeProject();
  const site = await startSite();
  const itemsFile = path.join(project, 'items.jsonl');
  try {
    const store = redisUrl === null ? 'the embedded engine' : 'Redis';
    say(`${site.urls.length} pages on ${site.origins.length} hosts, ${workers} nodes, ${store}`);
    const stopProgress = process.stderr.isTTY ? () => {} : reportProgress(site);
    const code = await crawl(project, site.origins[0], itemsFile);
    stopProgress();
    if (interruptedBy !== null) return sayInterrupted();
    return report(await verdict(site, itemsFile), code);
  } finally {
    site.stop();
    if (redisUrl !== null)
      await run([executable, 'reset', 'demo', '--job', job, '--all', '--yes'], project, true);
  }
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

function crawl(project, origin, itemsFile) {
  const args = ['crawl', 'demo', '-a', `start=${origin}/`, '--workers', String(workers), '--exit-when-done'];
  args.push('-O', path.relative(project, itemsFile));
  if (redisUrl !== null) args.push('--job', job);
  say(`crawlnode ${args.join(' ')}`);
  return run([executable, ...args], project);
}

/** Where no terminal shows the crawl's own progress: a line a second. */
function reportProgress(site) {
  const timer = setInterval(async () => {
    const answer = await site.ask('count').catch(() => null);
    if (answer !== null) say(`${answer.count} of ${site.urls.length} pages`);
  }, 1_000);
  return () => clearInterval(timer);
}

async function verdict(site, itemsFile) {
  const { log } = await site.ask('log');
  const text = await readFile(itemsFile, 'utf8').catch(() => '');
  const items = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return compare({ expected: site.urls, log, items });
}

function report({ pages, items, nodes, missing, twice, unknown }, code) {
  const table = new Table({
    head: ['node', 'pages'],
    colAligns: ['left', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }, // no lines between rows
  });
  for (const { node, pages: count } of nodes) table.push([node, count]);
  table.push(['in all', items]);
  console.log(`\n${table}`);
  for (const [what, urls] of Object.entries({ missing, twice, unknown })) {
    for (const url of urls.slice(0, 10)) console.log(`${what}: ${url}`);
  }
  if (code !== 0) console.log(`the crawl ended with exit code ${code}`);
  if (nodes.length < workers) console.log(`only ${nodes.length} of ${workers} nodes took part`);
  console.log(
    `demo: ${pages} pages, ${items} items, ${nodes.length} nodes, ${missing.length} missing, ${twice.length} twice`,
  );
  const good = code === 0 && nodes.length >= workers && missing.length + twice.length + unknown.length === 0;
  return good ? 0 : 1;
}

/**
 * Run a Node script to its end, in a process group of its own so that nothing of it can outlive us.
 * @returns its exit code; 1 when a signal ended it.
 */
function run(args, cwd, quiet = false) {
  return new Promise((resolve) => {
    const stdio = ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'];
    const child = spawn(process.execPath, args, { cwd, env: environment(), stdio, detached: true });
    const tooLong = setTimeout(() => signalGroup(child, 'SIGKILL'), 120_000);
    running = child;
    child.once('exit', (code) => {
      running = null;
      clearTimeout(tooLong);
      signalGroup(child, 'SIGKILL');
      resolve(code ?? 1);
    });
  });
}

/** Settings in the caller's environment are not the demo's, except for where Redis is. */
function environment() {
  const kept =
    /^(PATH|HOME|TERM|COLORTERM|COLUMNS|NO_COLOR|FORCE_COLOR|CI|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|SystemRoot)$/;
  const redis = redisUrl === null ? /(?!)/ : /^REDIS_(URL|USERNAME|PASSWORD|DB|TLS.*)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => kept.test(name) || redis.test(name)),
  );
}

/** The first signal lets the crawl drain, the next ends it at once. */
function interrupt(signal) {
  if (running !== null) signalGroup(running, interruptedBy === null ? 'SIGINT' : 'SIGKILL');
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
