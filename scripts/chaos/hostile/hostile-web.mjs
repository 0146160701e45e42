/**
 * H1: a hostile web. 138 hostile pages, one of 40 MB with a million links, among 900 good ones; that page alone among them;
 * 32 silent servers before 300 good pages; eight endless bodies; four pages of 4 MB of nested tags, 6 KB on the wire, among 100 good ones. Each hostile page must end under the name that cases.mjs
 * gives it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { command, newProject, start } from '../harness/project.mjs';
import { startStore } from '../harness/redis.mjs';
import { peakOfProcess } from '../harness/samples.mjs';
import { cases } from './cases.mjs';
import { startHostileSite } from './raw-site.mjs';

const spider = `
import { readFileSync } from 'node:fs';
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = JSON.parse(readFileSync('urls.json', 'utf8'));
  parse(response: Response) {
    const links = response.url.includes('/nested') ? response.css('div a::attr(href)').length : response.links().length;
    return [{ url: response.request.url.slice(0, 200), bytes: response.body.length, status: response.status, title: response.css('title::text').get()?.slice(0, 40), links }];
  }
}
`;

/** Times the good pages may take beside another page what they take alone. */
const MOST_TIMES_ALONE = 2;

/**
 * What each measures, and its bounds: good pages, the seconds until the last of them (or twice their time alone), memory of the
 * node in MB.
 */
const scenarios = [
  ['138 hostile pages among 900 good ones', mixed, { good: 900, goodSeconds: 8, megabytes: 450 }],
  ['a page of a million links among 900 good ones', manyLinks, { good: 900, megabytes: 400 }],
  ['32 silent servers before 300 good pages', silent, { good: 300, goodSeconds: 20, megabytes: 300 }],
  ['8 endless bodies', endless, { good: 0, goodSeconds: 0, megabytes: 600 }],
  [
    '4 pages of 4 MB of nested tags among 100 good ones',
    nested,
    { good: 100, goodSeconds: 20, megabytes: 600 },
  ],
];

export const hostileWeb = scenarios.map(([fault, measure, bounds]) => ({
  row: 'H1',
  fault,
  isLong: true,
  // Its time is bounded.
  isAlone: true,
  engines: measure === mixed ? ['redis', 'embedded'] : ['embedded'],
  async run({ engine }) {
    const redis = engine === 'redis' ? await startStore() : null;
    const { good, goodSeconds, megabytes, code, misnamed, said, aloneSeconds } = await measure(redis);
    const problems = [...misnamed];
    const isRight =
      code === 0 || (code === 1 && bounds.good === 0 && said.includes('no page of the run succeeded'));
    if (!isRight) problems.push(`the node ended with ${code}: ${said.slice(-400)}`);
    const missing = bounds.good - good;
    if (missing !== 0) problems.push(`${missing} good pages are missing`);
    const mostSeconds = bounds.goodSeconds ?? MOST_TIMES_ALONE * aloneSeconds;
    if (goodSeconds > mostSeconds) problems.push(`the good pages took ${goodSeconds.toFixed(1)} s`);
    if (megabytes > bounds.megabytes) problems.push(`the node needed ${megabytes} MB`);
    const alone = aloneSeconds === undefined ? '' : ` (${aloneSeconds.toFixed(1)} s alone)`;
    const note = `good pages in ${goodSeconds.toFixed(1)} s${alone}, ${megabytes} MB`;
    return { problems, pages: good, missing, note };
  },
}));

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

async function mixed(redis) {
  const site = await startHostileSite(cases);
  const more = elsewhere(site.port);
  const hostile = [...Object.values(site.urls), ...Object.keys(more)];
  const urls = spread(hostile, site.goodUrls(900));
  const settings = { DOWNLOAD_TIMEOUT: 6, RETRY_TIMES: 1, RETRY_AFTER_MAX: 3 };
  const run = await crawl(redis, urls, settings);
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
  return { ...run.figures(site, 900), good: distinct, misnamed };
}

async function manyLinks(redis) {
  const empty = await startHostileSite({});
  const alone = await crawl(redis, empty.goodUrls(900), {});
  const { goodSeconds: aloneSeconds } = alone.figures(empty, 900);
  await empty.close();
  const site = await startHostileSite({ links_1m: cases.links_1m });
  const run = await crawl(redis, spread(Object.values(site.urls), site.goodUrls(900)), {});
  const ended = await run.endings();
  const misnamed = Object.values(site.urls).filter((url) => ended(url) !== 'item');
  const good = site.goodUrls(900).filter((url) => ended(url) === 'item').length;
  await site.close();
  return { ...run.figures(site, 900), aloneSeconds, good, misnamed };
}

async function silent(redis) {
  const mute = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`mute${n}`, [() => {}, 'timeout']]));
  const site = await startHostileSite(mute);
  const urls = [...Object.values(site.urls), ...site.goodUrls(300)];
  const run = await crawl(redis, urls, {}, () => site.good.askedAtMs.length === 300);
  await site.close();
  const good = site.good.askedAtMs.length;
  return { ...run.figures(site, 300), good, misnamed: [] };
}

async function endless(redis) {
  const bodies = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`endless${n}`, cases.endless]));
  const site = await startHostileSite(bodies);
  const run = await crawl(redis, Object.values(site.urls), {});
  const ended = await run.endings();
  const misnamed = Object.values(site.urls).filter((url) => ended(url) !== 'too_large');
  await site.close();
  return { ...run.figures(site, 0), good: 0, misnamed };
}

async function nested(redis) {
  const body = gzipSync('<div>'.repeat(4_000_000 / '<div>'.length), { level: 9 });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const page = Buffer.concat([Buffer.from(head), body]);
  const deep = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`nested${n}`, [page, 'too_complex']]));
  const site = await startHostileSite(deep);
  const run = await crawl(redis, spread(Object.values(site.urls), site.goodUrls(100)), {});
  const ended = await run.endings();
  const misnamed = Object.values(site.urls).filter((url) => ended(url) !== 'too_complex');
  const good = site.goodUrls(100).filter((url) => ended(url) === 'item').length;
  await site.close();
  return { ...run.figures(site, 100), good, misnamed };
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
async function crawl(redis, urls, settings, isOver = () => false) {
  const project = await newProject(redis, settings, spider);
  await writeFile(path.join(project.dir, 'urls.json'), JSON.stringify(urls));
  const args = ['crawl', 'walk', '--exit-when-done', '-o', 'items.jsonl', '-L', 'WARNING'];
  const node = start(project, args);
  let [peakMb, isEnded] = [0, false];
  while (!node.over()) {
    peakMb = Math.max(peakMb, peakOfProcess(node.pid));
    if (!isEnded && isOver()) {
      isEnded = true;
      node.signal('SIGINT');
      await sleep(500);
      node.signal('SIGINT');
    }
    await Promise.race([node.ended, sleep(100)]);
  }
  const { code, signal } = await node.ended;
  return {
    async endings() {
      const lines = (text) =>
        text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
      const items = lines(await readFile(path.join(project.dir, 'items.jsonl'), 'utf8'));
      const reasons = lines((await command(project, ['failed', 'walk', 'list', '--json'])).stdout);
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
      return {
        goodSeconds: wantedGood === 0 ? 0 : (last - (asked[0] ?? 0)) / 1_000,
        megabytes: Math.round(peakMb),
        code: isEnded && code === 130 ? 0 : (code ?? signal),
        said: node.said,
      };
    },
  };
}
