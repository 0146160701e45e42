/** The program through the real executable, and the commands that need no frontier, with every way to call them wrongly. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { executable, runCli } from '../helpers/cli.js';
import { createProject, type Project } from '../helpers/project.js';
import { type Site, startSite } from '../helpers/sites/site.js';

const spider = (name: string, body = 'parse(response) { return { url: response.url }; }') => `
import { Request, Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = '${name}';
  ${body}
}
`;

let project: Project;
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 5 });
  project = await createProject({
    settings: { CONCURRENT_REQUESTS: 4, REDIS_PASSWORD: 'hunter2-secret' },
    files: {
      'spiders/quotes.ts': spider(
        'quotes',
        `customSettings = { DOWNLOAD_DELAY: 0.5 };
  *parse(response: Response) {
    yield { title: response.css('title::text').get(), arg: this.args.color };
    yield response.follow('/page/1.html', this.parseDetail, { meta: { n: 1 } });
  }
  parseDetail() { return { title: '\\x1b[2J' }; }
  bad() { throw new Error('the page has changed'); }`,
      ),
      'spiders/news.ts': spider('news'),
    },
  });
});
afterAll(() => project.remove());

/** Through the executable. */
const run = (...args: string[]) => runCli(args, { cwd: project.dir });
const command = (...args: string[]) => runHere(args, { cwd: project.dir });

describe('the program', () => {
  it('--help lists the commands, and help COMMAND shows one', async () => {
    const { code, stdout } = await run('--help');
    expect(code).toBe(0);
    for (const name of [
      'crawl',
      'seed',
      'reset',
      'stats',
      'list',
      'settings',
      'fetch',
      'parse',
      'fingerprint',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    expect((await run('help', 'crawl')).stdout).toContain('--exit-when-done');
    expect((await run()).stdout).toBe(stdout);
  });

  it('version prints the version, also as JSON with Node', async () => {
    expect((await run('version')).stdout).toMatch(/^crawlnode \d+\.\d+\.\d+\n$/);
    expect(JSON.parse((await run('version', '--json')).stdout)).toMatchObject({
      node: process.versions.node,
    });
  });

  it('an unknown command or option is refused with near names', async () => {
    expect(await run('stast')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'crawlnode: unknown command "stast"; did you mean stats?\n',
    });
    expect((await command('frobnicate')).stderr).toContain('"crawlnode --help" lists the commands');
    expect((await command('startproject', 'shop')).stderr).toContain('"crawlnode init');
    expect(await command('crawl', 'quotes', '--exit-when-dnoe')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^crawlnode: unknown option '--exit-when-dnoe'\n.*--exit-when-done/),
    });
    expect(await command('crawl')).toMatchObject({
      ...{
        code: 2,
        stderr: 'crawlnode: missing required argument \'spider\'; "crawlnode crawl --help" says more\n',
      },
    });
    expect((await command('failed', 'quotes')).stderr).toContain(
      "missing required argument 'action': summary, list, retry, purge; ",
    );
    expect(await command('crawl', 'quotes', '--workers', 'many')).toMatchObject({ code: 2 });
  });

  it('global options count before and after the command', async () => {
    const after = await command('settings', 'CONCURRENT_REQUESTS', '-s', 'CONCURRENT_REQUESTS=7');
    const before = await command('-s', 'CONCURRENT_REQUESTS=7', 'settings', 'CONCURRENT_REQUESTS');
    expect(after).toMatchObject({ code: 0, stdout: 'CONCURRENT_REQUESTS  7 requests  (cli)\n' });
    expect(before.stdout).toBe(after.stdout);
    const twice = await command(
      '-s',
      'CONCURRENT_REQUESTS=3',
      'settings',
      'CONCURRENT_REQUESTS',
      '-s',
      'CONCURRENT_REQUESTS=7',
    );
    expect(twice).toEqual(after);
  });

  it('a reader that goes away ends it quietly', () => {
    const { stdout, stderr, status } = spawnSync(
      'bash',
      ['-c', `set -o pipefail; "${process.execPath}" "${executable}" settings | head -1`],
      { cwd: project.dir, encoding: 'utf8' },
    );
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(stdout.split('\n')).toHaveLength(2);
  });

  it.runIf(existsSync('/dev/full'))('a full disk behind stdout is said, and fails', () => {
    const { stderr, status } = spawnSync(
      'bash',
      ['-c', `"${process.execPath}" "${executable}" list >/dev/full`],
      {
        cwd: project.dir,
        encoding: 'utf8',
      },
    );
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^crawlnode: the result cannot be written: ENOSPC[^\n]*\n$/),
      status: 1,
    });
  });

  it('too few files that may be open are said, however few', () => {
    for (const most of [20, 24, 28, 40]) {
      const script = `ulimit -n ${most}; "${process.execPath}" "${executable}" list`;
      const { stderr, status } = spawnSync('bash', ['-c', script], { cwd: project.dir, encoding: 'utf8' });
      expect({ most, stderr, status }).toEqual({
        ...{ most, status: 1 },
        stderr: expect.stringMatching(
          /^crawlnode: EMFILE: [^\n]*: raise the limit of open files \(ulimit -n\)\n$/,
        ),
      });
    }
  });

  it('a working folder that was removed is said', () => {
    const script = `mkdir gone && cd gone && rmdir ../gone && "${process.execPath}" "${executable}" list`;
    const { stderr, status } = spawnSync('bash', ['-c', script], { cwd: project.dir, encoding: 'utf8' });
    expect({ stderr, status }).toEqual({
      stderr: 'crawlnode: the working folder has been removed: go to another one\n',
      status: 2,
    });
  });

  it('with --json what a command ends with, and all else on stderr in a pipe, are lines of JSON', async () => {
    const lines = async (...args: string[]) => {
      const { code, stderr } = await run(...args, '--json');
      return {
        code,
        said: stderr
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      };
    };
    const fatal = (exitCode: number, code: string, msg: string) => ({
      code: exitCode,
      said: [{ level: 'fatal', time: expect.any(String), exitCode, code, msg: expect.stringContaining(msg) }],
    });
    expect(await lines('crawl', 'nobody')).toEqual(fatal(2, 'spider', 'there is no spider "nobody"'));
    expect(await lines('crawl', 'news', '--exit-when-dnoe')).toEqual(fatal(2, 'usage', '--exit-when-done'));
    expect(await lines('stast')).toEqual(fatal(2, 'usage', 'did you mean stats?'));
    const redis = 'REDIS_URL=redis://:hush@127.0.0.1:1';
    const away = await lines('crawl', 'news', '-s', redis, '-s', 'REDIS_CONNECT_TIMEOUT=1');
    expect(away).toEqual(fatal(4, 'frontier_unavailable', 'cannot be reached'));
    expect(await lines('stats', 'nwes')).toEqual(
      fatal(2, 'spider', 'there is no spider "nwes"; did you mean news?'),
    );
    expect(await lines('restore', 'gone', 'gone.gz')).toMatchObject({
      code: 2,
      said: [{ level: 'info', msg: expect.stringContaining('without customSettings') }, { level: 'fatal' }],
    });
    const debug = await lines('crawl', 'nobody', '-L', 'DEBUG');
    expect(debug.said).toMatchObject([{ level: 'fatal', stack: expect.stringMatching(/\n\s+at /) }]);
  });

  it('code of the project that ends the process makes a failure of it', async () => {
    const rude = await createProject({ files: { 'spiders/rude.ts': 'process.exit(0);' } });
    const list = () => runCli(['list'], { cwd: rude.dir });
    expect(await list()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/"process.exit".* at spiders\/rude\.ts:1:\d+/),
    });
    await rude.write('spiders/rude.ts', 'await new Promise(() => {});');
    expect(await list()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('such as a top-level await of spiders/rude.ts'),
    });
  });
});

