/** What authors from Scrapy, Scrapy-Redis and Crawlee write by habit: it works, or is refused before the first page. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crawlLines } from '../helpers/cli/crawled-project.js';
import { runHere } from '../helpers/cli/run-here.js';
import { runCli } from '../helpers/cli.js';
import { createProject, type Project } from '../helpers/project.js';
import { type Site, startSite } from '../helpers/sites/site.js';

let site: Site;
let project: Project;

beforeEach(async () => {
  site = await startSite({ pages: 5 });
  project = await createProject({ settings: { START_TIMEOUT: 0 } });
});
afterEach(async () => {
  await site.close();
  await project.remove();
});

/** Write a spider of this body. */
const spider = (body: string, Base = 'Spider', file = 'spiders/shop.ts') =>
  project.write(
    file,
    `import { CrawlSpider, glob, Request, SitemapSpider, Spider } from 'crawlnode';
     export default class extends ${Base} { ${body} }`,
  );
const named = (body: string, Base = 'Spider') => spider(`name = 'shop'; ${body}`, Base);
const run = (...args: string[]) => runHere(args, { cwd: project.dir });

describe('static members of a spider', () => {
  it('count like fields', async () => {
    await spider(`
      static name = 'shop';
      static startUrls = ['${site.url}'];
      static allowedDomains = ['other.example'];
      static customSettings = { USER_AGENT: 'static agent' };
      *parse(response) { yield { agent: this.settings.USER_AGENT }; yield* response.followAll('a'); }`);
    const { summary, lines, stderr } = await crawlLines(project, 'shop');
    expect(lines).toEqual([{ agent: 'static agent' }]);
    expect(summary).toMatchObject({ pages: 1, items: 1 });
    expect(stderr).not.toContain('has no method');
  });

  it('of a base class count too', async () => {
    await project.write(
      'spiders/_base.ts',
      `import { Spider } from 'crawlnode';
       export class Base extends Spider { static startUrls = ['${site.url}']; }`,
    );
    await project.write(
      'spiders/shop.ts',
      `import { Base } from './_base.js';
       export default class extends Base { name = 'shop'; parse() { return { n: 1 }; } }`,
    );
    expect((await crawlLines(project, 'shop')).lines).toEqual([{ n: 1 }]);
  });

  it('beside a field of the same name are refused', async () => {
    await named(`static startUrls = ['${site.url}']; startUrls = ['${site.url}a']; parse() {}`);
    expect(await run('crawl', 'shop')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('startUrls and static startUrls, which are the same: keep one'),
    });
  });
});

describe('fields without a value', () => {
  const warned = async (body: string) => {
    await named(`startUrls = ['${site.url}']; ${body}`);
    const { stderr } = await crawlLines(project, 'shop');
    return /"fields":(\[[^\]]*\])[^\n]*"msg":"no item of this node has a value in these fields/.exec(
      stderr,
    )?.[1];
  };

  it.each([
    [
      'undefined in each item',
      'parse(r) { return { n: 1, id: r.meta.idd, none: null, u: r.url }; }',
      '["id"]',
    ],
    [
      'null in each of many',
      '*parse() { for (let n = 0; n < 10; n += 1) yield { n, price: null }; }',
      '["price"]',
    ],
  ])('are named at the end: %s', async (_what, body, fields) => {
    expect(await warned(body)).toBe(fields);
  });

  it('are not where an item has them', async () => {
    const body =
      '*parse() { for (let n = 0; n < 10; n += 1) yield { n, price: n === 4 ? 4 : [null, undefined][n % 2] }; }';
    expect(await warned(body)).toBeUndefined();
  });
});

it('the build keeps the names of classes, which console.log() and messages show', async () => {
  await project.write('page.html', '<h1>Title</h1>');
  const code =
    "[response, response.css('h1'), new Request('http://a.example/')].map((one) => one.constructor.name).join()";
  const { stdout } = await runCli(['shell', 'page.html', '-e', code], { cwd: project.dir });
  expect(stdout).toContain('Response,SelectorList,Request');
  expect(stdout).not.toContain('_');
});

