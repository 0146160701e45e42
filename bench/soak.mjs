/**
 * Memory of a node over many pages: `npm run bench:soak`, `npm run bench:soak -- 20000 embedded`. A generated site of
 * 100,000 small pages, the node's RSS at every tenth of them, and whether it stays flat.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { generated } from './page-cost/sites.mjs';
import { titlesCrawl } from './page-cost/titles-crawl.mjs';

const LOOK_MS = 500;
/** What a node may take at any time, and by how much its end may tower over its beginning. */
const MOST_MB = 260;
const FLAT = 1.1;
const pages = Number(process.argv[2] ?? 100_000);
const engines = process.argv[3] ? [process.argv[3]] : ['redis', 'embedded'];

const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-soak-'));
const redis = await startRedis(dir);
const site = await generated({ pages, links: 20, kilobytes: 4, hosts: 1 });
try {
  for (const engine of engines) console.log(engine, JSON.stringify(await soak(engine)));
} finally {
  await site.stop();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}

/**
 * @returns RSS in MB at each tenth, the largest of them, how much the last three tower over the second to fourth, and
 *   whether that is within bounds.
 */
async function soak(engine) {
  const settings = engine === 'redis' ? { REDIS_URL: redis.url } : {};
  const { project, args } = await titlesCrawl(dir, site, settings);
  const { REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const exit = once(child, 'exit');
  const tenths = [];
  let served = 0;
  let largest = 0;
  for (;;) {
    const ended = await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, LOOK_MS))]);
    served += await site.served();
    if (ended !== undefined) break;
    const rssMb = rssMbOf(child.pid);
    largest = Math.max(largest, rssMb);
    if (served >= ((tenths.length + 1) * pages) / 10) tenths.push(rssMb);
  }
  const [code] = await exit;
  if (code !== 0) throw new Error(`the crawl on ${engine} ended with ${code}`);
  const mean = (some) => some.reduce((sum, mb) => sum + mb, 0) / some.length;
  const growth = mean(tenths.slice(-3)) / mean(tenths.slice(1, 4));
  return { pages: served, rssMb: tenths, largest, growth, within: largest <= MOST_MB && growth <= FLAT };
}

/** 0 for one that has just ended. */
function rssMbOf(pid) {
  const [, kilobytes = 0] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(kilobytes / 1024);
}