describe('list', () => {
  it('names the spiders, a line each', async () => {
    expect(await command('list')).toMatchObject({ code: 0, stdout: 'news\nquotes\n', stderr: '' });
    expect(JSON.parse((await command('list', '--json')).stdout)).toMatchObject([
      { name: 'news', file: project.path('spiders/news.ts') },
      { name: 'quotes' },
    ]);
  });

  it('tells what does not load beside those that do: a syntax error with its place, two of one name', async () => {
    const broken = await createProject({
      files: {
        'spiders/a.ts': spider('same'),
        'spiders/b.ts': spider('same'),
        'spiders/good.ts': spider('good'),
        'spiders/syntax.ts': 'export default class {\n  name = = 1;\n}\n',
      },
    });
    // The built program compiles TypeScript itself.
    const { code, stdout, stderr } = await runCli(['list'], { cwd: broken.dir });
    expect({ code, stdout }).toEqual({ code: 2, stdout: 'good\n' });
    expect(stderr).toMatch(/spiders\/syntax\.ts:2:\d+ does not load: /);
    expect(stderr).toContain('two spiders are named "same": spiders/a.ts and spiders/b.ts');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(await runHere(['crawl', 'same'], { cwd: broken.dir })).toMatchObject({ code: 2 });
    await broken.remove();
  });
});

