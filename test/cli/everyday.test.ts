/** Commands as somebody calls them on a first day, in this process, on the embedded engine. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunHere, runHere } from '../helpers/cli/run-here.js';
import { createProject, type Project } from '../helpers/project.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { tempDir } from '../helpers/temp-dir.js';

const spider = (name: string) => `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = '${name}';
  *parse(response: Response) { yield { title: response.css('title::text').get() }; }
}
`;

let project: Project;
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 3 });
  project = await createProject({ settings: {}, files: { 'spiders/shop.ts': spider('shop') } });
});
afterAll(async () => {
  await project.remove();
  await site.close();
});
const run = (args: readonly string[], how: RunHere = {}) => runHere(args, { cwd: project.dir, ...how });

describe('in an empty folder', () => {
  const readers = [
    ...['stats', 'stats shop', 'stats shop@may', 'inspect shop http://a.example/', 'failed shop list'],
    ...['failed list shop', 'doctor', 'doctor shop', 'doctor shop --deep', 'reset shop --dry-run', 'list'],
    ...['items shop export', 'items export shop', 'settings', 'forget shop http://a.example/', 'stop shop'],
  ];
  it.each(readers)('%s makes no folder', async (line) => {
    const { dir, remove } = tempDir('empty');
    const { code } = await run(line.split(' '), { cwd: dir });
    expect(code).toBeLessThanOrEqual(2);
    expect(await import('node:fs').then(({ readdirSync }) => readdirSync(dir))).toEqual([]);
    await remove();
  });

  it('doctor says what to do about missing spiders, and nothing about a module', async () => {
    const { dir, remove } = tempDir('empty');
    const { code, stdout } = await run(['doctor'], { cwd: dir });
    expect(code).toBe(1);
    expect(stdout).toContain('"crawlnode init DIR" makes a project');
    expect(stdout).not.toContain('correct the module');
    await remove();
  });

  it('init . makes the project there, and the next command needs no cd', async () => {
    const { dir, remove } = tempDir('empty');
    const { code, stdout } = await run(['init', '.'], { cwd: dir });
    expect(code).toBe(0);
    expect(stdout).toMatch(/next:\n\n {2}crawlnode crawl quotes -o quotes.jsonl --exit-when-done\n/);
    expect((await run(['list'], { cwd: dir })).stdout).toBe('quotes\n');
    expect((await run(['init', 'sub'], { cwd: dir })).stdout).toContain('\n  cd sub\n');
    await remove();
  });
});

describe('in any folder of the project', () => {
  it('commands find it, and say so once on stderr', async () => {
    const cwd = path.join(project.dir, 'spiders');
    for (const below of [cwd, path.join(cwd, 'deep', 'er')]) {
      mkdirSync(below, { recursive: true });
      const { code, stdout, stderr } = await run(['list'], { cwd: below });
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'shop\n' });
      expect(stderr).toBe(`the project is ${project.dir}, a parent of this folder\n`);
    }
  });
});

describe('a crawl', () => {
  it('is named as stats prints it, by every command', async () => {
    expect((await run(['seed', 'shop@may', `${site.url}?job`])).stdout).toMatch(/^shop@may: 1 accepted/);
    expect((await run(['stats'])).stdout).toMatch(/^shop@may /m);
    const stats = async (...args: string[]) => JSON.parse((await run(['stats', ...args, '--json'])).stdout);
    expect(await stats('shop@may')).toMatchObject({
      spider: 'shop',
      job: 'may',
      pending: 1,
      state: 'waiting',
    });
    expect(await stats('shop', '--job', 'may')).toEqual(await stats('shop@may'));
    expect(await run(['stats', 'shop@may', '--job', 'june'])).toMatchObject({ code: 2 });
    expect((await run(['doctor', 'shop@may'])).stdout).toMatch(/ shop@may: embedded engine/);
    expect((await run(['settings', 'JOB', '--spider', 'shop@may', '--json'])).stdout).toContain('"may"');
  });

  it('may be named before or after action and URL', async () => {
    const page = `${site.url}?order`;
    await run(['seed', 'shop', page]);
    const both = [
      [
        ['inspect', 'shop', page],
        ['inspect', page, 'shop'],
      ],
      [
        ['failed', 'shop', 'list', '--json'],
        ['failed', 'list', 'shop', '--json'],
      ],
      [
        ['items', 'shop', 'export', '--json'],
        ['items', 'export', 'shop', '--json'],
      ],
      [
        ['parse', 'shop', page],
        ['parse', page, '--spider', 'shop'],
        ['parse', page],
      ],
    ];
    for (const [first, ...others] of both) {
      const shown = await run(first!);
      expect(shown.code, shown.stderr).toBe(0);
      const withoutAge = (text: string) => text.replace(/\([\d.]+ \w+ ago\)/g, '');
      for (const other of others) {
        expect(withoutAge((await run(other)).stdout)).toBe(withoutAge(shown.stdout));
      }
    }
  });

  it('is named by parse where the project has several spiders', async () => {
    await project.write('spiders/news.ts', spider('news'));
    expect(await run(['parse', site.url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the project has 2 spiders: name one, crawlnode parse SPIDER URL'),
    });
    expect(await run(['parse', 'shop'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('shop is neither a URL'),
    });
  });
});

describe('what is wrong is named', () => {
  const wrong: readonly (readonly [args: string, says: RegExp])[] = [
    ['crawl shop -s DOWNLOAD_DELAY 1', /too many arguments .*: 1; "crawlnode crawl --help" says more/],
    ['crawl shop --max-pages x', /--max-pages <n>.*'x' is invalid/],
    ['crawl shop --max-pages 0', /--max-pages <n>.*at least 1/],
    ['crawl shop -s FOO=1', /unknown setting FOO(?!.*did you mean)/],
    ['crawl shop -s DOWNLOAD_DELYA=1', /did you mean DOWNLOAD_DELAY\?/],
    ['bench', /unknown command "bench"(?!.*did you mean)/],
    ['edit', /unknown command "edit"(?!.*did you mean)/],
    ['status', /did you mean stats\?/],
    ['fecth', /did you mean fetch\?/],
    ['failed shop drop', /"drop" is not an action; the actions are summary, list, retry, purge/],
    [
      'failed shop retry --reason nonsense',
      /unknown reason; the reasons are robots_unreachable, http_status, /,
    ],
    ['failed shop retry --reason timout', /did you mean timeout\?/],
    ['failed shop retry --status 9xx', /9xx/],
    ['fingerprint foo', /"foo" cannot be requested: it has no scheme/],
    ['list -L verbose', /LOG_LEVEL: expected DEBUG, INFO, WARNING, ERROR or CRITICAL/],
  ];
  it.each(wrong)('%s', async (line, says) => {
    const { code, stderr } = await run(line.split(' '));
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  it('a seed without a scheme is told so, and a comment in a file is passed over', async () => {
    await project.write('seeds.txt', `# shops\n\nlocalhost:8080/x\n127.0.0.1:8080/x\n${site.url}?file\n`);
    const { code, stdout, stderr } = await run(['seed', 'shop', '--file', 'seeds.txt', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 1, bad: 2 });
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({
        level: 'warn',
        msg: expect.stringContaining('it has no scheme'),
      });
    }
  });

  it('a foreign LOG_LEVEL in the environment warns and ends no command', async () => {
    const { code, stdout, stderr } = await run(['settings', 'LOG_LEVEL'], { env: { LOG_LEVEL: 'verbose' } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'LOG_LEVEL  "info"  (default)\n' });
    expect(stderr).toMatch(/^the environment: LOG_LEVEL: .*; it is ignored\n$/);
  });
});

describe('colour', () => {
  it('is on a terminal only, and neither with --no-color nor with NO_COLOR', async () => {
    const terminal = { isTTY: true, columns: 100 };
    expect((await run(['stats', 'shop'], terminal)).stdout).toContain('\x1b[');
    expect((await run(['stats', 'shop', '--no-color'], terminal)).stdout).not.toContain('\x1b[');
    expect((await run(['stats', 'shop'], { ...terminal, env: { NO_COLOR: '1' } })).stdout).not.toContain(
      '\x1b[',
    );
    expect((await run(['stats', 'shop'])).stdout).not.toContain('\x1b[');
  });
});
