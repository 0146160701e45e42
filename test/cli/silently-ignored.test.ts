/**
 * Nothing that an author writes is silently ignored: it works, or it is refused with what to do. Sentences that another test
 * proves are listed with it in docs/internals/author-mistakes.md.
 */
import { readdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crawlLines } from '../helpers/cli/crawled-project.js';
import { runHere } from '../helpers/cli/run-here.js';
import { createProject, type Project } from '../helpers/project.js';
import { startProxy } from '../helpers/sites/proxy.js';
import { type Site, startSite } from '../helpers/sites/site.js';

/** Answered beside the pages of the site. */
let routes: Record<string, (response: ServerResponse, request: IncomingMessage) => void>;
let site: Site;
let project: Project;

beforeEach(async () => {
  routes = {};
  site = await startSite({
    pages: 5,
    handler: (request, response) => {
      const route = routes[request.url!.split('?')[0]!];
      route?.(response, request);
      return route !== undefined;
    },
  });
  project = await createProject({ settings: { RETRY_BACKOFF: 0.01, START_TIMEOUT: 0 } });
});
afterEach(async () => {
  await site.close();
  await project.remove();
});

/** Write a spider of this body, named `shop`. */
const spider = (body: string, Base = 'Spider') =>
  project.write(
    'spiders/shop.ts',
    `import { CrawlSpider, Request, Spider, type Response } from 'crawlnode';
     export default class extends ${Base} {
       name = 'shop';
       ${body}
     }`,
  );
const run = (...args: string[]) => runHere(args, { cwd: project.dir });
const asked = (path: string) => site.log.filter((entry) => entry.path === path).length;
const answer =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(`status ${status}`);

describe('the keys of meta with which Scrapy changes one request', () => {
  it('are honoured', async () => {
    routes['/missing'] = answer(404);
    routes['/law'] = answer(451);
    routes['/busy'] = answer(503);
    routes['/busy-twice'] = answer(503);
    routes['/moved'] = answer(302, { location: '/' });
    routes['/hangs'] = () => {};
    routes['/robots.txt'] = (response) => void response.end('User-agent: *\nDisallow: /refused');
    routes['/refused'] = answer(200);
    routes['/login'] = (response, { url }) =>
      void response.writeHead(200, { 'set-cookie': `user=${url!.split('=')[1]}` }).end();
    routes['/home'] = (response, { headers }) => void response.end(headers.cookie ?? 'nobody');
    const proxy = await startProxy();
    const all = { handle_httpstatus_all: true };
    const requests: [path: string, meta: object][] = [
      ['/missing', { handle_httpstatus_list: [404] }],
      ['/law', all],
      ['/busy', { ...all, dont_retry: true }],
      ['/busy-twice', { ...all, max_retry_times: 1 }],
      ['/moved', { dont_redirect: true, handle_httpstatus_list: [302] }],
      ['/hangs', { download_timeout: 0.1, dont_retry: true }],
      ['/page/1.html', { proxy: proxy.url() }],
      ['/page/2.html', { download_slot: 'slow pages' }],
      ['/refused', { dont_obey_robotstxt: true }],
      ['/login?user=one', { cookiejar: 'one' }],
      ['/login?user=two', { cookiejar: 'two' }],
    ];
    await spider(`
      allowedDomains = ['shop.example'];
      *start() {
        for (const [path, meta] of ${JSON.stringify(requests)}) yield new Request('${site.origin}' + path, { meta });
      }
      *parse(response: Response) {
        const path = response.url.slice('${site.origin}'.length);
        yield { path, status: response.status };
        const { cookiejar } = response.meta;
        if (cookiejar === undefined) return;
        yield response.follow('/home', 'parseHome', { meta: { cookiejar, allow_offsite: true }, dontFilter: true });
        yield response.follow('/offsite');
      }
      parseHome(response: Response) { return { jar: response.meta.cookiejar, sent: response.text }; }`);
    const slots = { 'slow pages': { delay: 0.01 }, 'shop.exmaple': { delay: 5 } };
    const settings = ['ROBOTSTXT_OBEY=true', `DOWNLOAD_SLOTS=${JSON.stringify(slots)}`];
    const { lines, summary, run } = await crawlLines(
      project,
      'shop',
      ...settings.flatMap((setting) => ['-s', setting]),
    );
    await proxy.close();
    const statuses = lines.filter(({ path }) => path !== undefined).map(({ path, status }) => [path, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      ...{ '/missing': 404, '/law': 451, '/busy': 503, '/busy-twice': 503, '/moved': 302 },
      ...{ '/page/1.html': 200, '/page/2.html': 200, '/refused': 200 },
      ...{ '/login?user=one': 200, '/login?user=two': 200 },
    });
    expect([asked('/busy'), asked('/busy-twice'), asked('/')]).toEqual([1, 2, 0]);
    expect((await run('failed', 'shop', 'list')).stdout).toMatch(/timeout.*hangs|hangs.*timeout/);
    expect(proxy.log).toEqual([`GET ${site.origin}/page/1.html`]);
    const homes = lines.filter(({ jar }) => jar !== undefined).map(({ jar, sent }) => `${jar}: ${sent}`);
    expect(homes.sort()).toEqual(['one: user=one', 'two: user=two']);
    expect(summary).toMatchObject({
      // A name of DOWNLOAD_SLOTS that no request has stands in the summary.
      unusedSlots: ['shop.exmaple'],
      deadEnds: [{ what: 'offsite (not in allowedDomains)', count: 2, example: `${site.origin}/offsite` }],
    });
  });

  it('are refused under another spelling', async () => {
    await spider(`startUrls = [new Request('${site.url}', { meta: { downloadTimeout: 1 } })];`);
    expect(await run('crawl', 'shop')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('meta.downloadTimeout has no effect: use meta.download_timeout'),
    });
  });
});

