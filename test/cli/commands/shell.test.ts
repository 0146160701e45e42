/** `crawlnode shell`: in a process of its own, since it defines its names in the global object. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executable, runCli } from '../../helpers/cli.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

let site: Site;
let project: Project;
beforeAll(async () => {
  site = await startSite({
    pages: 3,
    handler: ({ url = '', headers }, response) => {
      if (url === '/robots.txt') response.end('User-agent: *\nDisallow: /secret\n');
      else if (url === '/login') response.setHeader('Set-Cookie', 'sid=7').end('in');
      else if (url === '/cookie') response.end(String(headers.cookie));
      else return false;
      return true;
    },
  });
  project = await createProject({
    files: {
      'spiders/pages.ts': `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'pages';
  customSettings = { DOWNLOAD_DELAY: 0.3, RANDOMIZE_DOWNLOAD_DELAY: false };
}
`,
    },
  });
  await project.write('outside/saved.html', '<title>Saved</title><a href="/next">next</a>');
});
afterAll(async () => {
  await project.remove();
  await site.close();
});
beforeEach(() => site.clearLog());
const obeying = { env: { ROBOTSTXT_OBEY: undefined } };
/** Where there is no project. */
const shell = (args: readonly string[], more: object = {}) =>
  runCli(['shell', ...args], { cwd: project.path('outside'), ...obeying, ...more });

describe('shell --eval', () => {
  it('prints the expression that statements end with, also of code from a pipe', async () => {
    const input = 'const a = 20;\nfor (const b of [1]) {\n  a * b;\n}\na\n  * 2;\n';
    expect(await shell([], { input })).toMatchObject({ code: 0, stdout: '40\n' });
    expect(await shell(['-e', 'for (const b of [1]) {\n  b;\n}'])).toMatchObject({ code: 0, stdout: '' });
  });

  it('has response and request, follows fetch, and prints the value', async () => {
    const code = `[response.status, (await fetch(response.urljoin('/page/1.html'), { meta: { n: 1 } })).url,
      response.meta.n, request.method, response.css('a').length > 0]`;
    expect(await shell([site.url, '--eval', code])).toMatchObject({
      code: 0,
      stdout: `[ 200, '${site.origin}/page/1.html', 1, 'GET', true ]\n`,
      stderr: '',
    });
  });

  it('prints texts as they are, pages and selections in short, and no stack of an expected error', async () => {
    const saved = ['saved.html', '--url', 'http://shop.example/a'];
    const printed = async (code: string) => (await shell([...saved, '-e', code])).stdout;
    expect(await printed('response')).toMatch(/^Response 200 http:\/\/shop\.example\/a \(\d+ bytes\)\n$/);
    expect(await printed("response.css('a')")).toBe(`SelectorList(1) [ '<a href="/next">next</a>' ]\n`);
  });

  it('masks secrets of any length where it prints settings, or what holds them, also those that the project declares', async () => {
    await project.write(
      'outside/own.ts',
      "import { z } from 'zod';\nexport default z.object({ SHOP_PIN: z.string().default('42').meta({ secret: true }) });\n",
    );
    const secrets = ['REDIS_URL=redis://shop:hunter2@127.0.0.1:1', 'AWS_SECRET_ACCESS_KEY=k1'];
    const set = ['SETTINGS_SCHEMA=./own.ts', ...secrets].flatMap((pair) => ['-s', pair]);
    for (const code of ['spider', '[settings]']) {
      const { code: exit, stdout, stderr } = await shell(['-e', code, ...set]);
      expect(exit, stderr).toBe(0);
      expect(stdout).toContain("REDIS_URL: 'redis://shop:***@127.0.0.1:1'");
      expect(stdout).toContain("SHOP_PIN: '***'");
      expect(stdout).toContain("AWS_SECRET_ACCESS_KEY: '***'");
    }
  });

  it('runs statements from a pipe', async () => {
    const input = 'const { url } = await fetch(process.env.PAGE);\nconsole.log(url);\n';
    const env = { ...obeying.env, PAGE: site.url };
    expect(await shell([], { input, env })).toMatchObject({ code: 0, stdout: `${site.url}\n`, stderr: '' });
  });

  it('writes a page to a file, with the base of its links', async () => {
    const file = (
      await shell(['saved.html', '--url', 'http://shop.example/a', '-e', 'view(response)'])
    ).stdout.trim();
    expect(readFileSync(file, 'utf8')).toContain('<base href="http://shop.example/a">');
    rmSync(path.dirname(file), { recursive: true });
  });
});

describe('shell obeys the limits of a crawl', () => {
  it('robots.txt', async () => {
    const secret = `${site.origin}/secret`;
    expect(await shell([secret])).toMatchObject({
      code: 1,
      stderr: `crawlnode: ${site.origin}/robots.txt forbids ${secret}; "-s ROBOTSTXT_OBEY=false" ignores robots.txt\n`,
    });
    expect(site.log.map((each) => each.path)).toEqual(['/robots.txt']);
    expect(await shell([secret, '-s', 'ROBOTSTXT_OBEY=false', '-e', 'response.status'])).toMatchObject({
      code: 0,
      stdout: '404\n',
    });
  });

  it('the delay and the settings of the spider', async () => {
    const code = `await fetch('${site.url}'); await fetch('${site.url}'); console.log(spider.name, settings.DOWNLOAD_DELAY)`;
    const { stdout } = await runCli(['shell', '--spider', 'pages', '-e', code], { cwd: project.dir });
    expect(stdout).toBe('pages 0.3\n');
    const [first, second] = site.log;
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(250);
  });

  it('cookies of a session, and DOWNLOAD_MAXSIZE', async () => {
    const code = "await fetch(response.urljoin('/cookie')); console.log(response.text)";
    expect((await shell([`${site.origin}/login`, '-e', code])).stdout).toBe('sid=7\n');
    const small = await shell([site.url, '-s', 'DOWNLOAD_MAXSIZE=100', '-e', '1']);
    expect(small).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('larger than 100 bytes'),
    });
  });
});

describe('shell refuses', () => {
  it.each([
    [['gone.html'], 2, 'gone.html is neither a URL'],
    [['-e', '1 +'], 2, 'the code does not compile'],
    [['-e', 'null.x'], 1, "the code threw an error: Cannot read properties of null (reading 'x')"],
    [['-e', 'view(response)'], 1, 'there is no page yet'],
    [['http://127.0.0.1:1/', '-s', 'ROBOTSTXT_OBEY=false'], 1, 'the connection was refused'],
  ])('%j with %i', async (args, exitCode, message) => {
    const { code, stdout, stderr } = await shell(args);
    expect({ code, stdout, stderr }).toEqual({
      code: exitCode,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});

/** It gives a command a terminal. */
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

it.skipIf(!hasScript)('has a prompt on a terminal, which ends with .exit', () => {
  const { stdout, status } = spawnSync(
    'script',
    ['-qec', `${process.execPath} ${executable} shell saved.html --url http://shop.example/a`, '/dev/null'],
    {
      ...{ cwd: project.path('outside'), encoding: 'utf8', timeout: 60_000 },
      input:
        "await Promise.resolve(response.css('title::text').get())\nfetch('http://shop.example:1/')\nnull.x\n.exit\n",
      env: { PATH: process.env.PATH!, HOME: project.dir, TERM: 'dumb' },
    },
  );
  expect(status).toBe(0);
  expect(stdout).toContain('await fetch(url)      download a page');
  expect(stdout).toContain("'Saved'");
  expect(stdout).toContain('put "await" in front');
  expect(stdout).toContain("Cannot read properties of null (reading 'x')");
});
