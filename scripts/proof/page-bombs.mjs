/**
 * Pages that are small on the wire and huge once they are parsed, each crawled by the executable with default settings: 60 MB
 * of tags, attributes, comments, texts, JSON values, CSV fields, feeds and sitemaps in gzip, just under the limit of the ratio.
 * Each must end under the name given here. The table shows the peak memory and the CPU time of the crawl, and what they are
 * beside those of the same bytes as plain text, of which only `response.text` is taken.
 *
 * Needs a build: `node scripts/proof/page-bombs.mjs [part of a name] [--workers] [--small-heap]`. Exit code 1 when a bomb ends
 * under another name, a crawl crashes, or one takes more than 300 MB or 3 s beside the plain text.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import Table from 'cli-table3';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { bombs } from './page-bombs/bombs.mjs';

const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const MB = 1024 * 1024;
const MOST_MEGABYTES = 300;
const MOST_SECONDS = 3;
const wanted = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? '';
const hasWorkers = process.argv.includes('--workers');
const env = process.argv.includes('--small-heap') ? { NODE_OPTIONS: '--max-old-space-size=800' } : {};

const spider = `
import { CSVFeedSpider, SitemapSpider, Spider, XMLFeedSpider, type Response } from 'crawlnode';
import { Request } from 'crawlnode';
const [kind, argument] = JSON.parse(process.env.BOMB!) as [string, string];
const startUrls = [process.env.BOMB_URL!];
export class Page extends Spider {
  name = 'page';
  startUrls = startUrls;
  *parse(response: Response) {
    if (kind === 'text') yield { n: response.text.length };
    else if (kind === 'css') yield { n: response.css(argument).getAll().length };
    else if (kind === 'xpath') yield { n: response.xpath(argument).getAll().length };
    else if (kind === '$') yield { n: response.$(argument).length };
    else if (kind === 'links') yield { n: response.links().length };
    else if (kind === 'json') yield { n: Object.keys(response.json() as object).length };
    else if (kind === 'form') yield { n: Request.fromForm(response).url.length };
  }
}
export class Csv extends CSVFeedSpider {
  name = 'csv';
  startUrls = startUrls;
  override parseRow() { return undefined; }
}
export class Feed extends XMLFeedSpider {
  name = 'feed';
  startUrls = startUrls;
  override itertag = 'item';
  override parseNode() { return undefined; }
}
export class Sitemap extends SitemapSpider {
  name = 'sitemap';
  override sitemapUrls = startUrls;
  override parse() { return undefined; }
}
`;
const classes = { csv: 'Csv', feed: 'Feed', sitemap: 'Sitemap' };

const table = new Table({
  head: ['bomb', 'read by', 'MB', 'beside text', 'CPU s', 'beside text', 'ends as'],
});
let broken = false;
let body = Buffer.alloc(0);
let type = '';
const server = http.createServer((_, response) => {
  response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/bomb`;
try {
  const dir = await tempDir('page-bombs');
  const plain = new Map();
  for (const bomb of bombs) {
    const name = `${bomb.name} by ${bomb.by} ${bomb.argument ?? ''}`;
    if (!name.includes(wanted)) continue;
    const text = bomb.make(randomBytes(260_000).toString('base64'));
    body = gzipSync(text);
    type = bomb.type;
    const key = `${bomb.type} ${Math.round(text.length / 4_000_000)}`;
    if (!plain.has(key)) plain.set(key, await crawlOnce(dir, { by: 'text', expected: null }));
    const { megabytes, seconds } = plain.get(key);
    const run = await crawlOnce(dir, bomb);
    const besides = [run.megabytes - megabytes, run.seconds - seconds];
    const isRight = run.end === (bomb.expected ?? 'page');
    if (!isRight || run.code !== 0 || besides[0] > MOST_MEGABYTES || besides[1] > MOST_SECONDS) broken = true;
    const end = run.code === 0 ? run.end : `${run.end}, exit code ${run.code}`;
    const readBy = `${bomb.by} ${bomb.argument ?? ''}`;
    const cpu = [run.seconds.toFixed(1), besides[1].toFixed(1)];
    table.push([
      bomb.name,
      readBy,
      Math.round(run.megabytes),
      Math.round(besides[0]),
      ...cpu,
      isRight ? end : `${end}!`,
    ]);
    console.error(`${name}: ${Math.round(run.megabytes)} MB, ${run.seconds.toFixed(1)} s, ${end}`);
  }
} finally {
  server.close();
  await cleanUp();
}
console.log(table.toString());
console.log(broken ? 'proof: BROKEN' : 'proof: every bomb under its name, within its memory and time');
process.exitCode = broken ? 1 : 0;

/** One crawl of the page; peak memory and CPU time of the process that parses it. */
async function crawlOnce(dir, { by, argument }) {
  const project = path.join(dir, `${Math.random()}`);
  await mkdir(path.join(project, 'spiders'), { recursive: true });
  const isKind = by in classes;
  const source = spider.replaceAll('export class', 'class');
  await writeFile(path.join(project, 'spiders/one.ts'), `${source}export default ${classes[by] ?? 'Page'};`);
  const settings = 'ALLOW_PRIVATE_ADDRESSES: true\nROBOTSTXT_OBEY: false\nLOG_LEVEL: WARNING\n';
  await writeFile(path.join(project, 'crawlnode.yaml'), settings);
  const spiderName = isKind ? by : 'page';
  const args = [
    'crawl',
    spiderName,
    '--exit-when-done',
    '-o',
    'out.jsonl',
    ...(hasWorkers ? ['--workers', '2'] : []),
  ];
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: project,
    env: { ...process.env, ...env, BOMB: JSON.stringify([by, argument ?? '']), BOMB_URL: url },
    stdio: 'ignore',
  });
  const peak = { megabytes: 0, seconds: 0 };
  const timer = setInterval(() => {
    for (const pid of [child.pid, ...childrenOf(child.pid)]) measure(pid, peak);
  }, 15);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  const list = spawn(process.execPath, [bin, 'failed', spiderName, 'list', '--json'], {
    cwd: project,
    env: { ...process.env, BOMB: '[]', BOMB_URL: url },
  });
  let said = '';
  list.stdout.on('data', (data) => {
    said += data;
  });
  await once(list, 'close');
  const end = /"reason": ?"([^"]+)"/.exec(said)?.[1] ?? 'page';
  return { ...peak, code, end };
}

function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The largest process counts. */
function measure(pid, peak) {
  try {
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    peak.megabytes = Math.max(peak.megabytes, (kilobytes * 1024) / MB);
    peak.seconds = Math.max(peak.seconds, (user + system) / 100);
  } catch {
    // It has ended.
  }
}
