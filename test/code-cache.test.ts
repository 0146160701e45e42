/** What was compiled in one run and kept for the next: used where it is sound, and never in the way. */
import {
  chownSync,
  cpSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCacheFile, writeCacheFile } from '../src/cache-file.js';
import { runCli } from './helpers/cli.js';
import { createProject } from './helpers/project.js';
import { tempDir } from './helpers/temp-dir.js';

/** Runs of `crawlnode --version` that keep their code in one folder. */
function newCache(environment: Record<string, string> = {}) {
  const { dir } = tempDir('code-cache');
  const folder = path.join(dir, 'crawlnode');
  return {
    dir,
    run: (executable?: string) =>
      runCli(['--version'], {
        env: { XDG_CACHE_HOME: dir, ...environment },
        ...(executable && { executable }),
      }),
    files: () => readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) => file.includes('/')),
    file: () => path.join(folder, readdirSync(folder)[0]!),
    contents: () => readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'latin1')),
  };
}

/** @returns the executable of a second installation of the same build. */
function installElsewhere(): string {
  const { dir } = tempDir('elsewhere');
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(root, part), path.join(dir, part), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  return path.join(dir, 'bin', 'crawlnode.js');
}

/** How many runs have added to a file. */
const runsIn = (file: string) => readFileSync(file).readUInt8(4);

describe('compiled code of the executable', () => {
  it('is kept for the next run in a file of the user alone, to which the first three runs add', async () => {
    const cache = newCache();
    const counts: number[] = [];
    for (let run = 0; run < 4; run++) {
      expect(await cache.run()).toMatchObject({ code: 0, stderr: '' });
      counts.push(runsIn(cache.file()));
    }
    expect(counts).toEqual([1, 2, 3, 3]);
    expect(statSync(path.dirname(cache.file())).mode & 0o777).toBe(0o700);
    expect(cache.files()).toHaveLength(1);
  });

  it('is kept by each installation for itself, as it says where the lines of a stack lie', async () => {
    const cache = newCache();
    const elsewhere = installElsewhere();
    await cache.run();
    expect(await cache.run(elsewhere)).toMatchObject({ code: 0, stderr: '' });
    const bundle = path.join(path.dirname(elsewhere), '..', 'dist', 'executable', 'crawlnode.cjs');
    expect(
      cache
        .contents()
        .map((content) => content.includes(bundle))
        .sort(),
    ).toEqual([false, true]);
  });

  it('is compiled anew where the file is damaged or cut short', async () => {
    const cache = newCache();
    await cache.run();
    await cache.run();
    const sound = readFileSync(cache.file());
    const flipped = Buffer.from(sound);
    flipped.writeUInt8(flipped.readUInt8(sound.length >> 1) ^ 1, sound.length >> 1);
    for (const damaged of [flipped, sound.subarray(0, 5_000), sound.subarray(0, 3), Buffer.alloc(0)]) {
      writeFileSync(cache.file(), damaged);
      expect(await cache.run()).toMatchObject({ code: 0, stderr: '' });
      expect(runsIn(cache.file())).toBe(1);
    }
  });

  it.runIf(process.getuid?.() === 0)('of another user is not run', async () => {
    const cache = newCache();
    await cache.run();
    await cache.run();
    chownSync(cache.file(), 12_345, 12_345);
    expect(await cache.run()).toMatchObject({ code: 0, stderr: '' });
    expect(runsIn(cache.file())).toBe(1);
    expect(statSync(cache.file()).uid).toBe(0);
  });

  it('is not kept where it cannot be or must not be', async () => {
    const forbidden = newCache({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(await forbidden.run()).toMatchObject({ code: 0, stderr: '' });
    expect(forbidden.files()).toEqual([]);

    const homeless = newCache({ XDG_CACHE_HOME: '/dev/null' });
    expect(await homeless.run()).toMatchObject({ code: 0, stderr: '' });
    expect(homeless.files()).toEqual([]);
  });

  it('is not kept in the working folder of whoever has no home', async () => {
    const { dir } = tempDir('working');
    for (const folder of ['', 'relative']) {
      const env = { HOME: '', XDG_CACHE_HOME: folder };
      expect(await runCli(['--version'], { cwd: dir, env })).toMatchObject({ code: 0, stderr: '' });
      expect(readdirSync(dir)).toEqual([]);
    }
  });

  it('lies where Node is told to keep its own', async () => {
    const cache = newCache();
    const { dir } = tempDir('chosen');
    await runCli(['--version'], { env: { XDG_CACHE_HOME: cache.dir, NODE_COMPILE_CACHE: dir } });
    expect(cache.files()).toEqual([]);
    expect(readdirSync(path.join(dir, 'crawlnode'))).toHaveLength(1);
  });
});

describe('a file of the cache', () => {
  it('is readable by nobody else, and never written through a link that somebody put in its place', () => {
    const { dir } = tempDir('cache-file');
    const [file, precious] = [path.join(dir, 'code'), path.join(dir, 'precious')];
    writeFileSync(precious, 'mine');
    symlinkSync(precious, `${file}.${process.pid}`);
    writeCacheFile(file, Buffer.from('first'));
    expect(readFileSync(precious, 'utf8')).toBe('mine');
    writeCacheFile(file, Buffer.from('second'));
    expect(readCacheFile(file)?.toString()).toBe('second');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir).sort()).toEqual(['code', 'precious']);
  });
});

