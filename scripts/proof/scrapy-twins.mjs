/**
 * The examples give the same items as Scrapy spiders that do the same job on the same site, and are not much longer. Run by
 * `node scripts/proof/scrapy-twins.mjs` after a build; it needs Debian's python3-scrapy.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import Table from 'cli-table3';
import { startExampleSite } from '../../examples/site.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = path.join(root, 'examples');
const twins = path.join(root, 'scripts', 'proof', 'scrapy-twins');
/** Debian's, whose package python3-scrapy is; another python3 on PATH would not see it. */
const python = '/usr/bin/python3';
/** No example is longer than this, as a multiple of its twin. */
const MAX_RATIO = 1.3;

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-twins-'));
const site = await startExampleSite();
const table = new Table({ head: ['job', 'items', 'same', 'lines', "Scrapy's", 'ratio'] });
let broken = false;
try {
  const database = path.join(dir, 'products.sqlite');
  const tables = new DatabaseSync(database);
  tables.exec('CREATE TABLE product (id INTEGER); INSERT INTO product VALUES (2), (5), (11)');
  tables.close();
  const jobs = [
    'quotes',
    'pagination',
    'details',
    'login',
    'json-api',
    'infinite-scroll',
    'sitemap',
    'rules',
  ];
  for (const job of [...jobs, 'statuses', 'arguments']) await compare(job, {});
  await compare('database', { database });
  await compareTwoRuns('incremental');
  await compareApps();
  await compareTests();
} finally {
  await site.close();
  await rm(dir, { recursive: true, force: true });
}
console.log(table.toString());
console.log(broken ? 'proof: BROKEN' : 'proof: the same items, and no example is much longer');
process.exitCode = broken ? 1 : 0;

async function compare(job, args) {
  report(job, await crawlnodeItems(job, args), await scrapyItems(job, args), await linesOf(job));
}

/** Both run twice, and the site grows in between: the second run gives only what is new. */
async function compareTwoRuns(job) {
  for (const round of ['first', 'second']) {
    const [ours, theirs] = [await crawlnodeItems(job, {}), await scrapyItems(job, {})];
    report(`${job}, ${round} run`, ours, theirs, await linesOf(job));
    site.addNews(2);
  }
}

async function compareApps() {
  const app = path.join(examples, 'in-a-program', 'app.mjs');
  const env = { ...process.env, DELAY: '0' };
  const { stdout: ours } = await run(process.execPath, [app, `${site.origin}/`], { cwd: dir, env });
  const { stdout: theirs } = await run(python, [path.join(twins, 'app.py'), `${site.origin}/`], {
    cwd: dir,
    env,
  });
  const itemsOf = (text) => Object.entries(JSON.parse(text).authors);
  const lines = [await countLines(app), await countLines(path.join(twins, 'app.py'))];
  report('in-a-program', itemsOf(ours), itemsOf(theirs), lines);
}

/** The tests assert the items; here both must pass. */
async function compareTests() {
  const test = path.join(examples, 'test', 'quotes.test.ts');
  const twin = path.join(twins, 'test_quotes.py');
  await run(process.execPath, [path.join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', test], {
    cwd: root,
  });
  await run(python, [twin, path.join(examples, 'test', 'quotes.html')], { cwd: twins });
  report('offline test', [], [], [await countLines(test), await countLines(twin)]);
}

async function crawlnodeItems(job, args) {
  const file = path.join(dir, `${job}.jsonl`);
  await rm(file, { force: true });
  const given = Object.entries({ site: site.origin, ...args }).flatMap(([name, value]) => [
    '-a',
    `${name}=${value}`,
  ]);
  const bin = path.join(root, 'bin', 'crawlnode.js');
  const jobDir = ['-s', `JOBDIR=${path.join(dir, job)}`];
  await run(process.execPath, [bin, 'crawl', job, '-O', file, '--exit-when-done', ...jobDir, ...given], {
    cwd: examples,
  });
  return readItems(file);
}

async function scrapyItems(job, args) {
  const file = path.join(dir, `${job}-scrapy.jsonl`);
  const given = Object.entries({ site: site.origin, ...args }).flatMap(([name, value]) => [
    '-a',
    `${name}=${value}`,
  ]);
  const spider = twinOf(job);
  await run(python, ['-m', 'scrapy', 'runspider', spider, '-O', file, '-L', 'ERROR', ...given], {
    cwd: dir,
  });
  return readItems(file);
}

async function readItems(file) {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

function report(job, ours, theirs, [lines, twinLines]) {
  const isSame = isDeepStrictEqual(sorted(ours), sorted(theirs));
  const ratio = lines / twinLines;
  if (!isSame || ratio > MAX_RATIO) broken = true;
  table.push([job, ours.length, isSame, lines, twinLines, ratio.toFixed(2)]);
}

/** Pages come in any order, and so do the keys of an item. */
function sorted(items) {
  return items.map((item) => JSON.stringify(item, Object.keys(item).sort())).sort();
}

async function linesOf(job) {
  return [await countLines(path.join(examples, 'spiders', `${job}.ts`)), await countLines(twinOf(job))];
}

function twinOf(job) {
  return path.join(twins, `${job.replaceAll('-', '_')}_spider.py`);
}

/** Lines that are neither blank nor only a comment. */
async function countLines(file) {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !/^(#|\/\/|\/\*\*|\*[ /])/.test(line)).length;
}
