/**
 * What a page costs: CPU of a node on each engine against the bare loop, alternating in one run, medians, start-up
 * taken off by a run of one page on both sides. `npm run bench`, `npm run bench -- heavy --runs 3 --json out.json`:
 * the sites whose name holds a word, the rounds, a file for the figures. `--own-downloader` adds a bare loop that uses got
 * as a node does.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { ownDownloader, subjects } from './page-cost/measure.mjs';
import { compare, rowOf, tableOf } from './page-cost/report.mjs';
import { sites } from './page-cost/sites.mjs';
import { roundsOf } from './rounds.mjs';
import { writeFigures } from './write-figures.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    json: { type: 'string' },
    'own-downloader': { type: 'boolean', default: false },
  },
});
const compared = { ...subjects, ...(options['own-downloader'] && ownDownloader) };
const runs = roundsOf(options.runs, 'bench');
const chosen = Object.keys(sites).filter((name) => name.includes(positionals[0] ?? ''));
if (chosen.length === 0) {
  console.error(`bench: no site is named ${positionals[0]}; there are ${Object.keys(sites).join(', ')}`);
  process.exit(2);
}

const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
const redis = await startRedis(dir);
const rows = [];
try {
  for (const name of chosen) {
    rows.push(...(await measureSite(name)));
    console.log(tableOf(compare(rows)));
  }
} finally {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}
if (options.json) await writeFigures(options.json, { runs, rows: compare(rows) });

async function measureSite(name) {
  const stage = { dir, redis };
  const site = await sites[name](dir);
  const rounds = Object.fromEntries(Object.keys(compared).map((subject) => [subject, []]));
  try {
    for (let run = 0; run < runs; run++) {
      for (const [subject, crawl] of Object.entries(compared)) {
        rounds[subject].push({ one: await crawl(site, stage, '1'), whole: await crawl(site, stage, null) });
      }
    }
  } finally {
    await site.stop();
  }
  return Object.keys(compared).map((subject) => rowOf(name, subject, rounds[subject]));
}
