/**
 * The script of docs/guide/from-scrapy-redis.md converts a queue that real Scrapy filled, and crawlnode then gives the items
 * that Scrapy would have given: those of rules, with cb_kwargs, headers, cookies, bodies and errbacks. Run by
 * `node scripts/proof/queue-to-seeds.mjs` after a build; it needs Debian's redis-server, python3-scrapy and python3-redis.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startExampleSite } from '../../examples/site.mjs';
import { startRedis } from './redis.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const fillQueue = path.join(root, 'scripts', 'proof', 'scrapy-redis', 'fill_queue.py');
/** Debian's, whose packages these are; another python3 on PATH would not see them. */
const python = '/usr/bin/python3';

/** The spider of fill_queue.py. Its start pages are crawled already. */
const spider = `import { CrawlSpider, type Failure, type Response } from 'crawlnode';

export default class Shop extends CrawlSpider {
  name = 'shop';
  rules = [{ allow: /\\/category\\// }, { allow: /\\/product\\//, callback: this.parseProduct }];

  *parseProduct(response: Response) {
    yield { name: response.css('h1::text').get() };
  }

  *parseAccount(response: Response, { who = null }: { who?: string | null }) {
    yield { secret: response.css('p.secret::text').get(), who };
  }

  *parseFound(response: Response) {
    for (const { name } of response.json<{ results: { name: string }[] }>().results) yield { found: name };
  }

  *onGone(failure: Failure) {
    yield { gone: failure.request.url };
  }
}
`;

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-queue-'));
const redis = await startRedis(dir);
const site = await startExampleSite();
try {
  const whole = linesOf(await run(python, [fillQueue, site.origin, redis.url, 'whole']));
  const half = linesOf(await run(python, [fillQueue, site.origin, redis.url]));
  const pending = await redis.db.zcard('shop:requests');

  const guide = await readFile(path.join(root, 'docs', 'guide', 'from-scrapy-redis.md'), 'utf8');
  const [, script] = /```python\n(import json, pickle[\s\S]*?)```/.exec(guide);
  const own = script.replace('redis://127.0.0.1:6379', redis.url).replace('docs:requests', 'shop:requests');
  await writeFile(path.join(dir, 'queue_to_seeds.py'), own);
  const { stdout: seeds, stderr } = await run(python, ['queue_to_seeds.py'], { cwd: dir });
  await writeFile(path.join(dir, 'pending.jsonl'), seeds);

  await mkdir(path.join(dir, 'spiders'));
  await writeFile(path.join(dir, 'spiders', 'shop.ts'), spider);
  await writeFile(path.join(dir, 'crawlnode.yaml'), `REDIS_URL: ${redis.url}\n`);
  await crawlnode('reset', 'shop', '--only', 'queue', '--yes');
  await crawlnode('seed', 'shop', '--file', 'pending.jsonl');
  await crawlnode('crawl', 'shop', '--exit-when-done', '-O', 'rest.jsonl');
  const rest = (await readFile(path.join(dir, 'rest.jsonl'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '');

  const given = new Set([...half, ...rest].map(canonical));
  const missing = [...new Set(whole.map(canonical))].filter((item) => !given.has(item));
  const others = [...given].filter((item) => !whole.map(canonical).includes(item));
  console.log(
    `${pending} pending requests: Scrapy gave ${half.length} items before, crawlnode ${rest.length} after`,
  );
  console.log(
    `of the ${whole.length} items of Scrapy's whole crawl ${missing.length} are missing`,
    missing,
    others,
  );
  if (stderr !== '') console.log(stderr);
  const broken = missing.length > 0 || others.length > 0 || stderr !== '' || pending === 0;
  console.log(broken ? 'proof: BROKEN' : 'proof: every item of the old queue came');
  process.exitCode = broken ? 1 : 0;
} finally {
  await site.close();
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
}

async function crawlnode(...args) {
  const { stdout, stderr } = await run(process.execPath, [path.join(root, 'bin', 'crawlnode.js'), ...args], {
    cwd: dir,
  });
  console.log(`${stdout}${stderr}`.trim());
}

function linesOf({ stdout }) {
  return stdout.split('\n').filter((line) => line !== '');
}

function canonical(line) {
  const item = JSON.parse(line);
  return JSON.stringify(item, Object.keys(item).sort());
}
