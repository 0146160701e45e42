/**
 * A hostile web: 137 hostile pages among 900 good ones on both engines; 32 silent servers before 300 good pages; eight endless
 * bodies; four pages of 4 MB of nested tags, 6 KB on the wire, among 100 good ones. Each hostile page must end under the name
 * that `hostile-web/cases.mjs` gives it.
 *
 * Needs a build and redis-server: `node scripts/proof/hostile-web.mjs [mixed|silent|endless|nested]`. Exit code 1 when a page is
 * lost or ends under another name, a node crashes, or a bound is passed.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import Table from 'cli-table3';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { cases } from './hostile-web/cases.mjs';
import { startHostileSite } from './hostile-web/site.mjs';
import { startRedis } from './redis.mjs';

const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const MB = 1024 * 1024;
const wanted = process.argv[2] ?? '';

const spider = `
import { readFileSync } from 'node:fs';
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'visit';
  startUrls = JSON.parse(readFileSync('urls.json', 'utf8'));
  parse(response: Response) {
    const links = response.url.includes('/nested') ? response.css('div a::attr(href)').length : response.links().length;
    return [{ url: response.request.url.slice(0, 200), bytes: response.body.length, status: response.status, title: response.css('title::text').get()?.slice(0, 40), links }];
  }
}
`;

const table = new Table({
  head: ['scenario', 'good pages', 'seconds for them', 'in all', 'MB', 'exit code', 'misnamed'],
});
let broken = false;
try {
  const scenarios = {
    'mixed, embedded': () => mixed(null),
    'mixed, Redis': async () => {
      const redis = await startRedis(await tempDir('hostile-redis'));
      try {
        return await mixed(redis.url);
      } finally {
        await redis.stop();
      }
    },
    'silent servers first': silent,
    'endless bodies': endless,
    'nested tags': nested,
  };
  for (const [name, run] of Object.entries(scenarios)) {
    if (!name.includes(wanted)) continue;
    const { good, goodSeconds, seconds, megabytes, code, misnamed, bounds } = await run();
    table.push([name, good, goodSeconds.toFixed(1), seconds.toFixed(1), megabytes, code, misnamed.length]);
    for (const line of misnamed) console.error(`${name}: ${line}`);
    const isWithin = goodSeconds <= bounds.goodSeconds && megabytes <= bounds.megabytes;
    if (misnamed.length > 0 || code !== 0 || good !== bounds.good || !isWithin) broken = true;
  }
} finally {
  await cleanUp();
}
console.log(table.toString());
console.log(broken ? 'proof: BROKEN' : 'proof: all good pages in time, each hostile one under its name');
process.exitCode = broken ? 1 : 0;

/** Seeds that need no server of ours, and how each ends. */
function elsewhere(port) {
  return {
    'http://127.2.0.1:1/refused': ['connection_refused'],
    'http://does-not-exist.invalid/': ['dns_not_found', 'dns_try_again'],
    [`https://127.2.0.2:${port}/tls-on-http`]: ['tls'],
    'http://unix/socket': ['bad_request'],
    'http://169.254.169.254/latest/meta-data': ['private_address'],
    'http://[fe80::1]/': ['private_address'],
    'http://[::ffff:169.254.1.1]/': ['private_address'],
    [`http://127.2.0.3:${port}/good?${'q'.repeat(100_000)}`]: ['item'],
  };
}

async function mixed(redisUrl) {
  const site = await startHostileSite(cases);
  const more = elsewhere(site.port);
  const hostile = [...Object.values(site.urls), ...Object.keys(more)];
  const urls = spread(hostile, site.goodUrls(900));
  const settings = { DOWNLOAD_TIMEOUT: 6, RETRY_TIMES: 1, RETRY_AFTER_MAX: 3 };
  const run = await crawl(urls, redisUrl === null ? settings : { ...settings, REDIS_URL: redisUrl });
  const ended = await run.endings();
  const misnamed = [];
  const check = (url, expected) => {
    const is = ended(url);
    if (!expected.includes(is)) misnamed.push(`${url.slice(0, 100)} ended as ${is}, not ${expected}`);
  };
  for (const [name, url] of Object.entries(site.urls)) check(url, [cases[name][1]]);
  for (const [url, expected] of Object.entries(more)) check(url, expected);
  await site.close();
  const distinct = site.goodUrls(900).filter((url) => ended(url) === 'item').length;
  return {
    ...run.figures(site, 900),
    good: distinct,
    misnamed,
    bounds: { good: 900, goodSeconds: 5, megabytes: 300 },
  };
}

