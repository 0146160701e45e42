/** `reset --backup` and the clean policy on both engines; restore.test.ts has the way back. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createBackup } from '../../../src/cli/backup/create-backup.js';
import { processContext } from '../../../src/cli/context.js';
import { allParts, type Frontier } from '../../../src/frontier/frontier.js';
import { request } from '../../frontier-contract/world.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable, startCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { contents, fill } from '../../helpers/filled-crawl.js';
import { joinAs } from '../../helpers/joining.js';
import { defaultShape } from '../../helpers/open-options.js';
import { waitFor } from '../../helpers/wait-for.js';

const snapshot = (frontier: Frontier) => frontier.snapshot();

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });

  it('what a reset deletes is in the backup first, and comes back as it was', async () => {
    await here.look(fill);
    const before = await here.look(contents);
    const file = here.project.path('backups/news.jsonl.gz');
    const reset = await run('reset', 'news', '--all', '--backup', 'backups/news.jsonl.gz', '--yes', '--json');
    expect(JSON.parse(reset.stdout)).toMatchObject({
      ...{ spider: 'news', dryRun: false },
      parts: { queue: 19, dupefilter: 21, start_urls: 2, items: 2, failed: 1 },
      backup: { file, counts: { requests: 19, seen: 21, failed: 1, seeds: 2, items: 2 } },
    });
    expect(await here.look(contents)).toEqual([]);
    expect(readdirSync(here.project.path('backups'))).toEqual(['news.jsonl.gz']);
    const dry = await run('restore', 'news', file, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toMatchObject({ outcome: 'dry run', counts: { requests: 19 } });
    expect(await here.look(contents)).toEqual([]);
    expect(await run('restore', 'news', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is in the crawl again'),
    });
    expect(await here.look(contents)).toEqual(before);
    expect((await run('doctor', 'news', '--deep')).stdout).toContain('no problems');
  });

  it('a backup that --force writes under a live node says what may not be in it', async () => {
    await here.look(async (frontier) => {
      await fill(frontier);
      await joinAs(frontier, {});
      const forced = await run('reset', 'news', '--backup', 'forced.jsonl', '--yes', '--force');
      expect(forced).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('nodes worked on the crawl while it was backed up'),
      });
    });
  });

  it('nothing is cleared where the backup cannot be written, exists, or is not whole when it is killed', async () => {
    await here.look((frontier) => fill(frontier, 5_000));
    const before = await here.look(contents);
    await here.project.write('taken.jsonl', 'mine');
    expect(await run('reset', 'news', '--backup', 'taken.jsonl', '--yes')).toMatchObject({ code: 2 });
    expect(await run('reset', 'news', '--backup', 'taken.jsonl/b', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing was cleared'),
    });
    // A disk that is full after 100 KB.
    const full = spawnSync('sh', [
      '-c',
      `cd '${here.project.dir}' && ulimit -f 200 && exec "$0" "$1" reset news --backup full.jsonl --yes`,
      ...[process.execPath, executable],
    ]);
    if (engine === 'redis') expect(full.status).toBe(1);
    expect(existsSync(here.project.path('full.jsonl'))).toBe(false);
    const killed = startCli(['reset', 'news', '--backup', 'killed.jsonl', '--yes'], {
      cwd: here.project.dir,
    });
    await waitFor(
      () => killed.stdout().includes('to be deleted') || existsSync(here.project.path('killed.jsonl')),
      {
        intervalMs: 1,
      },
    );
    killed.killGroup('SIGKILL');
    await killed.wait();
    if (!existsSync(here.project.path('killed.jsonl'))) expect(await here.look(contents)).toEqual(before);
    expect(await here.project.read('taken.jsonl')).toBe('mine');
  });

  it('what is added while the backup is made stops the reset', async () => {
    await here.look(fill);
    await here.look(async (frontier) => {
      const busy = Object.create(frontier, {
        count: { value: () => frontier.count() },
        snapshot: { value: () => frontier.snapshot() },
        backups: {
          value: {
            async *read(parts: typeof allParts) {
              yield* frontier.backups.read(parts);
              await frontier.push([request('late')], 'links');
            },
          },
        },
      }) as Frontier;
      const context = {
        ...processContext([], { set: [], json: false, colour: true }),
        cwd: here.project.dir,
      };
      const options = {
        ...{ file: 'b.jsonl', spider: 'news', job: null, shape: defaultShape, parts: allParts },
        ...{ counts: await frontier.count(), force: false },
      };
      await expect(createBackup(context, busy, options)).rejects.toMatchObject({ code: 'backup_outdated' });
    });
  });

  it('with a policy it happens when the crawl is due, else it says why nothing was done', async () => {
    await run('seed', 'news', 'http://a.example/1', 'http://a.example/2');
    const policy = (...more: string[]) => run('reset', 'news', '--yes', '--backup', 'b.jsonl', ...more);
    expect(await policy('--older-than', '7d', '--if-larger-than', '10000000')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^news: nothing to do: the crawl began \d+s ago \(limit 1w\), the dupefilter holds 2 fingerprints \(limit 10,000,000\)\n$/,
      ),
    });
    expect(existsSync(here.project.path('b.jsonl'))).toBe(false);
    expect((await policy('--older-than', '7d', '--if-larger-than', '1', '--dry-run')).stdout).toMatch(
      /would delete\n(.*\n)*after a backup to b\.jsonl\n$/,
    );
    expect(await here.look(snapshot)).toMatchObject({ pending: 2 });
    expect(JSON.parse((await policy('--if-larger-than', '1', '--json')).stdout)).toMatchObject({
      ...{ due: true, parts: { queue: 2 } },
    });
    expect(await here.look(snapshot)).toMatchObject({ pending: 0, seen: 0 });
    expect((await run('reset', 'news', '--yes', '--older-than', '7')).code).toBe(2);
  });

  it('an -o file that was written to since the backup keeps what it holds', async () => {
    await here.look(fill);
    await run('items', 'news', 'export', '-o', 'out.jsonl');
    await run('reset', 'news', '--all', '--backup', 'b.jsonl', '--yes');
    appendFileSync(here.project.path('out.jsonl'), '{"n":"by hand"}\n');
    expect((await run('restore', 'news', 'b.jsonl')).stderr).toContain('was changed since the backup');
    await here.look(fill);
    await run('items', 'news', 'export', '-o', 'out.jsonl');
    expect((await here.project.readJsonLines('out.jsonl')).map(({ n }) => n)).toEqual([
      ...[1, 'ü', 'by hand', 1, 'ü'],
    ]);
  });

  it('another job and another spider are left alone, whatever their names have in common', async () => {
    await here.project.write(
      'spiders/news2.ts',
      (await here.project.read('spiders/news.ts')).replace("'news'", "'news2'"),
    );
    const crawls = [['news2'], ['news', '--job', 'j'], ['news']];
    await Promise.all(crawls.map((crawl) => run('seed', ...crawl, 'http://a.example/')));
    const client = engine === 'redis' ? new Redis(here.redis!.url) : null;
    const strange = ['news*:requests', 'news?:dupefilter', 'n[e]ws:items', 'news:requests:mine', 'news:'];
    for (const key of strange) await client?.set(key, '1');
    expect((await run('reset', 'news', '--all', '--yes')).code).toBe(0);
    expect(await here.look(snapshot)).toMatchObject({ pending: 0, seen: 0 });
    expect(await here.look(snapshot, 'news2')).toMatchObject({ pending: 1, seen: 1 });
    const job = JSON.parse((await run('stats', 'news', '--job', 'j', '--json')).stdout);
    expect(job).toMatchObject({ pending: 1, seen: 1 });
    if (client !== null) {
      expect(await client.exists(...strange)).toBe(strange.length);
      const own = (await client.keys('news:*')).filter(
        (key) => !key.includes('@j') && !strange.includes(key),
      );
      expect(own).toEqual([]);
      client.disconnect();
    }
  });
});