describe('settings', () => {
  it('prints the values in effect and where each came from, secrets masked', async () => {
    const { stdout, code } = await runHere(['settings', '--json', '--spider', 'quotes'], {
      cwd: project.dir,
      env: { RETRY_TIMES: '5', REDIS_URL: 'redis://me:p%40ss-secret@127.0.0.1:1' },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      CONCURRENT_REQUESTS: { value: 4, source: 'file' },
      DOWNLOAD_DELAY: { value: 0.5, source: 'spider' },
      RETRY_TIMES: { value: 5, source: 'environment' },
      REDIS_URL: { value: 'redis://me:***@127.0.0.1:1', source: 'environment' },
      REDIS_PASSWORD: { value: '***', source: 'file' },
      NODE_TIMEOUT: { value: 30, source: 'default' },
    });
  });

  it('refuses bad YAML, an unknown name, a wrong type: file, place, key, value, nearest name', async () => {
    const bad = async (text: string) => {
      await project.write('bad.yaml', text);
      const { code, stderr } = await command('settings', '-c', 'bad.yaml');
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/^\s+at /m);
      return stderr;
    };
    expect(await bad('A: [1,\nB: 2\n')).toMatch(/^crawlnode: bad\.yaml:\d+:\d+: not valid YAML: /);
    expect(await bad('CONCURENT_REQUESTS: 3\n')).toMatch(
      /^crawlnode: bad\.yaml:1:1: unknown setting CONCURENT_REQUESTS; did you mean CONCURRENT_REQUESTS\?\n.*SETTINGS_SCHEMA/,
    );
    expect(await bad('RETRY_TIMES: often\n')).toContain(
      'RETRY_TIMES: expected a whole number from 0 to 1000, got "often"',
    );
    expect((await command('settings', 'RETRY_TIME')).stderr).toContain('did you mean RETRY_TIMES?');
    expect((await command('settings', '-s', 'RETRY_TIMES')).stderr).toContain('expected NAME=VALUE');
  });
});

describe('fingerprint', () => {
  it('prints the three formulas and the canonical URL', async () => {
    const { stdout } = await command('fingerprint', 'HTTP://Example.org', '--json');
    expect(JSON.parse(stdout)).toEqual({
      url: expect.any(String),
      canonical: 'http://example.org/',
      fingerprints: {
        'scrapy-redis': '572305668c02da5fd349752b8e93bb46f1a2bb36',
        scrapy: '7873d70c33756a15fed7649ba909e064bf9c5844',
        'scrapy-2.6': 'b2e5245ef826fd9576c93bd6e392fce3133fab62',
      },
    });
  });
});

describe('fetch', () => {
  it('prints the body byte for byte, or the headers', async () => {
    const { stdout, stderr, code } = await command('fetch', site.url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(await (await fetch(site.url)).text());
    expect((await command('fetch', '--headers', site.url)).stdout).toMatch(
      /^200 .*\ncontent-type: text\/html/,
    );
  });

  it('names what failed: exit 1 for the network, 2 for what is no URL', async () => {
    expect(await command('fetch', 'http://127.0.0.1:1/')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('refused'),
    });
    expect(await command('fetch', 'quotes.toscrape.com')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('parse', () => {
  it('prints the items and requests of a callback as JSON', async () => {
    const { stdout, code } = await command('parse', site.url, '--spider', 'quotes', '-a', 'color=red');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      url: site.url,
      status: 200,
      items: [{ title: 'Page 0', arg: 'red' }],
      requests: [{ url: `${site.origin}/page/1.html`, callback: 'parseDetail', meta: { n: 1 } }],
    });
    const detail = await command('parse', site.url, '--spider', 'quotes', '--callback', 'parseDetail');
    expect(detail.stdout).not.toContain('\x1b');
  });

  it('a callback that throws is exit 1 with its place; one that does not exist is exit 2', async () => {
    const thrown = await command('parse', site.url, '--spider', 'quotes', '--callback', 'bad');
    expect(thrown).toMatchObject({ code: 1, stderr: expect.stringContaining('the page has changed') });
    expect(thrown.stderr).not.toMatch(/^\s+at /m);
    const debug = await command('parse', site.url, '--spider', 'quotes', '--callback', 'bad', '-L', 'DEBUG');
    expect(debug.stderr).toMatch(/^\s+at .*quotes\.ts:\d+/m);
    expect(await command('parse', site.url, '--spider', 'quotes', '--callback', 'parseDetial')).toMatchObject(
      {
        code: 2,
        stderr: expect.stringContaining('did you mean parseDetail?'),
      },
    );
  });

  it('no such spider is exit 2 with near names', async () => {
    expect(await command('parse', site.url, '--spider', 'qoutes')).toMatchObject({
      code: 2,
      stderr: 'crawlnode: there is no spider "qoutes"; did you mean quotes?\n',
    });
    expect(await command('crawl', '../etc')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be the name'),
    });
  });
});
