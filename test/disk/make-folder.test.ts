/** Folders are made, or an error says why not. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from '../../src/disk/make-folder.js';
import { runHere } from '../helpers/cli/run-here.js';
import { newsSpider } from '../helpers/engine-project.js';
import { createProject, type Project } from '../helpers/project.js';

let project: Project;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

test('a folder is made with those above it, once', () => {
  const folder = join(project.dir, 'a', 'b', 'c');
  makeFolder(folder, 0o700);
  makeFolder(folder);
  expect(statSync(join(project.dir, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(folder).isDirectory()).toBe(true);
});

test('a file in the way is an error', () => {
  const file = join(project.dir, 'file');
  writeFileSync(file, '');
  for (const folder of [file, join(file, 'a'), join(file, 'a', 'b')])
    expect(() => makeFolder(folder)).toThrow();
});

// Where /proc is, nobody can make a folder in it, and Node's recursive mkdir never returns.
test.skipIf(!existsSync('/proc/self'))(
  'where no folder can be made, each command says so at once',
  async () => {
    expect(() => makeFolder('/proc/none/deeper')).toThrow(/'\/proc\/none'/);
    await project.write('spiders/news.ts', newsSpider);
    const run = (...args: string[]) =>
      runHere(args, { cwd: project.dir, env: { XDG_CACHE_HOME: '/proc/none' } });
    const saying = (code: number) => ({ code, stderr: expect.stringContaining('/proc/none') });
    expect(await run('crawl', 'news', '-s', 'JOBDIR=/proc/none/store')).toMatchObject(saying(4));
    expect(await run('crawl', 'news', '-o', '/proc/none/items.jsonl')).toMatchObject(saying(1));
    expect(await run('reset', 'news', '--backup', '/proc/none/news.jsonl', '--yes')).toMatchObject(saying(1));
    expect(await run('init', '/proc/none')).toMatchObject(saying(1));
  },
);