describe('a mistake in a spider is refused before the first page', () => {
  it.each<[string, string, string, string?]>([
    [
      'an unknown field of a rule',
      "rules = [{ restrictCss: 'nav' }]",
      'restrictCss: use selector',
      'CrawlSpider',
    ],
    ['a rule whose callback is no method', "rules = [{ callback: 'parsItem' }]", '"parsItem"', 'CrawlSpider'],
    [
      'a rule whose callback is undefined',
      'rules = [{ callback: this.parsItem }]',
      'is undefined: is its name misspelt?',
      'CrawlSpider',
    ],
    [
      'a start request whose callback is no method',
      "startUrls = [new Request('http://a.example/', { callback: 'parsItem' })]",
      'the spider "shop" has no method "parsItem"',
    ],
    [
      'a start request whose callback is undefined',
      "startUrls = [new Request('http://a.example/', { callback: this.parsItem })]",
      'callback is undefined: is the name of the method misspelt?',
    ],
    ['startUrls that is a text', "startUrls = 'http://a.example/'", 'give a list'],
    ['a URL in allowedDomains', "allowedDomains = ['https://shop.example/']", 'which no link matches'],
    ['an item that is no schema', 'item = { name: String }', 'item is an object and no schema'],
    ['a hook that is no method', "closed = 'now'", 'closed is of type string; make it a method'],
  ])('%s', async (_what, body, says, Base) => {
    await spider(body, Base);
    const { code, stderr } = await run('crawl', 'shop', '-s', 'LOG_FORMAT=text');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
  });

  it('a constructor that throws is named before "there is no spider"', async () => {
    await spider("constructor() { super(); throw new Error('no price list'); }");
    const { code, stderr } = await run('crawl', 'shop', '-s', 'LOG_FORMAT=text');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^crawlnode: \S+shop\.ts: constructing it failed .*no price list/);
  });

  it('a name of DOWNLOAD_SLOTS that is a URL', async () => {
    await spider('');
    expect(await run('crawl', 'shop', '-s', 'DOWNLOAD_SLOTS={"https://a.example/":{}}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a domain, such as shop.example'),
    });
  });

  it('an argument that is given twice', async () => {
    await spider('');
    expect(await run('crawl', 'shop', '-a', 'tag=a', '-a', 'tag=b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tag is given twice'),
    });
  });
});

describe('a mistake in a callback', () => {
  it('fails its page, with what to write', async () => {
    const mistakes: [code: string, says: string][] = [
      ["yield response.follow('/x', 'parsItem')", 'has no method "parsItem"'],
      ["yield response.follow('/x', this.parsItem)", 'callback is undefined'],
      ["yield response.follow('/x', () => [])", 'is not a method of the spider'],
      ["yield response.follow('/x', null, { dont_filter: true })", 'did you mean dontFilter?'],
      ["response.links({ restrictCss: 'nav' })", 'links() has no option "restrictCss"'],
      ["Request.fromForm(response, { formnme: 'x' })", '"formnme" is no option of a request'],
    ];
    routes['/mistake'] = answer(200);
    const cases = mistakes.map(([code], at) => `if (at === ${at}) { ${code}; }`);
    await spider(`
      startUrls = ${JSON.stringify(mistakes.map((_, at) => `${site.origin}/mistake?at=${at}`))};
      *parse(response) { yield { n: 1 }; const at = Number(response.url.split('=')[1]); ${cases.join('\n')} }`);
    const { summary, run } = await crawlLines(project, 'shop');
    expect(summary).toMatchObject({ failed: mistakes.length, items: 0 });
    const { stdout } = await run('failed', 'shop', 'list', '--json');
    for (const [, says] of mistakes) expect(stdout).toContain(says.replaceAll('"', '\\"'));
  });
});

