/** R31: nodes killed in the middle of `committed` of a pipeline: the database has each item that the crawl counted, once. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { clientOf } from '../harness/project.mjs';
import { until } from '../harness/stage.mjs';

const NODES = 2;
const CHAINS = 8;
/** Of the batches; the others are let through, so that the crawl goes on. */
const KILLED_PART = 0.4;
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = this.args.start.split(' ');
  *parse(response) {
    const page = Number(new URL(response.url).pathname.slice(2));
    for (const part of ['a', 'b', 'c']) yield { url: response.url + '#' + part, page, part };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

/** It writes its batch in two halves, without a transaction, and says in between that it is in the middle of it. */
const pipeline = `
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
export default class {
  batchItems = 50;
  batchSeconds = 0.1;
  database = new DatabaseSync('items.db', { timeout: 10_000 });
  open() {
    this.database.exec('CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, url TEXT NOT NULL, writes INT NOT NULL)');
  }
  write(rows) {
    const upsert = this.database.prepare('INSERT INTO item VALUES (?, ?, 1) ON CONFLICT (id) DO UPDATE SET writes = writes + 1');
    for (const { id, item } of rows) upsert.run(id, item.url);
  }
  async committed(batch) {
    const half = batch.length >> 1;
    this.write(batch.slice(0, half));
    appendFileSync('halfway', process.pid + '\\n');
    await sleep(20);
    this.write(batch.slice(half));
  }
  close() { this.database.close(); }
}
`;

export const committedKills = {
  row: 'R31',
  fault: 'SIGKILL of the one of 2 nodes that is in the middle of committed() of a pipeline into SQLite',
  engines: ['redis', 'embedded'],
  async run(row) {
    // Chains of pages without an end, until enough nodes were killed.
    const web = { last: Number.POSITIVE_INFINITY, highest: 0 };
    const site = await startSite({
      answer(url, response) {
        const page = Number(/^\/p(\d+)$/.exec(url)?.[1]);
        web.highest = Math.max(web.highest, page);
        setTimeout(() => html(response, page + CHAINS <= web.last ? [`/p${page + CHAINS}`] : []), 20);
        return true;
      },
    });
    const starts = Array.from({ length: CHAINS }, (_, n) => `${site.origin}/p${n + 1}`);
    const settings = {
      ITEM_PIPELINES: { './pipelines/store.ts': 100, RedisPipeline: 300 },
      FEED_OUTBOX_LIMIT: 1_000,
    };
    const chains = { ...site, args: ['-a', `start=${starts.join(' ')}`] };
    const crawling = await beginCrawl(row, { site: chains, nodes: 0, settings, spider });
    const { dir } = crawling.project;
    await mkdir(path.join(dir, 'pipelines'));
    await writeFile(path.join(dir, 'pipelines', 'store.ts'), pipeline);
    await symlink(modules, path.join(dir, 'node_modules'));
    for (let n = 0; n < NODES; n++) crawling.start(n);
    const times = await killHalfway(crawling, row);
    web.last = web.highest;
    await crawling.ends();
    const urls = [...new Set((await site.log()).map(({ path }) => site.origin + path))];
    const expected = urls.flatMap((url) => ['a', 'b', 'c'].map((part) => `${url}#${part}`));
    const verdict = await crawling.verdict({ expected });
    const rows = rowsOf(path.join(dir, 'items.db'));
    const stored = new Set(rows.map(({ url }) => url));
    const missing = expected.filter((url) => !stored.has(url)).length;
    if (missing > 0) verdict.problems.push(`${missing} items are missing in the database`);
    if (rows.length > stored.size) verdict.problems.push(`${rows.length - stored.size} are there twice`);
    const again = rows.filter(({ writes }) => writes > 1).length;
    return { ...verdict, times, happened: { 'items that were written again, under their id': again } };
  },
};

/** Kill the node that is in the middle of a batch, again and again, once those of the last kill are over: three deaths end a request. */
async function killHalfway(crawling, { scale, random }) {
  const file = path.join(crawling.project.dir, 'halfway');
  const entries = () =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number) : [];
  const client = await clientOf(crawling.project);
  let seen = 0;
  let killed = 0;
  while (killed < scale.kills) {
    await until(() => entries().length > seen, 'a batch');
    seen = entries().length;
    const at = crawling.nodes.findIndex(({ pid }) => pid === entries().at(-1));
    if (at < 0 || random.next() >= KILLED_PART) continue;
    const { silent, suspects } = await client.snapshot();
    if (silent.length + suspects > 0) continue;
    await sleep(random.between(0, 15));
    if (await crawling.killAndRestart(at)) killed += 1;
  }
  await client.close();
  return killed;
}

function rowsOf(file) {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(file);
  const rows = database.prepare('SELECT url, writes FROM item').all();
  database.close();
  return rows;
}
