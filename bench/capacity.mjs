/**
 * How right `crawlnode plan --from` is: `npm run bench:capacity`, `npm run bench:capacity -- --pages 20000 --json FILE`. Two nodes
 * crawl a sample of a generated site, a plan is made of what they reported, then two nodes crawl the whole site on an empty
 * Redis. Compared are the CPU time of both nodes, start-up included, the CPU time of redis-server, and its largest memory.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { metered } from './page-cost/measure.mjs';
import { redisCost } from './page-cost/redis-cost.mjs';
import { generated } from './page-cost/sites.mjs';
import { titlesCrawl } from './page-cost/titles-crawl.mjs';
import { writeFigures } from './write-figures.mjs';

const NODES = 2;
const HOSTS = 10;
const LIMIT_MS = 500_000;
const LOOK_MS = 100;
/** How far the plan may be off. */
const GOAL = 0.25;
const cli = fileURLToPath(new URL('../bin/crawlnode.js', import.meta.url));

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    pages: { type: 'string', default: '100000' },
    dupefilter: { type: 'string', default: 'RFPDupeFilter' },
  },
});
const { dupefilter } = options;
const pages = Number(options.pages);
// Some twenty seconds of a fast site are two or three points of the history: a smaller sample says little.
const sample = pages;

const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
const redis = await startRedis(dir);
const site = await generated({ pages, links: 20, kilobytes: 4, hosts: HOSTS });
try {
  const { project, args } = await titlesCrawl(dir, site, {
    REDIS_URL: redis.url,
    DUPEFILTER_CLASS: dupefilter,
    ...(dupefilter === 'BloomDupeFilter' && { DUPEFILTER_CAPACITY: pages }),
  });
  await crawl(project, [...args, '--max-pages', `${sample}`]);
  const size = ['--pages', `${pages}`, '--domains', `${HOSTS}`, '--rate', '1000'];
  const byBench = await planned(project, size);
  const bySample = await planned(project, [...size, '--from', 'titles']);
  await redis.db.flushall();
  const measured = await crawl(project, args);

  const rows = Object.keys(measured).map((what) => {
    const ratio = bySample[what] / measured[what];
    const within = Math.abs(ratio - 1) <= GOAL;
    return {
      what,
      byBench: byBench[what],
      bySample: bySample[what],
      measured: measured[what],
      ratio,
      within,
    };
  });
  console.table(rows);
  if (options.json) await writeFigures(options.json, { pages, sample, nodes: NODES, dupefilter, rows });
  if (rows.some(({ within }) => !within)) process.exitCode = 1;
} finally {
  await site.stop();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}

/** All nodes beside each other, each with a file of its own for its items. */
async function crawl(project, args) {
  const before = await redisCost(redis.db);
  let largest = 0;
  const look = setInterval(async () => {
    const used = /^used_memory:(\d+)/m.exec(await redis.db.info('memory'))[1];
    largest = Math.max(largest, Number(used));
  }, LOOK_MS);
  const costs = await Promise.all(
    Array.from({ length: NODES }, (_, n) =>
      metered([...args, '-O', `${n}.jsonl`], project, path.join(dir, `meter-${n}.json`), LIMIT_MS),
    ),
  );
  clearInterval(look);
  const { redisMs } = await redisCost(redis.db);
  return {
    'CPU of the nodes (s)': costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1_000,
    'CPU of redis-server (s)': (redisMs - before.redisMs) / 1_000,
    'memory of Redis (MB)': largest / 1e6,
  };
}

/** What `crawlnode plan` says of the same figures. */
async function planned(cwd, args) {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'plan', ...args, '--json'], { cwd });
  const plan = JSON.parse(stdout);
  const store = plan.redis.find((each) => each.dupefilter === dupefilter);
  return {
    'CPU of the nodes (s)': plan.nodes.cpuSeconds,
    'CPU of redis-server (s)': store.cpuSeconds,
    'memory of Redis (MB)': store.memoryBytes / 1e6,
  };
}