describe('the start requests of a crawl', () => {
  it('are fetched again for other arguments, and a node with others cannot join the run', async () => {
    let release = () => {};
    const isHeld = new Promise<void>((resolve) => {
      routes['/held'] = (response) => {
        release = () => void response.writeHead(200).end('at last');
        resolve();
      };
    });
    await spider(`startUrls = ['${site.origin}/held']; parse() { return { tag: this.args.tag }; }`);
    const first = crawlLines(project, 'shop', '-a', 'tag=a');
    await isHeld;
    expect(await run('crawl', 'shop', '-a', 'tag=b', '--exit-when-done')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('tag is \\"a\\" there and \\"b\\" here'),
    });
    release();
    expect(await first).toMatchObject({ code: 0, lines: [{ tag: 'a' }] });

    routes['/held'] = answer(200);
    expect((await crawlLines(project, 'shop', '-a', 'tag=b')).lines).toEqual([{ tag: 'a' }, { tag: 'b' }]);
    const again = await run('crawl', 'shop', '-a', 'tag=b', '--exit-when-done');
    expect(again.stdout).toMatch(/nothing to crawl: .*"crawlnode reset shop".*--job/);
  });
});

describe('the summary', () => {
  it('has every kind of answer that no callback took, and of request that was dropped', async () => {
    const statuses = [400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417];
    for (const status of statuses) routes[`/${status}`] = answer(status);
    await spider(`
      startUrls = ${JSON.stringify(statuses.map((status) => `${site.origin}/${status}`))};
      parse() {}`);
    const { stdout } = await run('crawl', 'shop', '--exit-when-done');
    expect(stdout.match(/status 4\d\d: 1 page, such as/g)).toHaveLength(3);
    expect(stdout).toContain('14 more kinds of such pages, requests, items and seeds: --json shows all');
  });

  it('is a short report of a run with failures and several domains, which the last line of the log has as fields', async () => {
    routes['/fine'] = routes['/bad'] = answer(200);
    routes['/gone'] = answer(404);
    const other = site.origin.replace('127.0.0.1', 'localhost');
    await spider(`
      startUrls = ['${site.origin}/bad', '${site.origin}/fine', '${site.origin}/gone', '${other}/gone'];
      parse(response) { if (response.url.endsWith('bad')) throw new Error('of the test'); }`);
    const { stdout, stderr } = await run('crawl', 'shop', '--exit-when-done');
    expect(stdout).toContain('pages of the run: ');
    expect(stdout).toContain(
      'failed requests of the run: 1 callback_error. They are kept with the crawl; "crawlnode failed shop list --reason callback_error" says why',
    );
    expect(stdout).toMatch(
      /^0 items a minute; slowest domain: (127\.0\.0\.1|localhost):\d+, [\d.]+ s until it answers$/m,
    );
    expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(8);
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      ...{ statuses: { 200: 2, 404: 2 }, failures: { callback_error: 1 }, itemsPerMinute: 0 },
      slowestDomain: { domain: expect.stringContaining(':'), latencyMs: expect.any(Number) },
    });
  });

  it('a link that cannot be fetched costs only itself', async () => {
    await spider(`
      startUrls = ['${site.url}'];
      *parse(response: Response) { yield { n: 1 }; yield response.follow('mailto:a@shop.example'); yield { n: 2 }; }`);
    const { lines, summary } = await crawlLines(project, 'shop');
    expect(lines).toEqual([{ n: 1 }, { n: 2 }]);
    expect(summary.deadEnds).toMatchObject([{ count: 1, example: 'mailto:a@shop.example' }]);
  });
});

describe('items', () => {
  it('that neither a file nor the items list gets stand in the summary', async () => {
    await project.write('pipelines/own.ts', 'export default ({ item }) => item;');
    await spider(`
      customSettings = { ITEM_PIPELINES: { './pipelines/own.ts': 1 } };
      startUrls = ['${site.url}'];
      parse() { return { n: 1 }; }`);
    const { stdout } = await run('crawl', 'shop', '--exit-when-done');
    expect(stdout).toContain('items: in no file (-o) and not in the items list (RedisPipeline)');
  });
});

describe('a run', () => {
  it('all of whose pages are forbidden by robots.txt exits with 1', async () => {
    routes['/robots.txt'] = (response) => void response.end('User-agent: *\nDisallow: /\n');
    await spider(`startUrls = ['${site.url}']; parse() { return { n: 1 }; }`);
    const crawled = await run('crawl', 'shop', '--exit-when-done', '-s', 'ROBOTSTXT_OBEY=true');
    expect(crawled).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no page of the run succeeded'),
    });
  });

  it('with bad seeds counts them in its summary', async () => {
    await spider(`startUrls = ['${site.url}']; parse() { return { n: 1 }; }`);
    await run('seed', 'shop', '--to-start-urls', '[1]', '{"ulr": 1}');
    expect((await run('crawl', 'shop', '--exit-when-done')).stdout).toContain('bad seeds: 2 seeds');
  });
});

