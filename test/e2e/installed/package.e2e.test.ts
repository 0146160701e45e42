/** The package as another project uses it: packed, unpacked into an empty folder, and linked. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../helpers/cli.js';
import { expectSound } from '../../helpers/expect-sound.js';
import { createProject, type Project } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

const spider = `
import { DropItem, Request, type Response, Spider } from 'crawlnode';

export default class Shop extends Spider {
  name = 'shop';
  startUrls = [new Request(this.args.start ?? 'http://127.0.0.1/', { callback: this.parse })];

  *parse(response: Response): Generator<Request | { url: string; title: string | null }> {
    if (!(response.request instanceof Request)) throw new DropItem('two copies of crawlnode');
    yield { url: response.url, title: response.css('h1::text').get() };
    yield* response.followAll('ul.links a', this.parse);
  }
}
`;

const typedApp = `
import { crawl, type CrawlOptions, type Response, seed, Spider, stats } from 'crawlnode';

class Authors extends Spider {
  override name = 'authors';
  override *parse(response: Response) {
    for (const author of response.css('small.author::text').getAll()) yield { author };
    yield* response.followAll('li.next a', this.parse);
  }
}

const items: unknown[] = [];
const options: CrawlOptions = {
  settings: { ALLOW_PRIVATE_ADDRESSES: true, JOBDIR: '.authors' },
  onItem: ({ author }) => items.push(author),
};
const { accepted } = await seed(Authors, [process.argv[2]!], options);
const { reason } = await crawl(Authors, options);
console.log(JSON.stringify({ accepted, reason, items, done: (await stats(Authors, options)).done }));
`;

const tsconfig = JSON.stringify({
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
  include: ['spiders'],
});

describe('the dependencies', () => {
  it('have exact versions, pinned with a hash where the registry gives one, and none is asked to run a script', async () => {
    const read = async (name: string) => JSON.parse(await readFile(path.join(root, name), 'utf8'));
    const { dependencies, devDependencies } = await read('package.json');
    const { packages } = await read('package-lock.json');
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version as string),
    );
    expect(loose).toEqual([]);
    type Locked = { version: string; integrity?: string; optional?: boolean; dev?: boolean };
    const locked = Object.entries(packages as Record<string, Locked>).filter(([name]) => name !== '');
    // Binaries of other platforms, which not every registry carries (scripts/complete-lock.mjs).
    const unhashed = locked.filter(([, { integrity, optional }]) => integrity === undefined && !optional);
    expect(unhashed).toEqual([]);
    for (const name of Object.keys(dependencies))
      expect(packages[`node_modules/${name}`].dev).toBeUndefined();
  });
});

/** A project of somebody else's, with a spider and nothing of crawlnode's yet. */
async function strangersProject(): Promise<Project> {
  const project = await createProject({
    files: {
      'package.json': '{ "type": "module", "private": true }\n',
      'spiders/shop.ts': spider,
      'tsconfig.json': tsconfig,
    },
  });
  await mkdir(project.path('node_modules'));
  return project;
}

let tarball: Promise<string> | undefined;

