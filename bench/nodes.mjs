/**
 * CPU of a page with one node and with eight, `npm run bench:nodes`, `npm run bench:nodes -- 4 --runs 1 --json FILE`;
 * medians over three rounds. Processes that share two cores and their caches slow each other down whatever they do, so
 * eight are measured twice: apart, each on a crawl of its own, and together on one crawl. The difference is what it costs
 * a node that others work on its crawl; bare loops share nothing and show the machine's part alone.
 *
 * A generated site of small pages; start-up and warm-up are taken off: what is measured are the pages of each node
 * between the 1,500th and the 6,000th.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { median } from './median.mjs';
import { metered } from './page-cost/measure.mjs';
import { generated } from './page-cost/sites.mjs';
import { titlesCrawl } from './page-cost/titles-crawl.mjs';
import { roundsOf } from './rounds.mjs';
import { writeFigures } from './write-figures.mjs';

const WARM_UP = 1_500;
const PAGES = 6_000;
/** Together against apart; against one node that has the machine to itself, eight bare loops miss it as well. */
const GOAL = 1.15;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, runs: { type: 'string', default: '3' } },
});
const most = Number(positionals[0] ?? 8);
if (!Number.isInteger(most) || most < 2) {
  console.error('bench:nodes: give a number of nodes, 2 or more');
  process.exit(2);
}
const rounds = roundsOf(options.runs, 'bench:nodes');

const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
const redis = await startRedis(dir);
const site = await generated({ pages: most * PAGES, links: 20, kilobytes: 4, hosts: 1 });

/** By subject, how its processes may be arranged: so many of so many pages. @returns CPU of all of them, ms. */
const subjects = {
  'bare loop': { alone: (pages) => loops(1, pages), apart: (pages) => loops(most, pages) },
  redis: arrangements({ REDIS_URL: redis.url }),
  embedded: arrangements({}),
};
const counts = { alone: 1, apart: most, together: most };

/** CPU of a page by subject and arrangement, a figure for each round. */
const found = Object.fromEntries(
  Object.entries(subjects).map(([subject, arranged]) => [
    subject,
    Object.fromEntries(Object.keys(arranged).map((name) => [name, []])),
  ]),
);
try {
  for (let round = 0; round < rounds; round++) {
    for (const [subject, arranged] of Object.entries(subjects)) {
      // There and back, so that a machine that grows slower favours none of them.
      const order = round % 2 === 0 ? Object.keys(arranged) : Object.keys(arranged).reverse();
      for (const name of order) {
        const warm = await arranged[name](WARM_UP);
        const whole = await arranged[name](PAGES);
        found[subject][name].push((whole - warm) / (counts[name] * (PAGES - WARM_UP)));
      }
    }
  }
} finally {
  await site.stop();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}

const rows = Object.entries(found).map(([subject, costs]) => {
  const {
    alone,
    apart,
    together = null,
  } = Object.fromEntries(Object.entries(costs).map(([name, figures]) => [name, median(figures)]));
  const ofMachine = apart / alone;
  return {
    subject,
    nodes: most,
    alone,
    apart,
    ofMachine,
    ...(together && { together, ofSharing: together / apart }),
  };
});
for (const { subject, alone, apart, ofMachine, together, ofSharing } of rows) {
  const [one, own] = [alone, apart].map((ms) => `${ms.toFixed(3)} ms`);
  const shared = together
    ? `; on one crawl ${together.toFixed(3)} ms, x ${ofSharing.toFixed(2)}${ofSharing > GOAL ? ` (${GOAL}) !` : ''}`
    : '';
  console.log(`${subject}: a page ${one}; ${most} each by itself ${own}, x ${ofMachine.toFixed(2)}${shared}`);
}
if (options.json) await writeFigures(options.json, { runs: rounds, rows });

/** What nodes on an engine can be: each runs so many pages. */
function arrangements(engine) {
  return {
    alone: (pages) => crawls(1, 1, pages, engine),
    apart: (pages) => crawls(most, 1, pages, engine),
    together: (pages) => crawls(1, most, pages, engine),
  };
}

/** So many crawls at a time, each of so many nodes in a project of its own. */
async function crawls(count, nodes, pages, engine) {
  await redis.db.flushall();
  const settings = { ...engine, CONCURRENT_REQUESTS_PER_DOMAIN: 16 * most };
  const commands = [];
  for (let crawl = 0; crawl < count; crawl++) {
    const { project, args } = await titlesCrawl(dir, site, settings);
    const command = { cwd: project, args: [...args, '--job', `${crawl}`, '--max-pages', `${pages * nodes}`] };
    commands.push(...Array(nodes).fill(command));
  }
  return sideBySide(commands);
}

function loops(count, pages) {
  const loop = fileURLToPath(new URL('page-cost/bare-loop.mjs', import.meta.url));
  return sideBySide(Array(count).fill({ cwd: dir, args: [loop, site.url, site.within, `${pages}`] }));
}

async function sideBySide(commands) {
  const costs = await Promise.all(
    commands.map(({ args, cwd }, n) => metered(args, cwd, path.join(dir, `meter-${n}.json`))),
  );
  return costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}
