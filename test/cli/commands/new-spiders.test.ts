/** `genspider` and `runspider`: from an empty folder to items. */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

let site: Site;
let project: Project;
beforeEach(async () => {
  site = await startSite({ pages: 4 });
  project = await createProject();
});
afterEach(async () => {
  await project.remove();
  await site.close();
});
const run = (...args: string[]) => runHere(args, { cwd: project.dir });
/** A folder that is no project. */
const outside = async (...args: string[]) => {
  await project.write('outside/notes.txt', '');
  return runHere(args, { cwd: project.path('outside') });
};

describe('genspider', () => {
  it('writes a spider of each template into the project, which crawls at once', async () => {
    for (const template of ['basic', 'crawl']) {
      const { code, stdout } = await run('genspider', `my-${template}.1`, site.url, '-t', template);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining(`a new spider in spiders/my-${template}.1.ts`),
      });
      const crawl = await run('crawl', `my-${template}.1`, '-o', `${template}.jsonl`, '--exit-when-done');
      expect(crawl.code).toBe(0);
      expect(crawl.stdout).toMatch(/finished, 1 pages?, /);
    }
    expect(await project.readJsonLines('basic.jsonl')).toMatchObject([{ url: site.url }]);
    expect(await project.read('spiders/my-basic.1.ts')).toContain('class MyBasic1 extends Spider');
  });

  it('writes into the working folder where there is no project, and says how to run it', async () => {
    expect(await outside('genspider', 'shop', 'shop.example')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('crawlnode runspider shop.ts -o shop.jsonl'),
    });
    const text = await project.read('outside/shop.ts');
    expect(text).toContain("startUrls = ['https://shop.example/']");
    expect(text).toContain("allowedDomains = ['shop.example']");
  });

  it('takes a host of this machine for plain HTTP', async () => {
    await run('genspider', 'here', 'localhost:8000');
    expect(await project.read('spiders/here.ts')).toContain("startUrls = ['http://localhost:8000/']");
    rmSync(project.path('spiders/here.ts'));
  });

  it.each([
    [['a/b', 'shop.example'], 'the name "a/b" is not of 1 to 64 letters'],
    [['shop.test', 'shop.example'], 'shop.test.ts cannot be the file of a spider'],
    [['--', '-shop', 'shop.example'], '-shop.ts cannot be the file of a spider'],
    [['shop', '*.shop.example'], '"*.shop.example" is neither a domain'],
    [['shop', 'shop example'], '"shop example" is neither a domain'],
    [['shop', 'shop.example/lamps'], '"shop.example/lamps" is neither a domain'],
    [['shop', 'ftp://shop.example'], '"ftp://shop.example" is neither a domain'],
    [['shop', 'shop.example', '-t', 'xml'], "'xml' is invalid. Allowed choices are basic, crawl"],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run('genspider', ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(readdirSync(project.path('spiders'))).toEqual([]);
  });

  it('never writes over a file, and takes no name that another spider has', async () => {
    await run('genspider', 'shop', 'shop.example');
    const first = await project.read('spiders/shop.ts');
    expect((await run('genspider', 'shop', 'other.example')).stderr).toContain('choose another name');
    renameSync(project.path('spiders/shop.ts'), project.path('spiders/renamed.ts'));
    expect((await run('genspider', 'shop', 'other.example')).stderr).toContain(
      'has a spider shop already, in spiders/renamed.ts',
    );
    expect(readdirSync(project.path('spiders'))).toEqual(['renamed.ts']);
    expect(await project.read('spiders/renamed.ts')).toBe(first);
  });
});