/** @returns the path of the package's tarball, which holds what users need and nothing else. */
async function pack(): Promise<string> {
  const { dir } = tempDir('packed');
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', dir], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
  const [{ filename, files }] = JSON.parse(packed.stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  const unwanted = files
    .map((file) => file.path)
    .filter((file) =>
      /^(src(?!\/frontier\/embedded\/schema\.sql$)|test|bench|scripts|\.)|dev\.ts|tsconfig/.test(file),
    );
  expect(unwanted).toEqual([]);
  expect(deadLinks(files.map((file) => file.path))).toEqual([]);
  return path.join(dir, filename);
}

/** Links of the documentation that lead out of the package. The tests that prove the README are in the repository alone. */
function deadLinks(files: readonly string[]): string[] {
  const targets = new Set(files.flatMap((file) => [file, path.dirname(file)]));
  const linksOf = (file: string) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .map((link) => path.join(path.dirname(file), link).replace(/\/$/, ''));
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap(linksOf)
    .filter((target) => !targets.has(target) && !target.startsWith('test/'));
}

/** What `npm install crawlnode-x.y.z.tgz` puts there; the dependencies are this checkout's instead of downloaded. */
async function install(project: Project): Promise<void> {
  tarball ??= pack();
  await mkdir(project.path('node_modules', 'crawlnode'));
  await run('tar', [
    '-xzf',
    await tarball,
    '-C',
    project.path('node_modules', 'crawlnode'),
    '--strip-components=1',
  ]);
  await symlink(path.join(root, 'node_modules'), project.path('node_modules', 'crawlnode', 'node_modules'));
}

async function crawlAndCheck(project: Project, executable: string): Promise<void> {
  const site = await startSite({ pages: 12 });
  try {
    const args = ['crawl', 'shop', '-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl'];
    const { code, stderr } = await runCli(args, { cwd: project.dir, executable });
    expect(code, stderr).toBe(0);
    const items = await project.readJsonLines<{ url: string; title: string }>('items.jsonl');
    expect(items.map((item) => item.url).sort()).toEqual([...site.urls].sort());
    expect(items.find((item) => item.url === site.url)?.title).toBe('Page 0');
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    await expectSound('shop', { cwd: project.dir });
  } finally {
    await site.close();
  }
}

describe('the lock file', () => {
  it('names the binaries of every platform, so that "npm ci" works on all of them', async () => {
    const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const missing = Object.values(lock.packages)
      .flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
      .filter((name) => lock.packages[`node_modules/${name}`] === undefined);
    expect(missing, 'run "node scripts/complete-lock.mjs"').toEqual([]);
  });
});

describe('the package in another project', () => {
  it('installs from its tarball, runs a TypeScript spider written there, and its types hold', async () => {
    const project = await strangersProject();
    try {
      await install(project);
      await crawlAndCheck(project, project.path('node_modules', 'crawlnode', 'bin', 'crawlnode.js'));

      await symlink(path.join(root, 'node_modules', '@types'), project.path('node_modules', '@types'));
      const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
      const types = await run(process.execPath, [tsc, '-p', project.dir]).catch((error) => error);
      expect(types.stdout).toBe('');
    } finally {
      await project.remove();
    }
  });

  it('makes a new project that is crawled at once, and never writes over one', async () => {
    const project = await strangersProject();
    const quotes = (n: number, next: string) =>
      `<div class="quote"><span class="text">Quote ${n}</span><small class="author">A. ${n}</small><a class="tag">t</a></div>${next}`;
    const site = await startSite({
      handler: ({ url }, response) => {
        if (url !== '/' && url !== '/page/2/') return false;
        const next = url === '/' ? '<li class="next"><a href="/page/2/">Next</a></li>' : '';
        response.writeHead(200, { 'content-type': 'text/html' }).end(quotes(url === '/' ? 1 : 2, next));
        return true;
      },
    });
    try {
      await install(project);
      const executable = project.path('node_modules', 'crawlnode', 'bin', 'crawlnode.js');
      const init = await runCli(['init', 'my quotes'], { cwd: project.dir, executable });
      expect(init).toMatchObject({ code: 0, stderr: '' });
      expect(init.stdout).toMatch(
        /\n {2}cd .*\n {2}crawlnode crawl quotes -o quotes\.jsonl --exit-when-done\n\nThe spider crawls /,
      );
      const cwd = project.path('my quotes');
      const crawl = [
        'crawl',
        'quotes',
        '-o',
        'quotes.jsonl',
        '--exit-when-done',
        '-a',
        `start=${site.origin}/`,
      ];
      expect(await runCli(crawl, { cwd, executable })).toMatchObject({ code: 0 });
      expect(await project.readJsonLines('my quotes/quotes.jsonl')).toEqual([
        { url: `${site.origin}/`, text: 'Quote 1', author: 'A. 1', tags: ['t'] },
        { url: `${site.origin}/page/2/`, text: 'Quote 2', author: 'A. 2', tags: ['t'] },
      ]);
      await expectSound('quotes', { cwd });
      expect((await runCli(['settings'], { cwd, executable })).stderr).toBe('');

      const spiderText = await project.read('my quotes/spiders/quotes.ts');
      expect(await runCli(['init', 'my quotes'], { cwd: project.dir, executable })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('spiders/quotes.ts'),
      });
      expect(await project.read('my quotes/spiders/quotes.ts')).toBe(spiderText);
      const here = await runCli(['init', '.'], { cwd: project.dir, executable });
      expect(here).toMatchObject({ code: 0, stderr: expect.stringContaining('package.json exists already') });
      expect(here.stderr).toContain('npm install --save-dev --save-exact @biomejs/biome@');
      expect(await project.read('package.json')).toBe('{ "type": "module", "private": true }\n');
    } finally {
      await site.close();
      await project.remove();
    }
  });

  it('makes a new project whose tests, types and lint pass', { timeout: 240_000 }, async () => {
    const project = await createProject();
    try {
      expect(await runCli(['init', 'shop'], { cwd: project.dir })).toMatchObject({ code: 0, stderr: '' });
      const { devDependencies, dependencies } = JSON.parse(
        await readFile(path.join(root, 'package.json'), 'utf8'),
      );
      const made = JSON.parse(await project.read('shop/package.json'));
      expect({ ...devDependencies, ...dependencies }).toMatchObject(made.devDependencies);
      await mkdir(project.path('node_modules', '@biomejs'), { recursive: true });
      await symlink(path.join(root, 'node_modules', '@types'), project.path('node_modules', '@types'));
      for (const name of ['@biomejs/biome', 'tsx', 'typescript', 'zod', '.bin']) {
        await symlink(path.join(root, 'node_modules', name), project.path('node_modules', name));
      }
      await symlink(root, project.path('node_modules', 'crawlnode'));
      for (const script of ['types', 'lint', 'test']) {
        const ended = await run('npm', ['run', '--silent', script], { cwd: project.path('shop') }).catch(
          (error) => error,
        );
        expect(ended.code, `${script}: ${ended.stdout}${ended.stderr}`).toBeUndefined();
      }
    } finally {
      await project.remove();
    }
  });

  it('crawls inside a program, in plain JavaScript and in TypeScript whose types hold', async () => {
    const project = await strangersProject();
    const quote = '<div class="quote"><span class="text">Q</span><small class="author">Ann</small></div>';
    const site = await startSite({
      handler: ({ url }, response) => {
        if (url !== '/' && url !== '/page/2/') return false;
        const next = url === '/' ? '<li class="next"><a href="/page/2/">Next</a></li>' : '';
        response.writeHead(200, { 'content-type': 'text/html' }).end(quote + next);
        return true;
      },
    });
    try {
      await install(project);
      await symlink(path.join(root, 'node_modules', '@types'), project.path('node_modules', '@types'));
      const env = {
        PATH: process.env.PATH,
        DELAY: '0',
        ALLOW_PRIVATE_ADDRESSES: 'true',
        ROBOTSTXT_OBEY: 'false',
      };
      const start = async (file: string) => {
        const { stdout, stderr } = await run(process.execPath, [file, site.url], { cwd: project.dir, env });
        expect(stderr).toBe('');
        return JSON.parse(stdout);
      };
      const app = await readFile(path.join(root, 'examples', 'in-a-program', 'app.mjs'), 'utf8');
      await project.write('app.mjs', app);
      expect(await start('app.mjs')).toEqual({ reason: 'finished', pages: 2, items: 2, authors: { Ann: 2 } });

      await project.write('spiders/app.ts', typedApp);
      const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
      const compile = [tsc, '-p', project.dir, '--noEmit', 'false', '--outDir', project.path('out')];
      const types = await run(process.execPath, compile).catch((error) => error);
      expect(types.stdout).toBe('');
      expect(await start('out/app.js')).toEqual({
        accepted: 1,
        reason: 'finished',
        items: ['Ann', 'Ann'],
        done: 2,
      });
    } finally {
      await site.close();
      await project.remove();
    }
  });

  it('works through symlinks, as "npm link" makes them', async () => {
    const project = await strangersProject();
    try {
      await symlink(root, project.path('node_modules', 'crawlnode'));
      await mkdir(project.path('node_modules', '.bin'));
      const bin = project.path('node_modules', '.bin', 'crawlnode');
      await symlink('../crawlnode/bin/crawlnode.js', bin);
      await crawlAndCheck(project, bin);
    } finally {
      await project.remove();
    }
  });
});
