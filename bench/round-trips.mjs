/**
 * Round trips to Redis for pages of many links that are all new, 16 at once: what the server counts as
 * `total_reads_processed`, a run of one page taken off. `npm run bench:round-trips`,
 * `npm run bench:round-trips -- --runs 3 --json FILE`; medians.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { subjects } from './page-cost/measure.mjs';
import { rowOf } from './page-cost/report.mjs';
import { generated } from './page-cost/sites.mjs';
import { roundsOf } from './rounds.mjs';
import { writeFigures } from './write-figures.mjs';

const PAGES = 160;
/** More than any crawl of so many pages links to. */
const ENDLESS = 1e9;
/** Links of a page, and how many round trips it may take. */
const goals = new Map([
  [100, 2],
  [500, 2],
  [1_000, 2],
  [2_000, 2],
  [3_000, 3],
]);

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, json: { type: 'string' } },
});
const runs = roundsOf(options.runs, 'bench:round-trips');
const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
const redis = await startRedis(dir);
const rows = [];
try {
  for (const [links, goal] of goals) rows.push({ links, goal, ...(await measure(links)) });
} finally {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}
console.log(tableOf(rows));
if (options.json) await writeFigures(options.json, { runs, rows });

async function measure(links) {
  const site = await generated({ pages: ENDLESS, links, kilobytes: 1, hosts: 1, newLinks: true });
  const rounds = [];
  try {
    while (rounds.length < runs) {
      const crawl = (pages) => subjects.redis(site, { dir, redis }, String(pages));
      rounds.push({ one: await crawl(1), whole: await crawl(PAGES) });
    }
  } finally {
    await site.stop();
  }
  const { readsPerPage, redisBytesPerPage, redisMsPerPage } = rowOf('', 'redis', rounds);
  return { readsPerPage, redisBytesPerPage, redisMsPerPage };
}

function tableOf(rows) {
  const head = ['new links a page', 'reads/page', 'bytes/page', 'redis ms/page'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { links, goal, readsPerPage, redisBytesPerPage, redisMsPerPage } of rows) {
    table.push([
      links.toLocaleString('en'),
      `${readsPerPage.toFixed(2)}${readsPerPage <= goal ? '' : ` (${goal}) !`}`,
      redisBytesPerPage.toFixed(0),
      redisMsPerPage.toFixed(2),
    ]);
  }
  return table.toString();
}
