/** The package as another project uses it: packed, unpacked into an empty folder, and linked. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runCli } from './helpers/cli.js';
import { expectSound } from './helpers/expect-sound.js';
import { createProject, type Project } from './helpers/project.js';
import { startSite } from './helpers/site.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

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

/** What `npm install crawlnode-x.y.z.tgz` puts there; the dependencies are this checkout's instead of downloaded. */
async function install(project: Project): Promise<void> {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project.dir], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
  const [{ filename, files }] = JSON.parse(packed.stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  const unwanted = files
    .map((file) => file.path)
    .filter((file) => /^(src|test|bench|scripts|\.)|dev\.ts|tsconfig/.test(file));
  expect(unwanted).toEqual([]);
  await mkdir(project.path('node_modules', 'crawlnode'));
  await run('tar', [
    '-xzf',
    project.path(filename),
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
