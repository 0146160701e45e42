/**
 * CPU of a page with one node and with eight on one crawl, beside as many bare loops: processes that share two cores and
 * their caches slow each other down whatever they do, so that is the floor. `npm run bench:nodes`, `npm run bench:nodes --
 * 4 --runs 1 --json FILE`; medians over three rounds, in turns. A generated site of small pages; start-up and warm-up are
 * taken off: what is measured are the pages of each node between the 1,500th and the 6,000th.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startRedis } from '../scripts/proof/redis.mjs';
import { median } from './median.mjs';
import { metered } from './page-cost/measure.mjs';
import { generated } from './page-cost/sites.mjs';
import { titlesCrawl } from './page-cost/titles-crawl.mjs';
import { writeFigures } from './write-figures.mjs';

const WARM_UP = 1_500;
const PAGES = 6_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, runs: { type: 'string', default: '3' } },
});
const most = Number(positionals[0] ?? 8);
const rounds = Number(options.runs);
if (!Number.isInteger(most) || most < 2 || !Number.isInteger(rounds) || rounds < 1) {
  console.error('bench:nodes: give a number of nodes, 2 or more, and --runs 1 or more');
  process.exit(2);
}

const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
const redis = await startRedis(dir);
const site = await generated({ pages: most * PAGES, links: 20, kilobytes: 4, hosts: 1 });

/** Each crawls so many pages in so many processes. @returns CPU of all of them, ms. */
const subjects = {
  'bare loop': (count, pages) => {
    const loop = fileURLToPath(new URL('page-cost/bare-loop.mjs', import.meta.url));
    return sideBySide(count, [loop, site.url, site.within, String(pages / count)], dir);
  },
  redis: async (count, pages) => {
    await redis.db.flushall();
    return crawl(count, pages, { REDIS_URL: redis.url });
  },
  embedded: (count, pages) => crawl(count, pages, {}),
};

/** CPU of a page by subject and number of nodes, a figure for each round. */
const found = new Map(Object.keys(subjects).map((subject) => [subject, new Map()]));
try {
  for (let round = 0; round < rounds; round++) {
    for (const [subject, run] of Object.entries(subjects)) {
      for (const nodes of [1, most]) {
        const warm = await run(nodes, nodes * WARM_UP);
        const whole = await run(nodes, nodes * PAGES);
        const cpuMs = (whole - warm) / (nodes * (PAGES - WARM_UP));
        found.get(subject).set(nodes, [...(found.get(subject).get(nodes) ?? []), cpuMs]);
      }
    }
  }
} finally {
  await site.stop();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}

const rows = [...found].map(([subject, costs]) => {
  const [alone, together] = [1, most].map((nodes) => median(costs.get(nodes)));
  return { subject, nodes: most, alone, together, ratio: together / alone };
});
const [bare] = rows;
for (const row of rows) {
  row.besideBare = row.ratio / bare.ratio;
  console.log(
    `${row.subject}: ${row.alone.toFixed(3)} ms a page, ${row.together.toFixed(3)} at ${most} nodes, x ${row.ratio.toFixed(2)}; beside the bare loops' x ${row.besideBare.toFixed(2)}`,
  );
}
if (options.json) await writeFigures(options.json, { rows });

async function crawl(count, pages, engine) {
  const settings = { ...engine, CONCURRENT_REQUESTS_PER_DOMAIN: 16 * most };
  const { project, args } = await titlesCrawl(dir, site, settings);
  return sideBySide(count, [...args, '--max-pages', String(pages)], project);
}

async function sideBySide(count, args, cwd) {
  const costs = await Promise.all(
    Array.from({ length: count }, (_, n) => metered(args, cwd, path.join(dir, `meter-${n}.json`))),
  );
  return costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}