describe('the folder of the cache', () => {
  it('holds 128 MB at most, and nothing that was written a month ago: the oldest files go first', () => {
    const { dir } = tempDir('cache-folder');
    const megabyte = 1024 * 1024;
    const ages = { hour: 1 / 24, day: 1, week: 7, month: 31 };
    for (const [name, days] of Object.entries(ages)) {
      const file = path.join(dir, name);
      writeFileSync(file, '');
      truncateSync(file, (name === 'month' ? 1 : 60) * megabyte);
      const at = Date.now() / 1_000 - days * 24 * 60 * 60;
      utimesSync(file, at, at);
    }
    writeCacheFile(path.join(dir, 'code'), Buffer.from('compiled'));
    expect(readdirSync(dir).sort()).toEqual(['code', 'day', 'hour']);
  });
});

describe('a spider in TypeScript', () => {
  const spider = (name: string) =>
    `import { Spider } from 'crawlnode';\nexport default class Probe extends Spider { name: string = '${name}'; }\n`;

  it('is compiled once for as long as it stays as it is', async () => {
    const { dir } = tempDir('compiled');
    const project = await createProject({ files: { 'spiders/probe.ts': spider('first') } });
    const list = async () =>
      (await runCli(['list'], { cwd: project.dir, env: { XDG_CACHE_HOME: dir } })).stdout;
    expect(await list()).toBe('first\n');

    const folder = path.join(dir, 'crawlnode');
    const [kept, ...others] = readdirSync(folder).filter((file) => file.startsWith('probe.ts-'));
    expect(others).toEqual([]);
    const file = path.join(folder, kept!);
    writeCacheFile(file, Buffer.from(readCacheFile(file)!.toString().replace('first', 'kept')));
    expect(await list()).toBe('kept\n');

    await project.write('spiders/probe.ts', spider('second'));
    expect(await list()).toBe('second\n');
    await project.write('spiders/probe.ts', spider('first'));
    expect(await list()).toBe('kept\n');
  });

  it('that does not compile leaves nothing', async () => {
    const { dir } = tempDir('compiled');
    const project = await createProject({ files: { 'spiders/probe.ts': 'export const a = ;\n' } });
    const { code, stderr } = await runCli(['list'], { cwd: project.dir, env: { XDG_CACHE_HOME: dir } });
    expect(code).toBe(2);
    expect(stderr).toContain('probe.ts:1:18');
    expect(readdirSync(path.join(dir, 'crawlnode')).filter((file) => file.startsWith('probe'))).toEqual([]);
  });
});
