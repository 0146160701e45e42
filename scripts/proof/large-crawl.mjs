/**
 * `doctor --deep` on a crawl with very many pending requests in a real Redis: it ends without an error, finds a fault, and no
 * command of it is long.
 *
 *   node scripts/build.mjs && node scripts/proof/large-crawl.mjs [--requests 1000000]
 *
 * SLOWLOG also counts the time in which the server had no processor. So each call of an examination is sent again alone, up to 20
 * times until it is short, and its shortest time counts: the data have not changed, so each time it does the same.
 *
 * Exit code 1 when doctor fails, does not find what was broken, or has a command of 50 ms or more.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { openFrontier } from '../../dist/frontier/choose-engine.js';
import { startRedis } from './redis.mjs';

const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const { values: given } = parseArgs({ options: { requests: { type: 'string', default: '1000000' } } });
const requests = Number(given.requests);
const [DOMAINS, BATCH, LONGEST_MS, SHORT_MS, ATTEMPTS] = [5_000, 2_000, 50, 5, 20];

const dir = mkdtempSync(path.join(os.tmpdir(), 'crawlnode-large-'));
const redis = await startRedis(dir);
try {
  await fill();
  await redis.db.config('SET', 'slowlog-log-slower-than', '1000');
  await redis.db.config('SET', 'slowlog-max-len', '100000');
  const whole = await doctor('whole');
  const [member] = await redis.db.zrevrangeBuffer('news:requests:~queue', 0, 0);
  await redis.db.zrem('news:requests:~queue', member);
  const broken = await doctor('one request taken out of the queue');
  const isFound = /is in no queue/.test(broken.output);
  if (!isFound) console.log(broken.output);
  const isShort = (await longestCallMs()) < LONGEST_MS;
  process.exitCode = whole.code === 0 && broken.code === 1 && isFound && isShort ? 0 : 1;
} finally {
  await redis.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** Of the calls of an examination the longest, each by the shortest of its times. */
async function longestCallMs() {
  const calls = await callsOfExamination();
  await redis.db.config('SET', 'slowlog-log-slower-than', '0');
  const times = [];
  for (const args of calls) {
    let shortestMs = Number.POSITIVE_INFINITY;
    for (let n = 0; n < ATTEMPTS && shortestMs > SHORT_MS; n++)
      shortestMs = Math.min(shortestMs, await timeOf(args));
    times.push({ name: args[0].toString().replace(/.*(?=examine)/, ''), ms: shortestMs });
  }
  times.sort((a, b) => a.ms - b.ms);
  const [median, longest] = [times[times.length >> 1], times.at(-1)];
  console.log(
    `${calls.length} calls one by one: median ${median.ms.toFixed(1)} ms, longest ${longest.ms.toFixed(1)} ms (${longest.name})`,
  );
  return longest.ms;
}

/** The arguments of each FCALL that `doctor --deep` sends. */
async function callsOfExamination() {
  const frontier = await openCrawl();
  const calls = [];
  const { sendCommand } = Redis.prototype;
  Redis.prototype.sendCommand = function (command, ...rest) {
    if (command.name.toLowerCase() === 'fcall') calls.push(command.args);
    return sendCommand.call(this, command, ...rest);
  };
  await frontier.verify();
  Redis.prototype.sendCommand = sendCommand;
  await frontier.close();
  // Entering and leaving the crawl writes, and is over in microseconds.
  return calls.filter(([name]) => name.toString().includes('examine'));
}

async function timeOf(args) {
  const [, [error], [, [[, , micros]]]] = await redis.db
    .pipeline([
      ['slowlog', 'reset'],
      ['fcall_ro', ...args],
      ['slowlog', 'get', '1'],
    ])
    .exec();
  if (error) throw error;
  return micros / 1_000;
}

function openCrawl() {
  const name = (word) => `news:${word}`;
  return openFrontier({
    store: { engine: 'redis', address: { kind: 'standalone', url: redis.url, options: {} } },
    keys: {
      ...{ requests: name('requests'), dupefilter: name('dupefilter'), startUrls: [] },
      ...{ items: name('items'), stats: name('stats') },
    },
    startUrlsType: 'list',
    seedsFiltered: false,
    shape: {
      queueClass: 'PriorityQueue',
      dupefilter: { class: 'RFPDupeFilter' },
      fingerprinter: 'scrapy-redis',
      domainKey: 'host',
      persist: true,
    },
    allowEviction: true,
    connectTimeoutMs: 10_000,
  });
}

/** Page n of the site; its domain follows from its number. */
function requestOf(n) {
  const fingerprint = createHash('sha1').update(String(n)).digest('hex');
  const domain = `site-${n % DOMAINS}.example`;
  const record = JSON.stringify({ v: 1, u: `https://${domain}/catalogue/page-${n}.html`, n });
  return { id: fingerprint, fingerprint, record, domain, priority: 0, unfiltered: false };
}

async function fill() {
  const frontier = await openCrawl();
  for (let from = 0; from < requests; from += BATCH) {
    const some = Array.from({ length: Math.min(BATCH, requests - from) }, (_, n) => requestOf(from + n));
    await frontier.push(some, 'links');
  }
  await frontier.close();
}

/** One run of the executable, with its time and its longest command. */
async function doctor(what) {
  await redis.db.slowlog('RESET');
  writeFileSync(path.join(dir, 'crawlnode.yaml'), `REDIS_URL: ${redis.url}\n`);
  const cpuBefore = await cpuSeconds();
  const beganAt = performance.now();
  const child = spawn(process.execPath, [bin, 'doctor', 'news', '--deep'], { cwd: dir });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - beganAt) / 1000;
  const cpu = (await cpuSeconds()) - cpuBefore;
  const slow = await redis.db.slowlog('GET', '100000');
  const [, , micros = 0, command = []] = slow.toSorted((a, b) => b[2] - a[2])[0] ?? [];
  const longestMs = micros / 1000;
  console.log(
    `${what}: ${requests} requests: exit ${code} in ${seconds.toFixed(1)} s, ` +
      `CPU of the server ${cpu.toFixed(1)} s, ` +
      `${slow.length} commands over 1 ms, the longest ${longestMs.toFixed(1)} ms (${command.slice(0, 2).join(' ')})`,
  );
  if (code !== 0)
    console.log(
      output
        .split('\n')
        .filter((line) => /I\d|error/i.test(line))
        .join('\n'),
    );
  return { code, output, longestMs };
}

async function cpuSeconds() {
  const info = await redis.db.info('cpu');
  const value = (name) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(info)[1]);
  return value('used_cpu_sys') + value('used_cpu_user');
}
