/**
 * What a page costs: CPU of a node on each engine against the bare loop, in one run, alternating, medians.
 * The site is python3-doc through nginx. Start-up is taken off by a run of one page. `npm run bench`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { Redis } from 'ioredis';
import { freePort, startNginx, untilListening } from '../scripts/proof/nginx.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const docs = '/usr/share/doc/python3-doc/html';
const runs = Number(process.argv[2] ?? 5);
if (!existsSync(docs)) {
  console.error('bench: the pages are not here; as root: apt-get install nginx python3-doc redis-server');
  process.exit(1);
}

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-bench-'));
const site = await startNginx(docs, dir);
const port = await freePort();
const server = spawn(
  'redis-server',
  ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir],
  {
    stdio: 'ignore',
  },
);
await untilListening(port);
const db = new Redis(port);
const start = `${site.url}index.html`;
const subjects = {
  'bare loop': (limit) => measure([here('bare-loop.mjs'), start, ...(limit ? [limit] : [])]),
  redis: (limit) => crawl({ REDIS_URL: `redis://127.0.0.1:${port}` }, limit),
  embedded: (limit) => crawl({}, limit),
};
const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
try {
  for (let run = 0; run < runs; run++) {
    for (const [name, subject] of Object.entries(subjects)) {
      const one = await subject('1');
      const whole = await subject(null);
      results[name].push({
        ...whole,
        cpuPerPage: (whole.cpuMs - one.cpuMs) / (whole.pages - 1),
        pagesPerSecond: (whole.pages - 1) / ((whole.ms - one.ms) / 1000),
        redisPerPage: whole.redisMs === undefined ? null : whole.redisMs / whole.pages,
        readsPerPage: whole.reads === undefined ? null : whole.reads / whole.pages,
      });
    }
  }
} finally {
  db.disconnect();
  server.kill('SIGTERM');
  await once(server, 'exit');
  await site.stop();
  await rm(dir, { recursive: true, force: true });
}

const of = (name, field) => median(results[name].map((result) => result[field]));
const table = new Table({
  head: ['', 'pages', 'CPU ms/page', '× bare', 'pages/s', 'redis ms/page', 'reads/page', 'RSS MB'],
  style: { head: [] },
});
for (const name of Object.keys(subjects)) {
  const cpu = of(name, 'cpuPerPage');
  table.push([
    name,
    of(name, 'pages'),
    cpu.toFixed(2),
    (cpu / of('bare loop', 'cpuPerPage')).toFixed(2),
    of(name, 'pagesPerSecond').toFixed(0),
    of(name, 'redisPerPage')?.toFixed(3) ?? '',
    of(name, 'readsPerPage')?.toFixed(2) ?? '',
    (of(name, 'maxRssKb') / 1024).toFixed(0),
  ]);
}
console.log(table.toString());

async function crawl(settings, limit) {
  const project = await mkdtemp(path.join(dir, 'p-'));
  const all = {
    ...settings,
    SPIDER_MODULES: [here('../spiders')],
    ROBOTSTXT_OBEY: false,
    CONCURRENT_REQUESTS: 16,
    CONCURRENT_REQUESTS_PER_DOMAIN: 16,
    LOG_LEVEL: 'WARNING',
  };
  await writeFile(path.join(project, 'crawlnode.yaml'), JSON.stringify(all));
  await db.flushall();
  const before = await redisCost();
  const args = [here('../bin/crawlnode.js'), 'crawl', 'docs', '-a', `start=${start}`, '--exit-when-done'];
  const measured = await measure([...args, ...(limit ? ['--max-pages', limit] : [])], project);
  const after = await redisCost();
  const redis = settings.REDIS_URL
    ? { redisMs: after.cpuMs - before.cpuMs, reads: after.reads - before.reads }
    : {};
  return { ...measured, ...redis, pages: limit ? 1 : (await site.requests()).length };
}

async function measure(args, cwd = dir) {
  await site.forget();
  const file = path.join(dir, 'cpu.json');
  const { REDIS_URL: _, ...env } = process.env;
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', here('cpu-meter.mjs'), ...args], {
    cwd,
    env: { ...env, CPU_METER_FILE: file },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
  const ms = performance.now() - startedAt;
  return { ms, ...JSON.parse(await readFile(file, 'utf8')), pages: (await site.requests()).length };
}

async function redisCost() {
  const cpu = await db.info('cpu');
  const stats = await db.info('stats');
  const seconds = (name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(cpu)[1]);
  return {
    cpuMs: (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1000,
    reads: Number(/total_reads_processed:(\d+)/.exec(stats)?.[1] ?? 0),
  };
}

function median(values) {
  if (values[0] === null || values[0] === undefined) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
