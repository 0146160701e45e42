/**
 * The promises on real pages: python3-doc (some 530 HTML pages) served by nginx, crawled by real processes through
 * the executable, compared with what an independent walker reaches. Run by `npm run proof`; it needs Debian's
 * nginx, python3-doc and redis-server. An argument picks the scenarios whose name holds it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { startNginx } from './nginx.mjs';
import { startRedis } from './redis.mjs';
import { walk } from './walker.mjs';

const docs = '/usr/share/doc/python3-doc/html';
const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const spiders = fileURLToPath(new URL('../../spiders', import.meta.url));
const children = new Set();
/** python3-doc has some 530 pages, whichever Python it is of. */
const FEWEST = 100;

if (!existsSync(docs)) {
  console.error('proof: the pages are not here; as root: apt-get install nginx python3-doc redis-server');
  process.exit(1);
}

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-proof-'));
const rows = [];
let broken = false;
const site = await startNginx(docs, dir);
const redis = await startRedis(dir);
const { db } = redis;
try {
  const expected = await walk(`${site.url}index.html`);
  console.log(`walker: ${expected.size} HTML pages reachable from ${site.url}index.html`);
  if (expected.size < FEWEST) throw new Error('the walker found next to nothing, so nothing can be missing');
  for (const [name, scenario] of Object.entries({
    'three nodes on Redis, seeded by lpush while they run': threeNodes,
    'embedded engine, --workers 2': embedded,
    'three nodes, one killed in the middle': oneKilled,
    'three nodes, all killed, one started again': allKilled,
    'reset --all --yes, then the same crawl': resetAndAgain,
  })) {
    if (!name.includes(process.argv[2] ?? '')) continue;
    await site.forget();
    const startedAt = Date.now();
    const { items, files } = await scenario(expected);
    judge(name, expected, items, files, await site.requests(), Date.now() - startedAt);
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  await redis.stop();
  await site.stop();
  await rm(dir, { recursive: true, force: true });
}
const table = new Table({
  head: ['scenario', 'pages', 'items', 'in files', 'missing', 'twice', 'fetches', 'refetched', 'seconds'],
});
table.push(...rows);
console.log(table.toString());
if (rows.length === 0) {
  broken = true;
  console.error(`proof: no scenario's name holds ${process.argv[2]}`);
}
console.log(broken ? 'proof: BROKEN' : 'proof: none missing, none twice');
process.exitCode = broken ? 1 : 0;

async function threeNodes() {
  const project = await newProject('three', redis.url);
  const nodes = [1, 2, 3].map((n) => crawl(project, ['docs', '--exit-when-done', '-o', `node${n}.jsonl`]));
  await db.lpush('docs:start_urls', `${site.url}index.html`);
  await allEnd(nodes);
  return results(project, 'docs:items', [1, 2, 3]);
}

async function embedded() {
  const project = await newProject('embedded', null);
  const start = `start=${site.url}index.html`;
  await allEnd([
    crawl(project, ['docs', '-a', start, '--workers', '2', '--exit-when-done', '-O', 'items.jsonl']),
  ]);
  const files = await titles(project, ['items.jsonl']);
  return { items: files, files };
}

async function oneKilled(expected) {
  const project = await newProject('killed', redis.url);
  const nodes = [1, 2, 3].map((n) => crawl(project, jobArgs('one', n)));
  await db.lpush('docs:start_urls@one', `${site.url}index.html`);
  await untilItems('docs:items@one', expected.size / 4);
  nodes[1].kill('SIGKILL');
  await allEnd([nodes[0], nodes[2]]);
  return results(project, 'docs:items@one', [1, 2, 3]);
}

async function allKilled(expected) {
  const project = await newProject('all', redis.url);
  const nodes = [1, 2, 3].map((n) => crawl(project, jobArgs('all', n)));
  await db.lpush('docs:start_urls@all', `${site.url}index.html`);
  await untilItems('docs:items@all', expected.size / 3);
  for (const node of nodes) node.kill('SIGKILL');
  await Promise.all(nodes.map((node) => node.exitCode ?? once(node, 'exit')));
  await allEnd([crawl(project, jobArgs('all', 1))]);
  return results(project, 'docs:items@all', [1, 2, 3]);
}

async function resetAndAgain() {
  const project = await newProject('again', redis.url);
  await allEnd([crawlnode(project, ['reset', 'docs', '--all', '--yes'])]);
  const left = (await db.keys('docs:*')).filter((key) => !key.includes('@'));
  if (left.length > 0) throw new Error(`reset --all left ${left.join(', ')}`);
  const nodes = [1, 2, 3].map((n) => crawl(project, ['docs', '--exit-when-done', '-o', `node${n}.jsonl`]));
  await db.lpush('docs:start_urls', `${site.url}index.html`);
  await allEnd(nodes);
  return results(project, 'docs:items', [1, 2, 3]);
}

function jobArgs(job, n) {
  return ['docs', '--job', job, '--exit-when-done', '-o', `node${n}.jsonl`];
}

async function results(project, key, nodes) {
  const items = (await db.lrange(key, 0, -1)).map((line) => JSON.parse(line).url);
  return {
    items,
    files: await titles(
      project,
      nodes.map((n) => `node${n}.jsonl`),
    ),
  };
}

async function titles(project, names) {
  const urls = [];
  for (const name of names) {
    const text = await readFile(path.join(project, name), 'utf8').catch(() => '');
    urls.push(
      ...text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).url),
    );
  }
  return urls;
}

