/** One run of one subject on a site, in a process of its own: what it cost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { redisCost } from './redis-cost.mjs';
import { titlesCrawl } from './titles-crawl.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** A subject that hangs ends the bench, not the patience of whoever runs it. */
const LIMIT_MS = 180_000;

/** The subjects, the floor first; each crawls a whole site, or `limit` pages of it. */
export const subjects = {
  'bare loop': (site, stage, limit) => bareLoop(site, stage, limit, []),
  redis: (site, stage, limit) => crawl({ REDIS_URL: stage.redis.url }, site, stage, limit),
  embedded: (site, stage, limit) => crawl({}, site, stage, limit),
};

/** Another floor, for who asks how much of the difference is the download. */
export const ownDownloader = {
  'bare loop, own downloader': (site, stage, limit) => bareLoop(site, stage, limit, ['--own-downloader']),
};

function bareLoop(site, stage, limit, options) {
  const args = [here('bare-loop.mjs'), site.url, site.within, ...(limit ? [limit] : []), ...options];
  return run(args, site, stage);
}

/** @param stage a folder for files, and the Redis server of this bench: { dir, redis: { url, db } }. */
async function crawl(engine, site, stage, limit) {
  const { project, args } = await titlesCrawl(stage.dir, site, engine);
  if (limit) args.push('--max-pages', limit);
  if (engine.REDIS_URL === undefined) return run(args, site, stage, project);

  await stage.redis.db.flushall();
  const before = await redisCost(stage.redis.db);
  const result = await run(args, site, stage, project);
  const after = await redisCost(stage.redis.db);
  for (const name of Object.keys(after)) result[name] = after[name] - before[name];
  return result;
}

/** @returns ms, cpuMs (all threads), maxRssMb and the pages served. */
async function run(args, site, { dir }, cwd = dir) {
  await site.served();
  const startedAt = performance.now();
  const cost = await metered(args, cwd, path.join(dir, 'meter.json'));
  return { ms: performance.now() - startedAt, ...cost, pages: await site.served() };
}

/** One process of Node to its end. @param file where it leaves what it cost. @returns cpuMs (all threads), maxRssMb */
export async function metered(args, cwd, file, limitMs = LIMIT_MS) {
  const { REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', here('cpu-meter.mjs'), ...args], {
    cwd,
    env: { ...env, CPU_METER_FILE: file },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return JSON.parse(await readFile(file, 'utf8'));
}
