/** Where compiled code is kept between runs: where nobody but the user can put any, or nowhere. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cacheFolders } from '../../src/cli/cache-folders.js';
import { privateFolder } from '../../src/disk/private-folder.js';
import { readCodeFile, writeCodeFile } from '../../src/spider/loading/code-file.js';
import { runCli } from '../helpers/cli.js';
import { createProject } from '../helpers/project.js';
import { tempDir } from '../helpers/temp-dir.js';

const isRoot = process.getuid?.() === 0;
const hasCompileCache = 'enableCompileCache' in module;
const SOMEBODY = 1;

/** A spider whose compiled code can be found in a file. */
const spider = (name: string) =>
  `import { Spider } from 'crawlnode';\nexport default class Probe extends Spider { name: string = '${name}'; }\n`;

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(path.join(folder, file)).isFile(),
  );

/** The compiled code of spiders, without the copies that Node 20 imports (`standalone-module.ts`). */
const compiledIn = (folder: string) => filesIn(folder).filter((file) => !file.endsWith('.mjs'));

describe('a private folder', () => {
  it('is made for the user alone, with those above it', () => {
    const folder = path.join(tempDir('private').dir, 'a', 'b');
    expect(privateFolder(folder)).toBe(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(path.dirname(folder)).mode & 0o777).toBe(0o700);
  });

  it('is none that others can write to, or can replace from the folder above', () => {
    const { dir } = tempDir('private');
    const folder = path.join(dir, 'a', 'b');
    expect(privateFolder(folder)).toBe(folder);
    for (const open of [folder, path.dirname(folder)]) {
      for (const mode of [0o777, 0o770, 0o702]) {
        chmodSync(open, mode);
        expect(privateFolder(folder), `${open} ${mode.toString(8)}`).toBeNull();
      }
      chmodSync(open, 0o700);
    }
    // As /tmp is: others may make entries there, and not replace ours.
    chmodSync(path.dirname(folder), 0o1777);
    expect(privateFolder(folder)).toBe(folder);
  });

  it.runIf(isRoot)("is none of another user's, nor within one", () => {
    const { dir } = tempDir('private');
    const folder = path.join(dir, 'a', 'b');
    privateFolder(folder);
    for (const taken of [folder, path.dirname(folder)]) {
      chownSync(taken, SOMEBODY, SOMEBODY);
      expect(privateFolder(folder)).toBeNull();
      chownSync(taken, 0, 0);
    }
    expect(privateFolder(folder)).toBe(folder);
  });

  it('is judged by where a symbolic link leads', () => {
    const { dir } = tempDir('private');
    const [open, link] = [path.join(dir, 'open'), path.join(dir, 'link')];
    mkdirSync(open);
    symlinkSync(open, link);
    expect(privateFolder(link)).toBe(open);
    chmodSync(open, 0o777);
    expect(privateFolder(link)).toBeNull();
    expect(privateFolder(path.join(link, 'within'))).toBeNull();
  });

  it('is none where it cannot be made', () => {
    expect(privateFolder('/dev/null/folder')).toBeNull();
    expect(privateFolder('/proc/folder')).toBeNull();
  });
});

