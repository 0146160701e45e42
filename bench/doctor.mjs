/**
 * `doctor --deep` on a crawl with very many pending requests in a real Redis: its time, the CPU time of the server, and its
 * longest command, whole and with one request taken out of the queue, which it must find.
 *
 *   npm run bench:doctor -- [--requests 1000000]
 *
 * The longest command is that of SLOWLOG, which also counts the time in which the server had no processor.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openFrontier } from '../dist/internal.js';
import { openOptions } from '../scripts/chaos/harness/open-options.mjs';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { pushAll, requestOf } from './frontier/requests.mjs';

const bin = fileURLToPath(new URL('../bin/crawlnode.js', import.meta.url));
const { values: given } = parseArgs({ options: { requests: { type: 'string', default: '1000000' } } });
const requests = Number(given.requests);
const DOMAINS = 5_000;

const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-doctor-'));
const redis = await startRedis(dir);
try {
  const frontier = await openFrontier(openOptions(redis.url, 'news'));
  await pushAll(frontier, 0, requests, (n) => requestOf(n, DOMAINS));
  await frontier.close();
  await writeFile(path.join(dir, 'crawlnode.yaml'), `REDIS_URL: ${redis.url}\n`);
  await redis.db.config('SET', 'slowlog-log-slower-than', '1000');
  await redis.db.config('SET', 'slowlog-max-len', '100000');
  const whole = await examine('whole');
  const [member] = await redis.db.zrevrangeBuffer('news:requests:~queue', 0, 0);
  await redis.db.zrem('news:requests:~queue', member);
  const broken = await examine('one request taken out of the queue');
  if (whole !== 0 || broken !== 1) throw new Error(`doctor ended with ${whole}, then with ${broken}`);
} finally {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}

/** One run of the executable. @returns its exit code */
async function examine(what) {
  await redis.db.slowlog('RESET');
  const cpuBefore = await cpuSeconds();
  const beganAt = performance.now();
  const code = await new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, 'doctor', 'news', '--deep'], { cwd: dir });
    child.once('close', resolve);
  });
  const seconds = (performance.now() - beganAt) / 1_000;
  const cpu = (await cpuSeconds()) - cpuBefore;
  const slow = await redis.db.slowlog('GET', '100000');
  const longestMs = Math.max(0, ...slow.map(([, , micros]) => micros)) / 1_000;
  console.log(
    `${what}: ${requests} requests: ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of the server's CPU, longest command ${longestMs.toFixed(1)} ms`,
  );
  return code;
}

async function cpuSeconds() {
  const info = await redis.db.info('cpu');
  const of = (name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)[1]);
  return of('used_cpu_user') + of('used_cpu_sys');
}