describe('what a generator returns', () => {
  const page = (body: string) => named(`startUrls = ['${site.url}']; ${body}`);

  it.each([
    ['a generator', '*parse(r) { yield { n: 1 }; return { n: 2 }; }'],
    ['an async generator', 'async *parse(r) { yield { n: 1 }; return { n: 2 }; }'],
    ['a nested generator', '*more() { return { n: 2 }; } *parse(r) { yield { n: 1 }; yield this.more(); }'],
    ['a delegate', '*more() { yield { n: 1 }; return { n: 2 }; } *parse(r) { return yield* this.more(); }'],
  ])('is taken like what a method returns: %s', async (_what, body) => {
    await page(body);
    expect((await crawlLines(project, 'shop')).lines).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('is followed', async () => {
    await page("*parse(r) { yield { url: r.url }; return r.followAll('a', this.parse); }");
    expect((await crawlLines(project, 'shop')).summary).toMatchObject({ pages: 5, items: 5 });
  });

  it('passes spider middleware', async () => {
    await project.write(
      'middlewares/mark.ts',
      'export default { async *processSpiderOutput(_, results) { for await (const item of results) yield { ...item, marked: true }; } };',
    );
    await page(`
      customSettings = { SPIDER_MIDDLEWARES: { './middlewares/mark.ts': 500 } };
      async *parse(r) { yield { n: 1 }; return { n: 2 }; }`);
    expect((await crawlLines(project, 'shop')).lines).toEqual([
      { n: 1, marked: true },
      { n: 2, marked: true },
    ]);
  });
});

describe('what only the line of the code tells', () => {
  it.each([
    ["yield* response.follow_all('a', this.parse);", 'it is followAll() here'],
    ["yield new Error('no price');", 'a callback throws errors, it does not yield them: no price'],
    ["yield 'http://a.example/';", 'for a link, yield response.follow(url)'],
  ])('%s is explained', async (body, said) => {
    await named(`startUrls = ['${site.url}'];\n*parse(response) {\n  ${body}\n}`);
    const { summary, stderr } = await crawlLines(project, 'shop');
    expect({ summary, stderr }).toMatchObject({
      summary: { failed: 1 },
      stderr: expect.stringContaining(said),
    });
  });

  it.each([
    ["yield* response.follow_all('a', this.parse);", 'it is followAll() here'],
    ['yield { text: response.text() };', 'it is a property here: write text without ()'],
    ["yield { text: response.body.decode('utf8') };", 'response.text is the page as text'],
    ['yield Request(response.url);', 'write new Request(…)'],
    ['yield { status: response.value.response.status };', 'an errback gets a Failure, with failure.response'],
  ])('%s of an async generator is explained', async (body, said) => {
    await named(`startUrls = ['${site.url}'];\nasync *parse(response) {\n  ${body}\n}`);
    expect((await crawlLines(project, 'shop')).stderr).toContain(said);
  });

  it('a promise that nobody awaits is told with its place', async () => {
    await named(
      `startUrls = ['${site.url}'];\nparse() {\n  Promise.reject(new Error('forgotten'));\n return { n: 1 };\n}`,
    );
    const { stderr } = await runCli(['crawl', 'shop', '--exit-when-done'], { cwd: project.dir });
    expect(stderr).toMatch(/"error":"forgotten","where":"spiders\/shop\.ts:\d+:\d+"/);
  });
});

describe('a module that null switches off', () => {
  it('is one that exists, or of Scrapy', async () => {
    await project.write('pipelines/price.ts', 'export default { processItem() {} };');
    await named(`startUrls = ['${site.url}']; parse() {}`);
    const dryRun = async (settings: object) => {
      await project.write('crawlnode.yaml', JSON.stringify(settings));
      const { code, stderr } = await run('crawl', 'shop', '--dry-run');
      return `${code}: ${stderr}`;
    };
    const known = { './pipelines/price.ts': null, 'scrapy.pipelines.x.Y': null, RedisPipeline: null };
    expect(await dryRun({ ITEM_PIPELINES: known })).toMatch(/^0: /);
    expect(await dryRun({ ITEM_PIPELINES: { './pipelines/pirce.ts': null } })).toMatch(
      /^2: .*names \.\/pipelines\/pirce\.ts: there is no file .*There are: .*price/s,
    );
    expect(await dryRun({ DOWNLOADER_MIDDLEWARES: { RetryMiddlewar: null } })).toMatch(
      /^2: .*RetryMiddlewar does not exist.*did you mean RetryMiddleware\?/s,
    );
  });
});

describe('a method of a module that nothing calls', () => {
  const refusal = async (setting: string, module: string) => {
    await project.write('part.ts', `export default ${module};`);
    await named(`
      customSettings = { ${setting}: { './part.ts': 100 } };
      startUrls = ['${site.url}'];
      parse() { return { n: 1 }; }`);
    const { code, stderr } = await run('crawl', 'shop', '--exit-when-done');
    return `${code}: ${stderr}`;
  };

  it.each([
    ['ITEM_PIPELINES', '{ processItem({ item }) { return item; }, comitted(batch) {} }', 'committed'],
    ['ITEM_PIPELINES', 'class { processItem({ item }) { return item; } closeSpider() {} }', 'close'],
    ['DOWNLOADER_MIDDLEWARES', 'class { processRequest() {} procesResponse() {} }', 'processResponse'],
    ['SPIDER_MIDDLEWARES', '{ processSpiderInput() {}, processSpiderOuput() {} }', 'processSpiderOutput'],
    ['EXTENSIONS', 'class { spiderOpened() {} itemScrapped() {} }', 'itemScraped'],
  ])('of %s, %s, is refused with the right name', async (setting, module, meant) => {
    expect(await refusal(setting, module)).toMatch(
      new RegExp(
        `^2: .*\\./part\\.ts, whose default export has \\w+, which has no effect; did you mean ${meant}\\?`,
        's',
      ),
    );
  });

  it('is taken where other code of its module calls it', async () => {
    const module =
      'class { processItem({ item }) { return this.comitted(item); } comitted(item) { return item; } }';
    expect(await refusal('ITEM_PIPELINES', module)).toMatch(/^0: /);
  });
});

describe("a pipeline in Scrapy's form", () => {
  const withPipeline = async (module: string) => {
    await project.write('pipelines/price.ts', `export default ${module};`);
    await named(`
      customSettings = { ITEM_PIPELINES: { './pipelines/price.ts': 100 } };
      startUrls = ['${site.url}'];
      parse() { return { n: 1 }; }`);
  };

  it.each([
    ['returns what it was called with', 'class { processItem(item) { return item; } }'],
    ['copies what it was called with', 'class { processItem(item) { return { ...item, price: 5 }; } }'],
    ['changes what it was called with', 'class { processItem(item) { item.price = 5; return item; } }'],
    ['is a function', '(item) => { item.price = 5; }'],
  ])('that %s fails its page, and says how to write it', async (_what, module) => {
    await withPipeline(module);
    const { summary, lines, stderr } = await crawlLines(project, 'shop');
    expect({ summary, lines }).toMatchObject({ summary: { failed: 1, items: 0 }, lines: [] });
    expect(stderr).toContain('./pipelines/price.ts: ');
    expect(stderr).toContain('write processItem({ item })');
  });

  it('that returns DropItem in place of throwing it fails its page', async () => {
    await project.write(
      'pipelines/price.ts',
      `import { DropItem } from 'crawlnode';
       export default { processItem: () => new DropItem('no price') };`,
    );
    await named(`
      customSettings = { ITEM_PIPELINES: { './pipelines/price.ts': 100 } };
      startUrls = ['${site.url}'];
      parse() { return { n: 1 }; }`);
    const { summary, stderr } = await crawlLines(project, 'shop');
    expect(summary).toMatchObject({ failed: 1, items: 0 });
    expect(stderr).toContain('returned DropItem instead of the item: throw it');
  });

  it('with the spider as its second parameter is refused at the start', async () => {
    await withPipeline('class { processItem(item, spider) { return item; } }');
    expect(await run('crawl', 'shop')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('write processItem({ item, spider })'),
    });
  });
});

describe('what can be decided when the spider loads is not found page by page', () => {
  it.each<[string, string, string, string?]>([
    ['no parse', "startUrls = ['http://a.example/']", 'no method parse, which its startUrls need'],
    ["Crawlee's handler", 'async requestHandler() {}', 'requestHandler, which has no effect: use parse'],
    ['a bad pattern of a rule', "rules = [{ allow: '(' }]", 'rules[0]', 'CrawlSpider'],
    ['a bad selector of a rule', "rules = [{ selector: 'a[' }]", 'rules[0]', 'CrawlSpider'],
    [
      'a bad pattern of a sitemap rule',
      "sitemapRules = [['(', 'parse']]; parse() {}",
      'sitemapRules',
      'SitemapSpider',
    ],
  ])('%s', async (_what, body, says, Base) => {
    await named(body, Base);
    const { code, stderr } = await run('crawl', 'shop', '--dry-run');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
  });

  it('start requests that all name a callback need no parse', async () => {
    await named(
      `startUrls = [new Request('${site.url}', { callback: this.one })]; one() { return { n: 1 }; }`,
    );
    expect((await crawlLines(project, 'shop')).lines).toEqual([{ n: 1 }]);
  });
});

describe('what the platform and other frameworks have', () => {
  const page = (body: string) => named(`startUrls = ['${site.url}']; ${body}`);
  const crawled = async (body: string) => {
    await page(body);
    return crawlLines(project, 'shop');
  };

  it('Headers, a Map and URLSearchParams are taken where their objects are', async () => {
    const { lines } = await crawled(`parse() {
      const headers = new Headers({ 'x-a': '1' });
      const get = new Request('${site.url}', { headers, method: 'GET', formdata: new URLSearchParams('q=a b&q=c') });
      const post = new Request('${site.url}', { headers: new Map([['x-b', 2]]), formdata: new URLSearchParams('q=1') });
      return [get, post].map(({ url, headers, body }) => ({ url, headers: { ...headers }, body: String(body) }));
    }`);
    expect(lines).toEqual([
      { url: `${site.url}?q=a+b&q=c`, headers: { 'x-a': '1' }, body: 'null' },
      {
        url: site.url,
        headers: { 'x-b': '2', 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'q=1',
      },
    ]);
  });

  it('a selection has map, and glob() serves where patterns do', async () => {
    const { lines } = await crawled(`*parse(r) {
      const hrefs = r.css('a[href]').map((a) => r.urljoin(a.attr('href')).replace(/#.*/, ''));
      const [all, none] = ['http://*/**', 'http://*/'].map((pattern) => r.links({ allow: glob(pattern) }));
      yield { areAll: new Set(hrefs).size === all.length, none: none.filter((url) => url !== r.url).length };
    }`);
    expect(lines).toEqual([{ areAll: true, none: 0 }]);
  });

  it.each([
    ['r.follow(null)', 'follow() on'],
    ["return r.follow('/', this.closed)", 'crawlnode calls closed itself'],
    ['r.follow(undefined)', 'give a URL or a selection'],
    ["this.logger.info('x')", 'the log is this.log'],
    ["this.crawler.stats.incValue('x')", 'the stats are this.stats'],
    ["this.settings.get('X')", 'settings is a plain object'],
    ["this.stats.inc_value('x')", 'it is incValue() here'],
    ['new Request(r.url, { timeout: 30000 })', 'and not of milliseconds'],
  ])('%s fails its page with what to write', async (code, says) => {
    const { stderr, summary } = await crawled(`parse(r) { ${code}; }`);
    expect(stderr).toContain(says);
    expect(summary).toMatchObject({ failed: 1 });
  });
});

it.each([
  ['RedisSpider', 'write Spider: every spider accepts seeds'],
  ['RedisCrawlSpider', 'write CrawlSpider'],
  ['CheerioCrawler', 'write a Spider'],
  ['FormRequest', 'Request.fromForm(response)'],
])('a spider that imports %s from crawlnode is told what serves', async (name, says) => {
  const code = `import { ${name} } from 'crawlnode'; export default class extends ${name} { name = 'shop'; }`;
  await project.write('spiders/shop.js', code);
  const { stderr } = await runCli(['list'], { cwd: project.dir });
  expect(stderr).toContain(`crawlnode exports no ${name}: `);
  expect(stderr).toContain(says);
});

describe('parse says what a crawl does otherwise', () => {
  it('of a status that reaches no callback', async () => {
    await named('parse(r) { return { status: r.status }; }');
    const page = `${site.origin}/none`;
    expect(await run('parse', 'shop', page)).toMatchObject({
      stdout: expect.stringContaining('"status":404'),
      stderr: expect.stringContaining('a crawl calls no callback for the status 404'),
    });
    expect((await run('parse', 'shop', page, '-s', 'HTTPERROR_ALLOWED_CODES=404')).stderr).toBe('');
  });

  it('of a page that a rule has a callback for', async () => {
    await named(
      "rules = [{ allow: 'page', callback: this.parsePage }]; parsePage(r) { return { n: 1 }; }",
      'CrawlSpider',
    );
    await project.write('saved.html', '<title>Saved</title>');
    const args = ['parse', 'shop', 'saved.html', '--url', `${site.origin}/page/2`];
    expect((await run(...args)).stderr).toContain('a crawl calls parsePage for links like this one');
    expect((await run(...args, '--callback', 'parsePage')).stderr).toBe('');
  });
});

it.each([
  ['Spider', '*parse(self, response) { yield { url: response.url }; }', 'parse takes self, as in Python'],
  ['CrawlSpider', 'rules = [];', 'is a CrawlSpider without rules'],
])('a %s with %s is told so at its start', async (Base, body, says) => {
  await named(`startUrls = ['${site.url}']; ${body}`, Base);
  expect((await run('crawl', 'shop', '--exit-when-done')).stderr).toContain(says);
});

describe('what Scrapy-Redis has', () => {
  it('the start_urls key under the name of the spider is the default key, so that reset takes it', async () => {
    await named("redis_key = this.name + ':start_urls'; parse() {}");
    const { stdout } = await run('settings', '--spider', 'shop');
    expect(stdout).toMatch(/REDIS_START_URLS_KEY.*%\(name\)s:start_urls/);
  });

  it.each([
    ['DUPEFILTER_KEY=x:dupefilter', 'use SCHEDULER_DUPEFILTER_KEY'],
    ['DUPEFILTER_CLASS=project.TimedDupeFilter', 'the built-in TimedRFPDupeFilter'],
  ])('%s is refused with what serves', async (setting, says) => {
    await named('parse() {}');
    const { code, stderr } = await run('settings', '-s', setting);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
  });
});

it.each(['mts', 'cts', 'tsx'])('a spider in a .%s file loads', async (ending) => {
  const body = `name = 'shop'; startUrls = ['${site.url}']; parse() { return { n: 1 }; }`;
  await spider(body, 'Spider', `spiders/shop.${ending}`);
  const { stdout, code } = await runCli(['list'], { cwd: project.dir });
  expect({ stdout, code }).toEqual({ stdout: 'shop\n', code: 0 });
});

it.each(['shop.cjs', 'shop.js'])(
  'a CommonJS spider in %s loads, or is refused with what to write',
  async (file) => {
    await project.write('package.json', '{ "type": "module" }');
    const code =
      "const { Spider } = require('crawlnode'); module.exports = class extends Spider { name = 'shop'; parse() {} };";
    await project.write(`spiders/${file}`, code);
    const { stdout, stderr } = await runCli(['list'], { cwd: project.dir });
    expect(stdout === 'shop\n' || stderr.includes('it is CommonJS')).toBe(true);
  },
);

describe('an argument that the spider does not read', () => {
  it.each([
    ['startUrls = [this.args.start ?? site]; parse() {}', 'start=x', null],
    ["startUrls = [this.args['start'] ?? site]; parse() {}", 'start=x', null],
    ['parse() { const { start } = this.args; }', 'start=x', null],
    ['parse() { return Object.entries(this.args); }', 'strat=x', null],
    ['startUrls = [this.args.start ?? site]; parse() {}', 'strat=x', 'argument strat; did you mean start?'],
    [
      'parse() { return { of: this.category }; }',
      'category=x',
      'argument category, as this.args.category would',
    ],
  ])('is warned of: %s with -a %s', async (body, arg, said) => {
    await named(body.replaceAll('site', `'${site.url}'`));
    const { stderr } = await run('crawl', 'shop', '--dry-run', '-a', arg);
    if (said === null) expect(stderr).not.toContain('does not read');
    else expect(stderr).toContain(`the spider shop does not read the ${said}`);
  });
});