describe('a job that does not exist', () => {
  it('is refused by items, failed and stop, and a job with problems is in the list of doctor', async () => {
    await spider(`startUrls = ['${site.url}']; parse() { throw new Error('of the test'); }`);
    await run('crawl', 'shop', '--job', 'may', '--exit-when-done');
    for (const command of [
      ['items', 'shop', 'list'],
      ['items', 'shop', 'export', '-o', 'o.jsonl'],
      ['failed', 'shop', 'list'],
      ['stop', 'shop'],
    ]) {
      const message = 'there is no crawl shop@typo in the store';
      expect(await run(...command, '--job', 'typo')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
      expect(await run(...command, '--job', 'may')).toMatchObject({ code: 0 });
    }
    expect((await run('doctor')).stdout).toContain('shop@may');
  });
});

describe('a file of seeds', () => {
  it('may have a comment behind a URL', async () => {
    await spider('');
    await project.write(
      'seeds.txt',
      `${site.origin}/page/1.html # the first\n${site.origin}/page/2.html#part\n`,
    );
    expect((await run('seed', 'shop', '--file', 'seeds.txt')).stdout).toContain('2 accepted');
    await run('crawl', 'shop', '--exit-when-done');
    expect(asked('/page/1.html')).toBe(1);
    expect(asked('/page/2.html')).toBe(1);
  });
});

describe('a file of items', () => {
  it('of an export with -O is not emptied when there is nothing to export', async () => {
    await spider(`startUrls = ['${site.url}']; parse() { return { n: 1 }; }`);
    await run('crawl', 'shop', '--exit-when-done');
    const args = ['items', 'shop', 'export', '-O', 'today.jsonl'];
    expect(await run(...args)).toMatchObject({ code: 0 });
    expect(await run(...args)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the file stays as it is'),
    });
    expect(await project.readJsonLines('today.jsonl')).toEqual([{ n: 1 }]);
  });

  it('of -O that was deleted begins anew, with and without SCHEDULER_FLUSH_ON_START', async () => {
    await spider(`startUrls = ['${site.url}']; parse() { return { n: 1 }; }`);
    const args = ['crawl', 'shop', '-O', 'quotes-%(time)s-%(job)s.jsonl', '--exit-when-done'];
    expect(await run(...args)).toMatchObject({ code: 0 });
    const [file = ''] = (await readdir(project.dir)).filter((name) => name.startsWith('quotes-'));
    expect(file).toMatch(/^quotes-\d{4}-\d\d-\d\dT[\d-]+.*\.jsonl$/);
    for (const more of [[], ['-s', 'SCHEDULER_FLUSH_ON_START=true']]) {
      await rm(project.path(file));
      expect(await run('crawl', 'shop', '-O', file, '--exit-when-done', ...more)).toMatchObject({ code: 0 });
    }
    expect(await project.read(file)).toBe('{"n":1}\n');
  });

  it('has no placeholder in its name that is taken for text', async () => {
    await spider('');
    expect(await run('crawl', 'shop', '-o', 'quotes-%(tme)s.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown placeholder %(tme)s'),
    });
  });
});

describe('middleware', () => {
  it.each<[string, string, string, string]>([
    [
      'that sets a cookie that cannot be sent',
      'DOWNLOADER_MIDDLEWARES',
      "processRequest(request) { request.cookies = { sid: 'a;b' }; }",
      'processRequest failed on http',
    ],
    [
      'that sets a wrong value in meta',
      'DOWNLOADER_MIDDLEWARES',
      "processRequest(request) { request.meta.download_timeout = '5'; }",
      'meta.download_timeout is',
    ],
    [
      'whose output is no result',
      'SPIDER_MIDDLEWARES',
      "async *processSpiderOutput(_, results) { yield* results; yield 'text'; }",
      'processSpiderOutput failed on http',
    ],
    [
      'whose answer to an error is no result',
      'SPIDER_MIDDLEWARES',
      "processSpiderException: () => ['text']",
      'processSpiderException failed on http',
    ],
  ])('%s is named, not the spider', async (_what, setting, module, says) => {
    await project.write('middlewares/own.ts', `export default { ${module} };`);
    await spider(`
      customSettings = { ${setting}: { './middlewares/own.ts': 500 } };
      startUrls = ['${site.url}'];
      *parse() { ${module.includes('Exception') ? "throw new Error('no price')" : 'yield { n: 1 }'}; }`);
    const { summary, stderr } = await crawlLines(project, 'shop');
    expect(summary).toMatchObject({ failed: 1, items: 0 });
    expect(stderr).toContain('./middlewares/own.ts: ');
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('shop.parse failed');
  });
});
