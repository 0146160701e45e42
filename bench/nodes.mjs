/**
 * CPU of a page with one node and with eight on one crawl, beside as many bare loops: processes that share two cores and
 * their caches slow each other down whatever they do, so that is the floor. `npm run bench:nodes`, `npm run bench:nodes --
 * 4 --json FILE`. A generated site of small pages; start-up and warm-up are taken off: what is measured are the pages of
 * each node between the 1,500th and the 6,000th.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startRedis } from '../scripts/proof/redis.mjs';
import { metered } from './page-cost/measure.mjs';
import { generated } from './page-cost/sites.mjs';
import { titlesCrawl } from './page-cost/titles-crawl.mjs';
import { writeFigures } from './write-figures.mjs';

const WARM_UP = 1_500;
const PAGES = 6_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
});
const most = Number(positionals[0] ?? 8);
if (!Number.isInteger(most) || most < 2) {
  console.error(`bench:nodes: ${positionals[0]} is no number of nodes; give 2 or more`);
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

const rows = [];
try {
  for (const [subject, run] of Object.entries(subjects)) {
    let alone = null;
    for (const nodes of [1, most]) {
      const warm = await run(nodes, nodes * WARM_UP);
      const whole = await run(nodes, nodes * PAGES);
      const cpuMsPerPage = (whole - warm) / (nodes * (PAGES - WARM_UP));
      alone ??= cpuMsPerPage;
      rows.push({ subject, nodes, cpuMsPerPage, ratio: cpuMsPerPage / alone });
      console.log(
        `${subject}, ${nodes}: ${cpuMsPerPage.toFixed(3)} ms a page, x ${(cpuMsPerPage / alone).toFixed(2)}`,
      );
    }
  }
} finally {
  await site.stop();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
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