function judge(name, expected, items, files, requests, ms) {
  const missing = [...expected].filter((url) => !items.includes(url) || !files.includes(url));
  const twice = items.length - new Set(items).size + files.length - new Set(files).size;
  const strange = items.filter((url) => !expected.has(url));
  if (missing.length + twice + strange.length > 0) broken = true;
  for (const url of missing.slice(0, 5)) console.error(`  missing: ${url}`);
  for (const url of strange.slice(0, 5)) console.error(`  not reached by the walker: ${url}`);
  const refetched = requests.length - new Set(requests).size;
  rows.push([
    name,
    expected.size,
    items.length,
    files.length,
    missing.length,
    twice,
    requests.length,
    refetched,
    (ms / 1000).toFixed(1),
  ]);
}

async function newProject(name, url) {
  const project = await mkdtemp(path.join(dir, `${name}-`));
  const settings = {
    SPIDER_MODULES: [spiders],
    ROBOTSTXT_OBEY: false,
    // Seeds put into Redis lead to no private address without it.
    ALLOW_PRIVATE_ADDRESSES: true,
    CONCURRENT_REQUESTS_PER_DOMAIN: 48,
    NODE_TIMEOUT: 3,
    HEARTBEAT_INTERVAL: 1,
  };
  if (url) settings.REDIS_URL = url;
  await writeFile(path.join(project, 'crawlnode.yaml'), JSON.stringify(settings));
  return project;
}

function crawl(project, args) {
  return crawlnode(project, ['crawl', ...args]);
}

function crawlnode(cwd, args) {
  const { REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, [bin, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.setEncoding('utf8');
  child.said = '';
  child.stderr.on('data', (text) => {
    child.said += text;
  });
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}

async function allEnd(nodes) {
  const limit = setTimeout(() => {
    for (const node of nodes) node.kill('SIGKILL');
  }, 120_000);
  for (const node of nodes) {
    if (node.exitCode === null && node.signalCode === null) await once(node, 'exit');
    if (node.exitCode !== 0)
      throw new Error(`a node ended with ${node.exitCode ?? node.signalCode}:\n${node.said}`);
  }
  clearTimeout(limit);
}

async function untilItems(key, count) {
  for (let attempt = 0; attempt < 6000; attempt++) {
    if ((await db.llen(key)) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${key} never held ${count} items`);
}
