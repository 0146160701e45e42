/**
 * A dupefilter that real Scrapy filled is taken over: python3-doc served by nginx, crawled by Scrapy with its
 * fingerprints in Redis, then by crawlnode over the same sets. Not one known URL is fetched again, and each one that is
 * taken out of the set is fetched once. Run by `node scripts/proof/scrapy-redis.mjs`; it needs Debian's nginx,
 * python3-doc, redis-server, python3-scrapy and python3-redis.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { startNginx } from './nginx.mjs';
import { startRedis } from './redis.mjs';

const run = promisify(execFile);
const docs = '/usr/share/doc/python3-doc/html';
const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const spiders = fileURLToPath(new URL('../../spiders', import.meta.url));
const knownPages = fileURLToPath(new URL('scrapy-redis/known_pages.py', import.meta.url));
/** Debian's, whose packages these are; another python3 on PATH would not see them. */
const python = '/usr/bin/python3';
/** So many known URLs are taken out of the set. */
const FORGOTTEN = 25;

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-proof-'));
const redis = await startRedis(dir);
const { db, url } = redis;
const site = await startNginx(docs, dir);
const table = new Table({
  head: ['REQUEST_FINGERPRINTER', 'known', 'fetched again', 'taken out', 'of them fetched', 'others'],
});
let broken = false;
try {
  const start = `${site.url}index.html`;
  await run(python, [knownPages, start, url], { maxBuffer: 2 ** 26 });
  console.log(`Scrapy: ${(await site.requests()).length} requests from ${start}`);
  await writeFile(
    path.join(dir, 'crawlnode.yaml'),
    `REDIS_URL: ${url}\nSPIDER_MODULES: [${spiders}]\nROBOTSTXT_OBEY: false\n`,
  );
  for (const formula of ['scrapy-redis', 'scrapy', 'scrapy-2.6']) await prove(formula, start);
} finally {
  await site.stop();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}
console.log(table.toString());
console.log(broken ? 'proof: BROKEN' : 'proof: no known URL fetched again, each one taken out fetched once');
process.exitCode = broken ? 1 : 0;

async function prove(formula, start) {
  const urls = await db.hgetall(`${formula}:urls`);
  const known = Object.keys(urls);
  if (known.length < 2 * FORGOTTEN)
    throw new Error(`Scrapy left ${known.length} URLs, too few to prove anything`);
  const set = ['-s', `REQUEST_FINGERPRINTER=${formula}`];

  // A seed is fetched whatever the dupefilter says; nothing that it leads to is.
  await takeOver(formula);
  await crawlnode(['seed', 'docs', start, ...set]);
  await crawlnode(['crawl', 'docs', '--exit-when-done', ...set]);
  const again = (await site.requests()).filter((at) => at !== '/index.html' && at !== '/robots.txt');

  // Every known URL as a filtered seed: those taken out are fetched, and no other.
  await takeOver(formula);
  const out = known.sort(() => Math.random() - 0.5).slice(0, FORGOTTEN);
  await db.srem('docs:dupefilter', ...out.map((each) => urls[each]));
  await writeFile(path.join(dir, 'known.txt'), known.join('\n'));
  await crawlnode(['seed', 'docs', '--file', 'known.txt', '-s', 'SEEDS_FILTERED=true', ...set]);
  await crawlnode(['crawl', 'docs', '--exit-when-done', ...set]);
  const requests = (await site.requests()).filter((at) => at !== '/robots.txt');
  const wanted = new Set(out.map(pathOf));
  const once = new Set(requests.filter((at) => wanted.has(at)));
  const others = requests.length - once.size;
  if (again.length > 0 || once.size !== wanted.size || others > 0) broken = true;
  table.push([formula, known.length, again.length, wanted.size, once.size, others]);
}

/** The set that Scrapy filled, as the dupefilter of a spider that crawlnode has not run yet. */
async function takeOver(formula) {
  await crawlnode(['reset', 'docs', '--all', '--yes']);
  await db.copy(`${formula}:dupefilter`, 'docs:dupefilter');
  await site.forget();
}

async function crawlnode(args) {
  const { stdout } = await run(process.execPath, [bin, ...args], { cwd: dir, maxBuffer: 2 ** 26 });
  return stdout;
}

/** As the access log has it. */
function pathOf(each) {
  const { pathname, search } = new URL(each);
  return pathname + search;
}