async function silent() {
  const mute = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`mute${n}`, [() => {}, 'timeout']]));
  const site = await startHostileSite(mute);
  const urls = [...Object.values(site.urls), ...site.goodUrls(300)];
  const run = await crawl(urls, {}, () => site.good.askedAtMs.length === 300);
  await site.close();
  const good = site.good.askedAtMs.length;
  return {
    ...run.figures(site, 300),
    good,
    misnamed: [],
    bounds: { good: 300, goodSeconds: 20, megabytes: 300 },
  };
}

async function endless() {
  const bodies = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`endless${n}`, cases.endless]));
  const site = await startHostileSite(bodies);
  const run = await crawl(Object.values(site.urls), {});
  const ended = await run.endings();
  const misnamed = Object.values(site.urls).filter((url) => ended(url) !== 'too_large');
  await site.close();
  return { ...run.figures(site, 0), good: 0, misnamed, bounds: { good: 0, goodSeconds: 0, megabytes: 600 } };
}

async function nested() {
  const body = gzipSync('<div>'.repeat(4_000_000 / '<div>'.length), { level: 9 });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const page = Buffer.concat([Buffer.from(head), body]);
  const deep = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`nested${n}`, [page, 'item']]));
  const site = await startHostileSite(deep);
  const run = await crawl(spread(Object.values(site.urls), site.goodUrls(100)), {});
  const ended = await run.endings();
  const misnamed = Object.values(site.urls).filter((url) => ended(url) !== 'item');
  const good = site.goodUrls(100).filter((url) => ended(url) === 'item').length;
  await site.close();
  return {
    ...run.figures(site, 100),
    good,
    misnamed,
    bounds: { good: 100, goodSeconds: 20, megabytes: 1_200 },
  };
}

/** Hostile URLs among the good ones, evenly. */
function spread(hostile, good) {
  const every = good.length / hostile.length;
  return hostile.flatMap((url, n) => [
    url,
    ...good.slice(Math.round(n * every), Math.round((n + 1) * every)),
  ]);
}

/** Crawl the URLs with one node. @param isOver asked now and then; true ends the node as Ctrl-C twice does. */
async function crawl(urls, settings, isOver = () => false) {
  const dir = await tempDir('hostile');
  const write = (file, text) => writeFile(path.join(dir, file), text);
  await write('visit.ts', spider);
  await write('urls.json', JSON.stringify(urls));
  const all = { SPIDER_MODULES: ['visit.ts'], ROBOTSTXT_OBEY: false, ...settings };
  await write('crawlnode.yaml', JSON.stringify(all));
  const startedAt = performance.now();
  const args = [bin, 'crawl', 'visit', '--exit-when-done', '-o', 'items.jsonl', '-L', 'WARNING'];
  const node = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  let code = null;
  const exited = once(node, 'exit').then(([exitCode, signal]) => {
    code = exitCode ?? signal;
  });
  let peakKb = 0;
  let isEnded = false;
  while (code === null) {
    peakKb = Math.max(peakKb, await peakOf(node.pid));
    if (!isEnded && isOver()) {
      isEnded = true;
      node.kill('SIGINT');
      await sleep(500);
      node.kill('SIGINT');
    }
    await Promise.race([exited, sleep(100)]);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    async endings() {
      const lines = (text) =>
        text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
      const items = lines(await readFile(path.join(dir, 'items.jsonl'), 'utf8'));
      const failed = ['failed', 'visit', 'list', '--json'];
      const { stdout } = await promisify(execFile)(process.execPath, [bin, ...failed], {
        cwd: dir,
        maxBuffer: 64 * MB,
      });
      const reasons = lines(stdout);
      const hostOf = (url) => new URL(url).host;
      const isGood = (url) => url.includes('/good/');
      return (url) => {
        const belongs = (other) =>
          isGood(url) ? other === url : !isGood(other) && hostOf(other) === hostOf(url);
        const failure = reasons.find((each) => belongs(each.url));
        if (failure !== undefined) return failure.reason;
        return items.some((item) => belongs(item.url)) ? 'item' : 'done';
      };
    },
    figures(site, wantedGood) {
      const asked = site.good.askedAtMs.sort((a, b) => a - b);
      const last = asked[wantedGood - 1] ?? Number.POSITIVE_INFINITY;
      const goodSeconds = wantedGood === 0 ? 0 : (last - (asked[0] ?? 0)) / 1_000;
      return {
        goodSeconds,
        seconds,
        megabytes: Math.round(peakKb / 1024),
        code: isEnded && code === 130 ? 0 : code,
      };
    },
  };
}

/** Most memory the process has had, in KB; 0 when it is gone. */
async function peakOf(pid) {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0);
}