describe('a project of init', () => {
  it('gives the items of any further spider', async () => {
    expect((await run('init', 'shop')).code).toBe(0);
    const inProject = (...args: string[]) => runHere(args, { cwd: project.path('shop') });
    for (const template of ['basic', 'crawl']) {
      expect((await inProject('genspider', template, `${site.url}`, '-t', template)).code).toBe(0);
    }
    // The pages of the site are not at the paths that the template expects.
    const rules = await project.read('shop/spiders/crawl.ts');
    await project.write('shop/spiders/crawl.ts', rules.replace('/\\/item\\//', '/./'));
    for (const [template, items] of Object.entries({ basic: 1, crawl: 3 })) {
      const output = `${template}.jsonl`;
      const options = ['-O', output, '-s', 'DOWNLOAD_DELAY=0', '--exit-when-done'];
      const crawled = await inProject('crawl', template, ...options);
      expect(crawled).toMatchObject({ code: 0, stdout: expect.stringContaining(' 0 failed') });
      expect(await project.readJsonLines(`shop/${output}`)).toHaveLength(items);
    }
  });

  it('keeps the items in the items list when no file is given', async () => {
    await run('init', 'shop');
    const inProject = (...args: string[]) => runHere(args, { cwd: project.path('shop') });
    await inProject('genspider', 'pages', site.url);
    const crawled = await inProject('crawl', 'pages', '--exit-when-done');
    expect(crawled).toMatchObject({ code: 0, stdout: expect.stringContaining('items: in the items list') });
    expect((await inProject('items', 'pages', 'list')).stdout).toContain(site.url);
  });

  it('names file and line of a pipeline that fails', async () => {
    await run('init', 'shop');
    const inProject = (...args: string[]) => runHere(args, { cwd: project.path('shop') });
    await inProject('genspider', 'pages', site.url);
    await project.write(
      'shop/pipelines/clean.ts',
      `export default ({ item }: { item: any }) => {\n  item.text.trim();\n};\n`,
    );
    const { stderr } = await inProject('crawl', 'pages', '-o', 'pages.jsonl', '--exit-when-done');
    expect(stderr).toMatch(
      /clean\.ts: Cannot read properties of undefined \(reading 'trim'\) \(.*clean\.ts:2:\d+\)/,
    );
    expect((await inProject('failed', 'pages', 'list')).stdout).toMatch(/clean\.ts:2:\d+/);
  });
});

describe('runspider', () => {
  const spider = `
import { Spider, type Response } from 'crawlnode';
export default class Pages extends Spider {
  name = 'pages';
  startUrls = [this.args.start!];
  *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

  it('crawls the spider of a file without a project, each time anew', async () => {
    await project.write('outside/pages.ts', spider);
    for (const file of ['one.jsonl', 'two.jsonl']) {
      const { code, stdout } = await outside('runspider', 'pages.ts', '-a', `start=${site.url}`, '-O', file);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('finished, 4 pages') });
      expect(await project.readJsonLines(`outside/${file}`)).toHaveLength(4);
    }
  });

  it('goes on with a crawl that was interrupted', async () => {
    await project.write('outside/pages.ts', spider);
    const args = ['runspider', 'pages.ts', '-a', `start=${site.url}`, '-o', 'items.jsonl'];
    expect((await outside(...args, '--max-pages', '1')).stdout).toContain('closespider_pagecount, 1 page');
    expect((await outside(...args)).stdout).toContain('finished');
    expect(await project.readJsonLines('outside/items.jsonl')).toHaveLength(4);
  });

  it.each([
    ['nope.ts', 'there is no file nope.ts'],
    ['pages', 'there is no file pages; \\"crawlnode crawl pages\\" crawls a spider of the project'],
    ['notes.txt', 'notes.txt is not a TypeScript or JavaScript file'],
    ['.', '. is a folder; give the file of a spider'],
    ['empty.ts', 'empty.ts has no spider'],
    ['named.ts', 'exports the spider Shop by name only'],
    ['broken.ts', 'broken.ts'],
  ])('refuses %s', async (file, message) => {
    await project.write('outside/empty.ts', 'export const a = 1;');
    await project.write(
      'outside/named.ts',
      "import { Spider } from 'crawlnode';\nexport class Shop extends Spider {}",
    );
    await project.write('outside/broken.ts', 'export default class {');
    const { code, stderr } = await outside('runspider', file, '-s', 'LOG_FORMAT=text');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(readdirSync(project.path('outside'))).not.toContain('.crawlnode');
  });
});
