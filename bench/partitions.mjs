/**
 * What partitions cost and save on the side of Redis: the frontier alone, with 1, 2 and 4 partitions on four servers. Each page
 * is leased, and settled with links of which most lead to other domains. Pages per second of a server are pages by its CPU time
 * (INFO), so the result does not depend on how fast this process is, nor on what else the machine does.
 *
 *   node scripts/build.mjs && node bench/partitions.mjs [--pages 20000]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openFrontier } from '../dist/frontier/choose-engine.js';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { joinAs, optionsOf, requestOf } from './partitions/crawl.mjs';

const { values: given } = parseArgs({ options: { pages: { type: 'string', default: '20000' } } });
const pages = Number(given.pages);
const SERVERS = 4;
const DOMAINS = 200;
const LINKS = 10;
const SLOTS = 64;

const dir = mkdtempSync(path.join(os.tmpdir(), 'crawlnode-bench-'));
const servers = [];
for (let n = 0; n < SERVERS; n++) servers.push(await startRedis(dir));
console.log(
  '| partitions | CPU of each server, ms | µs a page, all servers | pages/s of the busiest server |',
);
console.log('|---|---|---|---|');
try {
  for (const partitions of [1, 2, 4]) console.log(await measure(partitions));
} finally {
  for (const { stop } of servers) await stop();
  rmSync(dir, { recursive: true, force: true });
}

async function measure(partitions) {
  const urls = servers.slice(0, partitions).map(({ url }) => url);
  const frontier = await openFrontier(optionsOf(`bench${partitions}`, urls));
  await joinAs(frontier);
  await frontier.push(
    Array.from({ length: DOMAINS }, (_, n) => requestOf(n, DOMAINS)),
    'links',
  );
  const before = await Promise.all(servers.map(cpuOf));
  let done = 0;
  while (done < pages) {
    const { leases } = await frontier.lease(SLOTS, 0);
    await Promise.all(
      leases.map((lease) => {
        const n = Number(JSON.parse(lease.record).n);
        // A tree of pages: the children of a page, and links that other pages have too.
        const links = Array.from({ length: LINKS }, (_, i) =>
          requestOf(i < 2 ? 2 * n + DOMAINS + i : (n * 7 + i) % pages, DOMAINS),
        );
        return frontier.settle(
          lease,
          { kind: 'done', reason: 'done', status: 200, attempts: 1 },
          { items: ['{"n":1}'], feedItems: [], requests: links, stats: { item_scraped_count: 1 } },
        );
      }),
    );
    done += leases.length;
  }
  const after = await Promise.all(servers.map(cpuOf));
  const used = after.map((seconds, n) => seconds - before[n]).slice(0, partitions);
  await frontier.leave('shutdown');
  await frontier.close();
  const all = used.reduce((sum, seconds) => sum + seconds, 0);
  const each = used.map((seconds) => Math.round(seconds * 1000)).join(', ');
  return `| ${partitions} | ${each} | ${Math.round((all * 1e6) / done)} | ${Math.round(done / Math.max(...used))} |`;
}

/** CPU seconds of a server, its system calls included. */
async function cpuOf({ db }) {
  const info = await db.info('cpu');
  const value = (name) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(info)[1]);
  return value('used_cpu_sys') + value('used_cpu_user');
}
