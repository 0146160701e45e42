/** REQUEST_MODULE decides which requests are the same and which is next, for every command that names one. */
import { beforeEach, describe, expect, it } from 'vitest';
import { crawl, Spider } from '../../../src/index.js';
import { crawlLines } from '../../helpers/cli/crawled-project.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const module = (id = 'products-1') => `
import { fingerprint, type Request, type RequestModule } from 'crawlnode';
const productOf = (request: Request) => new URL(request.url).searchParams.get('product');
export default {
  id: '${id}',
  fingerprint(request) {
    if (request.url.endsWith('/broken')) throw new Error('no product');
    return productOf(request) ?? fingerprint(request);
  },
  priority: (request, { depth }) => Number(productOf(request) ?? 0) - depth,
} satisfies RequestModule;
`;
const spider = `
import { Spider, type Response } from 'crawlnode';
export default class Shop extends Spider {
  name = 'shop';
  startUrls = [this.args.url ?? 'http://127.0.0.1:9/?product=3'];
  *parse(response: Response) {
    yield { product: new URL(response.url).searchParams.get('product') };
    yield* response.followAll(response.links());
  }
}
`;
const links = ['?product=1', '?product=2', '?a=1&product=2', '?product=9', 'x?product=9&b', 'broken'];

let project: Project;
let site: Site;
let fetched: string[];
beforeEach(async () => {
  fetched = [];
  site = await startSite({
    handler: ({ url = '' }, response) => {
      fetched.push(url);
      response.setHeader('content-type', 'text/html');
      response.end(links.map((link) => `<a href="/${link}">`).join(''));
      return true;
    },
  });
  project = await createProject({
    settings: { REQUEST_MODULE: './requests.ts', CONCURRENT_REQUESTS: 1 },
    files: { 'requests.ts': module(), 'spiders/shop.ts': spider },
  });
});
const run = (...args: string[]) => runHere(args, { cwd: project.dir });

describe('a crawl', () => {
  it('fetches each product once, in the order of the module, and only a link that it fails for is lost', async () => {
    const { code, lines, summary } = await crawlLines(project, 'shop', '-a', `url=${site.origin}/`);
    expect(code).toBe(0);
    expect(lines.map(({ product }) => product)).toEqual([null, '9', '2', '1']);
    expect(fetched).toEqual(['/', '/?product=9', '/?product=2', '/?product=1']);
    expect(summary.deadEnds).toContainEqual({
      what: 'fingerprint() of ./requests.ts threw an error: no product',
      ...{ unit: 'request', count: 4, example: `${site.origin}/broken` },
    });
    const stats = JSON.parse((await run('stats', 'shop', '--json')).stdout);
    expect(stats).toMatchObject({
      shape: { fingerprinter: 'module products-1' },
      counters: { 'request_module/request_ignored_count': 4 },
    });
  });

  it('gives seeds, inspect and forget the same identity', async () => {
    await crawlLines(project, 'shop', '-a', `url=${site.origin}/`);
    const inspect = async (url: string) => JSON.parse((await run('inspect', 'shop', url, '--json')).stdout);
    expect(await inspect(`${site.origin}/other?product=9`)).toMatchObject({ seen: true });
    const seed = ['seed', 'shop', `${site.origin}/third?product=9`, '-s', 'SEEDS_FILTERED=true', '--json'];
    expect(JSON.parse((await run(...seed)).stdout)).toMatchObject({ accepted: 0, duplicates: 1 });
    await run('forget', 'shop', `${site.origin}/other?product=9`);
    expect(await inspect(`${site.origin}/?product=9`)).toMatchObject({ seen: false });
    expect(JSON.parse((await run(...seed)).stdout)).toMatchObject({ accepted: 1, duplicates: 0 });
    const broken = await run('seed', 'shop', `${site.origin}/broken`);
    expect(broken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('fingerprint() of ./requests.ts'),
    });
  });

  it('is refused to a node whose module has another id, or none', async () => {
    await crawlLines(project, 'shop', '-a', `url=${site.origin}/`);
    const join = (...args: string[]) => run('crawl', 'shop', '--exit-when-done', ...args);
    await project.write('other.ts', module('products-2'));
    expect(await join('-s', 'REQUEST_MODULE=./other.ts')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        'REQUEST_FINGERPRINTER or REQUEST_MODULE is module products-1 there and module products-2 here',
      ),
    });
    expect(await join('-s', 'REQUEST_MODULE=null')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is module products-1 there and scrapy-redis here'),
    });
  });

  it.each([
    ['seed', 'http://127.0.0.1:9/?product=3'],
    ['inspect', 'http://127.0.0.1:9/?product=3'],
    ['forget', 'http://127.0.0.1:9/?product=3'],
  ])(
    'is refused to %s with a module of another id, which would identify requests otherwise',
    async (...command) => {
      await crawlLines(project, 'shop', '-a', `url=${site.origin}/`);
      await project.write('other.ts', module('products-2'));
      const [name, url] = command;
      expect(await run(name, 'shop', url, '-s', 'REQUEST_MODULE=./other.ts')).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining('is module products-1 there and module products-2 here'),
      });
      expect(await run(name, 'shop', url)).toMatchObject({ code: 0 });
      expect(await run('inspect', 'shop', 'a'.repeat(40), '-s', 'REQUEST_MODULE=./other.ts')).toMatchObject({
        code: 0,
      });
    },
  );

  it('is one of a program too, which may give the module itself', async () => {
    class Shop extends Spider {
      override name = 'shop';
      override startUrls = ['?product=1', '?product=2'].map((query) => `${site.origin}/${query}`);
      override *parse() {
        yield {};
      }
    }
    const REQUEST_MODULE = { id: 'one-for-all', fingerprint: () => 'the same' };
    const { pages } = await crawl(Shop, {
      settings: { REQUEST_MODULE, JOBDIR: project.path('store') },
      config: false,
    });
    expect(pages).toBe(1);
  });
});

it('a dry run shows the priority of start requests', async () => {
  const { stdout } = await run('crawl', 'shop', '--dry-run', '--json');
  expect(JSON.parse(stdout).startRequests).toMatchObject([{ priority: 3 }]);
});

it('customSettings of a spider may name it, and settings shows it as a path', async () => {
  await project.write('crawlnode.yaml', '');
  await project.write(
    'spiders/shop.ts',
    spider.replace("name = 'shop';", "name = 'shop'; customSettings = { REQUEST_MODULE: './requests.ts' };"),
  );
  expect((await run('settings', 'REQUEST_MODULE', '--spider', 'shop')).stdout).toBe(
    'REQUEST_MODULE  "./requests.ts"  (spider)\n',
  );
  expect(JSON.parse((await run('crawl', 'shop', '--dry-run', '--json')).stdout).startRequests).toMatchObject([
    { priority: 3 },
  ]);
});

it.each([
  ['export default { id: "a" };', 'is no request module: it has none of fingerprint, priority'],
  ['export default { fingerprint: () => "a" };', 'needs an id of 1 to 64 letters'],
  ['export default { id: "a", fingerprint: async () => "a" };', 'has fingerprint, which is async'],
  ['export default { id: "a", async priority() { return 1; } };', 'has priority, which is async'],
  ['export default { id: "a b", fingerprint: () => "a" };', 'needs an id of 1 to 64 letters'],
  ['export default { id: "a", priority: 5 };', 'has priority, which is no function'],
  [
    'export default { id: "a", fingerprnt: () => "a", priority: () => 1 };',
    'has fingerprnt, which has no effect; did you mean fingerprint?',
  ],
  [
    'export default class { id = "a"; constructor() { throw new Error("no table"); } priority() { return 1; } }',
    'whose constructor threw an error: no table',
  ],
  ['export const id = "a";', 'is neither a class nor an object'],
  ['throw new Error("no file");', 'bad.ts:1:7 does not load: Error: no file'],
])('%s is refused', async (text, message) => {
  await project.write('bad.ts', text);
  const { code, stderr } = await run('crawl', 'shop', '--exit-when-done', '-s', 'REQUEST_MODULE=./bad.ts');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});

it.each([
  [
    'SCHEDULER_QUEUE_CLASS=myproject.queues.Queue',
    /a module with priority\(request\) and name it in REQUEST_MODULE/,
  ],
  [
    'DUPEFILTER_CLASS=myproject.Dupefilter',
    /a module with fingerprint\(request\) and name it in REQUEST_MODULE/,
  ],
  ['REQUEST_FINGERPRINTER=./requests.ts', /a module of your own goes into REQUEST_MODULE/],
  ['REQUEST_FINGERPRINTER_CLASS=myproject.Fingerprinter', /use REQUEST_FINGERPRINTER, or REQUEST_MODULE/],
  [
    'SCHEDULER_QUEUE_CLASS=FifoQueue',
    /has priority\(\), which has no effect with SCHEDULER_QUEUE_CLASS: FifoQueue/,
  ],
])('%s says what to use', async (setting, message) => {
  const { code, stderr } = await run('settings', '-s', setting);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});
