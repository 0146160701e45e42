/** `parse` of a saved page, and `items list`. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const spider = `
import { Spider, type Response } from 'crawlnode';
export default class Pages extends Spider {
  name = 'pages';
  *parse(response: Response) {
    yield { title: response.css('title::text').get() };
    yield* response.followAll('a', this.parse);
  }
}
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({ files: { 'spiders/pages.ts': spider } });
  await project.write('saved.html', '<title>Saved</title><a href="/next">next</a>');
});
afterEach(() => project.remove());
const run = (...args: string[]) => runHere(args, { cwd: project.dir });

describe('parse FILE', () => {
  it.each([
    [['pages', 'saved.html']],
    [['saved.html', 'pages']],
    [['saved.html']],
    [['./saved.html', '--spider', 'pages']],
  ])('%j reads the file in place of a page, with links from --url', async (words) => {
    const { code, stdout, stderr } = await run('parse', ...words, '--url', 'http://shop.example/a/b');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      url: 'http://shop.example/a/b',
      status: 200,
      items: [{ title: 'Saved' }],
      requests: [{ url: 'http://shop.example/next' }],
    });
  });

  it('takes a file:// URL, and says where links count from without --url', async () => {
    const { stdout, stderr } = await run('parse', 'pages', `file://${project.path('saved.html')}`);
    expect(JSON.parse(stdout).requests).toMatchObject([{ url: 'http://localhost/next' }]);
    expect(stderr).toContain('links of saved.html count from http://localhost/; --url gives its URL');
  });

  it('names the modules of the project that do not run, and prints the items as the callback yields them', async () => {
    await project.write(
      'crawlnode.yaml',
      'ITEM_PIPELINES: { ./pipelines/upper.ts: 100, ./off.ts: null, RedisPipeline: 300 }\nSPIDER_MIDDLEWARES: { ./middlewares/links.ts: 500 }\n',
    );
    const { code, stdout, stderr } = await run(
      'parse',
      'pages',
      'saved.html',
      '--url',
      'http://shop.example/',
    );
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'parse does not run ./pipelines/upper.ts, ./middlewares/links.ts; a crawl does\n',
    });
    expect(JSON.parse(stdout).items).toEqual([{ title: 'Saved' }]);
  });

  it.each([
    [['pages', 'gone.html'], 'gone.html is neither a URL (http://… or https://…) nor an existing file'],
    [['pages', 'spiders'], 'spiders is no file'],
    [['pages', 'http://a.example/', '--url', 'http://b.example/'], '--url goes with a local file'],
    [['pages', 'saved.html', '--url', '/a'], '"/a" cannot be requested: it has no scheme'],
  ])('refuses %j', async (words, message) => {
    const { code, stderr } = await run('parse', ...words);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('items SPIDER list', () => {
  let site: Site;
  beforeEach(async () => {
    site = await startSite({ pages: 4 });
  });
  afterEach(() => site.close());

  it('prints the first items, which stay in the list', async () => {
    await run('seed', 'pages', site.url);
    await run('crawl', 'pages', '--exit-when-done');
    const { code, stdout, stderr } = await run('items', 'pages', 'list', '--limit', '3');
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([['title'], ['title'], ['title']]);
    expect(stderr).toBe('pages: the first 3 of 4 items; --limit N shows more\n');
    expect((await run('items', 'list', 'pages')).stdout.trim().split('\n')).toHaveLength(4);
    expect(JSON.parse((await run('stats', 'pages', '--json')).stdout).items).toBe(4);
  });

  it('says why a list is empty, and makes no store', async () => {
    const { code, stdout, stderr } = await run('items', 'pages', 'list');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('pages: the items list is empty');
    expect(project.exists('.crawlnode')).toBe(false);
  });

  it.each([
    [['list', '-o', 'items.jsonl'], '-o goes with export'],
    [['list', '--max', '3'], '--max goes with export'],
    [['export', '--limit', '3'], '--limit goes with list'],
    [['list', '--limit', '0'], 'Expected a whole number, at least 1'],
  ])('refuses %j', async (words, message) => {
    const { code, stderr } = await run('items', 'pages', ...words);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