describe('the folders of the caches', () => {
  it("lie in the user's folder for caches, or where Node is told to keep its own", () => {
    const { dir } = tempDir('caches');
    const folders = (name: string) => ({
      compiled: path.join(dir, name, 'crawlnode', 'compile'),
      typescript: path.join(dir, name, 'crawlnode', 'typescript'),
    });
    expect(cacheFolders({ XDG_CACHE_HOME: path.join(dir, 'xdg') })).toEqual(folders('xdg'));
    expect(cacheFolders({ NODE_COMPILE_CACHE: path.join(dir, 'node') })).toEqual({
      ...folders('node'),
      compiled: null,
    });
    const none = { compiled: null, typescript: null };
    expect(cacheFolders({ XDG_CACHE_HOME: dir, NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(none);
    expect(cacheFolders({ XDG_CACHE_HOME: '/dev/null' })).toEqual(none);
  });
});

describe('the executable', () => {
  const listIn = async (cache: string, env: Record<string, string> = {}) => {
    const project = await createProject({ files: { 'spiders/probe.ts': spider('probe') } });
    const result = await runCli(['list'], { cwd: project.dir, env: { XDG_CACHE_HOME: cache, ...env } });
    expect(result).toEqual({ code: 0, signal: null, stdout: 'probe\n', stderr: '' });
    return { cwd: project.dir };
  };

  it('keeps compiled code where only the user can write', async () => {
    const { dir } = tempDir('caches');
    await listIn(dir);
    const folder = path.join(dir, 'crawlnode');
    expect(compiledIn(path.join(folder, 'typescript'))).toEqual([expect.stringMatching(/^probe\.ts-/)]);
    const compiled = path.join(folder, 'compile');
    expect(existsSync(compiled) && filesIn(compiled).length > 50).toBe(hasCompileCache);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('keeps nothing where it must not', async () => {
    const { dir } = tempDir('caches');
    await listIn(dir, { NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each([
    ['that others can write to', (folder: string) => chmodSync(folder, 0o777)],
    ...(isRoot
      ? [["of another user's", (folder: string) => chownSync(folder, SOMEBODY, SOMEBODY)] as const]
      : []),
  ] as const)('reads and writes nothing in a folder %s', async (_, give) => {
    const { dir } = tempDir('caches');
    const { cwd } = await listIn(dir);
    const folder = path.join(dir, 'crawlnode');
    // What is planted there would be run: a module that throws.
    const [planted] = compiledIn(path.join(folder, 'typescript'));
    const file = path.join(folder, 'typescript', planted!);
    writeCodeFile(file, "throw new Error('planted');");
    const run = () => runCli(['list'], { cwd, env: { XDG_CACHE_HOME: dir } });
    expect((await run()).stderr).toContain('planted');

    give(folder);
    const before = filesIn(folder);
    expect(await run()).toMatchObject({ code: 0, stdout: 'probe\n', stderr: '' });
    expect(filesIn(folder)).toEqual(before);
    expect(readFileSync(file, 'latin1')).toContain('planted');
  });

  it('leaves the folder for temporary files alone', async () => {
    const { dir } = tempDir('temporary');
    await listIn('/dev/null', { TMPDIR: dir, HOME: '' });
    expect(readdirSync(dir)).toEqual([]);
    // Where Node keeps compiled code by itself: a trap for whoever looks there.
    mkdirSync(path.join(dir, 'node-compile-cache'), { mode: 0o777 });
    chmodSync(path.join(dir, 'node-compile-cache'), 0o777);
    await listIn('/dev/null', { TMPDIR: dir, HOME: '' });
    expect(filesIn(dir)).toEqual([]);
  });
});

describe('a file of compiled code', () => {
  it('is readable by nobody else, and never written through a link that somebody put in its place', () => {
    const { dir } = tempDir('code-file');
    const [file, precious] = [path.join(dir, 'code'), path.join(dir, 'precious')];
    writeFileSync(precious, 'mine');
    symlinkSync(precious, `${file}.${process.pid}`);
    writeCodeFile(file, 'first');
    expect(readFileSync(precious, 'utf8')).toBe('mine');
    writeCodeFile(file, 'second');
    expect(readCodeFile(file)).toBe('second');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir).sort()).toEqual(['code', 'precious']);
  });

  it('counts as absent where it is damaged or cut short', () => {
    const file = path.join(tempDir('code-file').dir, 'code');
    writeCodeFile(file, 'export const answer = 42;');
    const sound = readFileSync(file);
    const flipped = Buffer.from(sound);
    flipped.writeUInt8(flipped.readUInt8(10) ^ 1, 10);
    for (const damaged of [flipped, sound.subarray(0, 12), sound.subarray(0, 3), Buffer.alloc(0)]) {
      writeFileSync(file, damaged);
      expect(readCodeFile(file)).toBeNull();
    }
  });

  it('counts as absent where others could have written it', () => {
    const file = path.join(tempDir('code-file').dir, 'code');
    writeCodeFile(file, 'export const answer = 42;');
    for (const [mode, code] of [
      [0o602, null],
      [0o620, null],
      [0o666, null],
      [0o644, 'export const answer = 42;'],
    ] as const) {
      chmodSync(file, mode);
      expect(readCodeFile(file), mode.toString(8)).toBe(code);
    }
    symlinkSync(file, `${file}-link`);
    expect(readCodeFile(`${file}-link`)).toBeNull();
  });

  it.runIf(isRoot)("counts as absent where it is another user's", () => {
    const file = path.join(tempDir('code-file').dir, 'code');
    writeCodeFile(file, 'export const answer = 42;');
    chownSync(file, SOMEBODY, SOMEBODY);
    expect(readCodeFile(file)).toBeNull();
  });

  it('is removed a month after it was written, with the next one', () => {
    const { dir } = tempDir('code-file');
    const daysAgo = (days: number) => Date.now() / 1_000 - days * 24 * 60 * 60;
    for (const [name, days] of Object.entries({ recent: 29, old: 31 })) {
      writeFileSync(path.join(dir, name), '');
      utimesSync(path.join(dir, name), daysAgo(days), daysAgo(days));
    }
    writeCodeFile(path.join(dir, 'code'), '');
    expect(readdirSync(dir).sort()).toEqual(['code', 'recent']);
  });
});

describe('a spider in TypeScript', () => {
  it('is compiled once for as long as it stays as it is', async () => {
    const { dir } = tempDir('compiled');
    const project = await createProject({ files: { 'spiders/probe.ts': spider('first') } });
    const list = async () =>
      (await runCli(['list'], { cwd: project.dir, env: { XDG_CACHE_HOME: dir } })).stdout;
    expect(await list()).toBe('first\n');

    const folder = path.join(dir, 'crawlnode', 'typescript');
    const [name, ...others] = compiledIn(folder);
    expect(others).toEqual([]);
    const file = path.join(folder, name!);
    writeCodeFile(file, readCodeFile(file)!.replace('first', 'cached'));
    expect(await list()).toBe('cached\n');

    await project.write('spiders/probe.ts', spider('second'));
    expect(await list()).toBe('second\n');
    await project.write('spiders/probe.ts', spider('first'));
    expect(await list()).toBe('cached\n');
  });

  it('that does not compile leaves nothing', async () => {
    const { dir } = tempDir('compiled');
    const project = await createProject({ files: { 'spiders/probe.ts': 'export const a = ;\n' } });
    const { code, stderr } = await runCli(['list'], { cwd: project.dir, env: { XDG_CACHE_HOME: dir } });
    expect(code).toBe(2);
    expect(stderr).toContain('probe.ts:1:18');
    expect(readdirSync(path.join(dir, 'crawlnode', 'typescript'))).toEqual([]);
  });
});
