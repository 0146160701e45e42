/** `crawl --dry-run` tells what would be crawled and finds what would stop the crawl. It changes nothing. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const spider = (members: string, name = 'pages') => `
import { Request, Spider, type Response } from 'crawlnode';
export default class Pages extends Spider {
  name = '${name}';
  ${members}
  *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

let project: Project;
let site: Site;
beforeEach(async () => {
  site = await startSite({ pages: 4 });
  project = await createProject({
    settings: {
      ITEM_PIPELINES: { './pipelines/clean.ts': 100, RedisPipeline: 300 },
      EXTENSIONS: { './extensions/alerts.ts': 100 },
    },
    files: {
      'spiders/pages.ts': spider(`startUrls = [${JSON.stringify(site.url)}];`),
      'keep.xml': '<items><item/></items>',
      'keep.json': '[{"mine":1}]',
      'extensions/alerts.ts': 'export default { spiderClosed() {} };',
      'pipelines/clean.ts': 'export default class { open() { throw new Error("opened"); } processItem() {} }',
    },
  });
});
afterEach(async () => {
  await project.remove();
  await site.close();
});
const dryRun = (...args: string[]) => runHere(['crawl', 'pages', '--dry-run', ...args], { cwd: project.dir });

it('prints spider, store, files, pipelines and start requests, and makes no folder', async () => {
  const before = readdirSync(project.dir);
  const { code, stdout, stderr } = await dryRun('-O', 'out/items.csv', '--min-items', '3');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const part of [
    'dry run of pages: nothing was changed',
    /^spider +spiders\/pages\.ts$/m,
    /^settings +crawlnode\.yaml$/m,
    /^store +.*\.crawlnode \(embedded\)$/m,
    /^crawl +not begun; 0 waiting, 0 done, 0 failed$/m,
    /^items +replace .*out\/items\.csv \(csv\)$/m,
    /^pipeline +\.\/pipelines\/clean\.ts\npipeline +RedisPipeline$/m,
    /^extension +\.\/extensions\/alerts\.ts$/m,
    `startUrls: 1 request\n  ${site.url} → parse\n`,
  ]) {
    expect(stdout).toMatch(part);
  }
  expect(readdirSync(project.dir)).toEqual(before);
  expect(site.log).toEqual([]);
});

it('accepts pipelines that fetch files, and a file that -O overwrites', async () => {
  await project.write(
    'pipelines/pictures.ts',
    "import { ImagesPipeline } from 'crawlnode';\nexport default class extends ImagesPipeline {}",
  );
  const pipelines = '{"./pipelines/pictures.ts":1,"FilesPipeline":2}';
  const stores = ['-s', 'IMAGES_STORE=images', '-s', 'FILES_STORE=files'];
  const before = readdirSync(project.dir);
  const { code, stderr } = await dryRun(
    ...['-s', `ITEM_PIPELINES=${pipelines}`, ...stores, '-O', 'keep.xml', '-O', 'keep.json'],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(readFileSync(project.path('keep.xml'), 'utf8')).toBe('<items><item/></items>');
  expect(readdirSync(project.dir)).toEqual(before);
});

it('reads ten requests of start(), and lets it run its finally', async () => {
  await project.write(
    'spiders/pages.ts',
    spider(`async *start() {
    try {
      for (let n = 0; ; n += 1) yield new Request(\`http://a.example/\${n}\`, { callback: this.parse });
    } finally {
      Object.assign(globalThis, { startEnded: true });
    }
  }`),
  );
  const { code, stdout } = await dryRun('--json');
  expect(code).toBe(0);
  const plan = JSON.parse(stdout);
  expect(plan).toMatchObject({
    spider: 'pages',
    isGenerator: true,
    stats: { state: 'not_begun', pending: 0 },
  });
  expect(plan.startRequests).toHaveLength(10);
  expect(globalThis).toMatchObject({ startEnded: true });
  expect((await dryRun()).stdout).toContain('start(): the first 10 requests');
});

it('changes nothing of a crawl that has begun', async () => {
  await project.write('crawlnode.yaml', '');
  const run = (...args: string[]) => runHere(args, { cwd: project.dir });
  await run('crawl', 'pages', '-o', 'items.jsonl', '--max-pages', '1', '--exit-when-done');
  const state = async () => ({
    items: readFileSync(project.path('items.jsonl'), 'utf8'),
    changedAt: statSync(project.path('items.jsonl')).mtimeMs,
    stats: { ...JSON.parse((await run('stats', 'pages', '--json')).stdout), bytes: null },
  });
  const before = await state();
  const { stdout } = await dryRun('-o', 'items.jsonl');
  expect(stdout).toMatch(/^crawl +ended.*: closespider_pagecount; 3 waiting, 1 done, 0 failed$/m);
  expect(stdout).toContain('Requests that this job has had already');
  expect(await state()).toEqual(before);
  expect(site.log).toHaveLength(1);
});

it.each([
  ['-s DOWNLOAD_DELYA=1', 2, 'unknown setting DOWNLOAD_DELYA; did you mean DOWNLOAD_DELAY?'],
  ['-s ITEM_PIPELINES={"./pipelines/claen.ts":1}', 2, './pipelines/claen.ts'],
  ['-s REDIS_URL=redis://127.0.0.1:1 -s REDIS_CONNECT_TIMEOUT=1', 4, 'cannot be reached'],
  ['-o items.unknown', 2, 'items.unknown'],
  ['-o spiders:jsonl', 1, 'spiders cannot be written: it is a folder'],
  ['-o crawlnode.yaml/items.jsonl', 1, 'crawlnode.yaml is no folder'],
  ['-o /proc/items.jsonl', 1, '/proc/items.jsonl cannot be written: no file can be made in /proc'],
  ['-s JOBDIR=/proc/nope', 4, 'the folder /proc/nope of the embedded frontier cannot be made or entered'],
  ['-o keep.xml', 2, 'keep.xml has content already, and an XML document cannot be added to it'],
  ['-o keep.json', 2, 'keep.json has content already, and a JSON list cannot be added to it'],
  ['-o keep.xml:jsonl', 2, 'keep.xml has content of another format'],
  ['-o keep.json:csv', 2, 'keep.json has content of another format'],
  ['-s FEEDS={"a.jsonl":{"item_filter":"./nope.ts"}}', 2, 'nope.ts, which does not exist'],
  ['-s ITEM_PIPELINES={"ImagesPipeline":1}', 2, 'set IMAGES_STORE to the folder of its files'],
  [
    '-s ITEM_PIPELINES={"FilesPipeline":1} -s FILES_STORE=crawlnode.yaml',
    1,
    'open() of FilesPipeline failed: files cannot be written to',
  ],
  [
    '-s ITEM_PIPELINES={"ImagesPipeline":1} -s IMAGES_STORE=/proc/images',
    1,
    'open() of ImagesPipeline failed: files cannot be written to /proc/images',
  ],
  ['--min-items many', 2, 'Expected a whole number'],
  ['--max-status 9xx=5%', 2, 'Expected shares of pages by status'],
  ['--max-status 404=5%,404=1%', 2, 'The status 404 is given twice'],
])('%s is found, with the exit code of the crawl', async (args, exitCode, message) => {
  const { code, stdout, stderr } = await dryRun(...args.split(' '));
  expect({ code, stdout, stderr }).toEqual({
    code: exitCode,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
  expect(existsSync(project.path('.crawlnode'))).toBe(false);
});

it('finds a crawl of another shape, and what start requests are refused for', async () => {
  await project.write('crawlnode.yaml', '');
  await runHere(['crawl', 'pages', '--exit-when-done'], { cwd: project.dir });
  expect(await dryRun('-s', 'SCHEDULER_QUEUE_CLASS=LifoQueue')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('SCHEDULER_QUEUE_CLASS is PriorityQueue there and LifoQueue here'),
  });
  const other = async (name: string, members: string) => {
    await project.write(`spiders/${name}.ts`, spider(members, name));
    return runHere(['crawl', name, '--dry-run'], { cwd: project.dir });
  };
  expect(await other('schemeless', "startUrls = ['shop.example'];")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('it has no scheme'),
  });
  expect(await other('throwing', "*start() { throw new Error('no database'); }")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /start\(\) of the spider "throwing" failed: no database \(.*throwing\.ts:5/,
    ),
  });
});

it.each([
  [
    'processItem',
    { './pipelines/clean.ts': 100 },
    'items are lost unless processItem of a pipeline stores them',
  ],
  ['nothing', { RedisPipeline: null }, 'items are kept nowhere'],
])('items that only %s would keep are told before the crawl', async (_, ITEM_PIPELINES, message) => {
  await project.write('pipelines/clean.ts', 'export default class { processItem() {} }');
  const only = ['-s', `ITEM_PIPELINES=${JSON.stringify(ITEM_PIPELINES)}`];
  expect((await dryRun(...only)).stderr).toContain(message);
  expect((await dryRun(...only, '-o', 'items.jsonl')).stderr).toBe('');
  const crawled = await runHere(['crawl', 'pages', '--exit-when-done', ...only], { cwd: project.dir });
  expect(crawled.stderr.indexOf(message)).toBeGreaterThan(0);
  expect(crawled.stderr.indexOf(message)).toBeLessThan(crawled.stderr.indexOf('ended: finished'));
  await project.write('pipelines/store.ts', 'export default class { committed() {} }');
  const committed = ['-s', 'ITEM_PIPELINES={"./pipelines/store.ts":100}'];
  expect((await dryRun(...committed)).stderr).toBe('');
});
