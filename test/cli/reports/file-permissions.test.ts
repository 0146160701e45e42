/** What crawlnode writes is this user's alone, and doctor names what is not. */
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli } from '../../helpers/cli.js';
import { newsSpider } from '../../helpers/engine-project.js';
import { createProject, type Project } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';

const files = { 'spiders/news.ts': newsSpider };
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe('with a umask of 0', () => {
  const before = process.umask();
  afterEach(() => void process.umask(before));

  it('store, backup and records are readable and writable by this user alone', async () => {
    const project = await createProject({ files, settings: { ROBOTSTXT_OBEY: false } });
    const site = await startSite();
    process.umask(0);
    await runCli(['seed', 'news', ...site.urls.slice(0, 3)], { cwd: project.dir });
    const env = { XDG_STATE_HOME: project.path('state'), XDG_CACHE_HOME: project.path('cache') };
    const crawl = ['crawl', 'news', '--exit-when-done', '-o', 'out.jsonl'];
    expect(await runCli(crawl, { cwd: project.dir, env })).toMatchObject({ code: 0 });
    await runCli(['reset', 'news', '--all', '--yes', '--backup', 'news.backup'], { cwd: project.dir });
    await site.close();
    process.umask(before);

    expect(modeOf(project.path('news.backup'))).toBe('600');
    const found: Record<string, string> = {};
    for (const top of ['.crawlnode', 'state', 'cache']) {
      found[top] = modeOf(project.path(top));
      for (const name of readdirSync(project.path(top), { recursive: true, encoding: 'utf8' })) {
        // Node's own compile cache lies within a folder that nobody else can enter.
        if (/^crawlnode.compile./.test(name)) continue;
        found[path.join(top, name)] = modeOf(project.path(top, name));
      }
    }
    // The record of backups, the store, and the record of the feed.
    expect(Object.keys(found).filter((name) => name.endsWith('.json') || name.endsWith('.db'))).toHaveLength(
      3,
    );
    expect(Object.entries(found).filter(([, mode]) => !['700', '600'].includes(mode))).toEqual([]);
    await project.remove();
  });

  it('the files of a store at work are, too', async () => {
    const project = await createProject({ files });
    process.umask(0);
    const { openFrontier } = await import('../../../src/frontier/choose-engine.js');
    const { openOptions } = await import('../../helpers/open-options.js');
    const { request } = await import('../../frontier-contract/world.js');
    const frontier = await openFrontier(openOptions(project.path('.crawlnode'), 'news'));
    await frontier.push([request('a')], 'links');
    const all = readdirSync(project.path('.crawlnode'), { recursive: true, encoding: 'utf8' });
    const modes = all.map(
      (name) => `${name.replace(/\d.*/, '')} ${modeOf(project.path('.crawlnode', name))}`,
    );
    await frontier.close();
    expect(modes.sort()).toEqual([
      'frontier.db 600',
      'frontier.db-shm 600',
      'frontier.db-wal 600',
      'users 700',
      'users/ 600',
    ]);
    await project.remove();
  });
});

describe('doctor', () => {
  const doctor = async (project: Project, env = {}) =>
    (await runHere(['doctor', 'news'], { cwd: project.dir, env })).stdout;

  it('names what others can write to, or read of the store', async () => {
    const project = await createProject({ files, settings: {} });
    await runHere(['seed', 'news', 'http://a.example/'], { cwd: project.dir });
    expect(await doctor(project)).toMatch(/^ok +nobody else can write to project and store$/m);
    for (const [file, says] of [
      ['spiders/news.ts', /problem +others can write to what runs as this user: .*news\.ts → chmod go-w/],
      ['spiders', /others can write to what runs as this user: .*spiders/],
      ['crawlnode.yaml', /others can write to what runs as this user: .*crawlnode\.yaml/],
      ['.crawlnode/frontier.db', /problem +others can write to the store: .*frontier\.db → chmod -R go-rwx/],
    ] as const) {
      const mode = statSync(project.path(file)).mode & 0o777;
      chmodSync(project.path(file), mode | 0o002);
      expect(await doctor(project), file).toMatch(says);
      chmodSync(project.path(file), mode);
    }
    // The log of the store takes the modes of its file.
    for (const name of ['frontier.db-wal', 'frontier.db-shm'])
      if (project.exists(`.crawlnode/${name}`)) chmodSync(project.path('.crawlnode', name), 0o600);
    chmodSync(project.path('.crawlnode'), 0o755);
    expect(await doctor(project)).toMatch(/^ok +nobody else/m);
    chmodSync(project.path('.crawlnode/frontier.db'), 0o644);
    expect(await doctor(project)).toMatch(/problem +others can read the store, with headers and cookies/);
    const cache = project.path('cache');
    await project.write('cache/x', '');
    chmodSync(cache, 0o777);
    expect(await doctor(project, { NODE_COMPILE_CACHE: cache })).toMatch(
      /others can write to what runs.*cache/,
    );
    await project.remove();
  });

  it('names a store that cannot be read, and its owner', async () => {
    const project = await createProject({ files });
    await project.write('.crawlnode', 'no folder');
    expect(await doctor(project)).toMatch(
      /problem +the store .*\.crawlnode, of the user with id \d+, cannot be read: .* → run crawlnode as that user/,
    );
    await project.remove();
  });

  it.runIf(process.getuid?.() === 0)('says which files are of another user', async () => {
    const project = await createProject({ files });
    chownSync(project.path('spiders/news.ts'), 1, 1);
    expect(await doctor(project)).toMatch(/info +another user owns, and so can change: .*news\.ts/);
    await project.remove();
  });
});
