/** `items S export -o FILE` on both engines: each item leaves the list once. */
import { existsSync, statSync } from 'node:fs';
import os from 'node:os';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { feedId } from '../../../src/feed-outbox.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { commit, request, takeOne } from '../../frontier-contract/world.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { openOptions } from '../../helpers/open-options.js';
import { waitFor } from '../../helpers/wait-for.js';

describe.each(engines)('on the %s engine', { timeout: 120_000 }, (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, n) => n + from);
  let pages = 0;

  /** Put items into the list, as a page of a crawl does. */
  async function fill(count: number, from = 0): Promise<void> {
    await here.look(async (frontier) => {
      await joinAs(frontier);
      for (let at = 0; at < count; at += 1_000) {
        pages += 1;
        await frontier.push([request(`page-${pages}`)], 'links');
        const items = upTo(Math.min(1_000, count - at), from + at).map((n) => `{"n":${n}}`);
        await commit(frontier, await takeOne(frontier), undefined, { items });
      }
      await frontier.leave('shutdown');
    });
  }

  const numbers = async (file: string) =>
    (await here.project.readJsonLines<{ n: number }>(file)).map(({ n }) => n);

  it('the list is moved into the file, in order; what comes later is added to it', async () => {
    const file = here.project.path('out.jsonl');
    await fill(2_500);
    expect(await run('items', 'news', 'export', '-o', 'out.jsonl', '--max', '700')).toMatchObject({
      code: 0,
      stdout: `${file}: 700 items written; 1,800 are in the list\n`,
    });
    expect(JSON.parse((await run('items', 'news', 'export', '-o', 'out.jsonl', '--json')).stdout)).toEqual({
      ...{ spider: 'news', job: null, file },
      ...{ written: 1_800, inFile: 2_500, left: 0 },
    });
    await fill(10, 2_500);
    expect((await run('items', 'news', 'export')).stderr).toContain('-o FILE moves them');
    expect((await run('items', 'news', 'export', '-o', 'out.jsonl')).stdout).toBe(
      `${file}: 10 items written\n`,
    );
    expect(await numbers('out.jsonl')).toEqual(upTo(2_510));
    expect(JSON.parse((await run('stats', 'news', '--json')).stdout).items).toBe(0);
  });

  it('killed at any point, again and again, it loses and doubles nothing', async () => {
    await fill(20_000);
    const file = here.project.path('out.jsonl');
    for (let kills = 0; kills < 6; kills += 1) {
      const size = () => (existsSync(file) ? statSync(file).size : 0);
      const before = size();
      // -O as well as -o goes on with what was cut off.
      const cli = startCli(['items', 'news', 'export', kills % 2 ? '-o' : '-O', 'out.jsonl'], {
        cwd: here.project.dir,
      });
      let ended = false;
      const end = cli.wait().then(() => {
        ended = true;
      });
      await waitFor(() => ended || size() > before, { intervalMs: 1 });
      // Somewhere in a batch, another place each time.
      for (let turns = 0; turns < kills * 7 && !ended; turns += 1) await new Promise(setImmediate);
      const isOver = ended;
      cli.killGroup('SIGKILL');
      await end;
      // A finished file would be begun anew by the next -O.
      if (isOver) break;
    }
    expect((await run('items', 'news', 'export', '-o', 'out.jsonl')).code).toBe(0);
    expect(await numbers('out.jsonl')).toEqual(upTo(20_000));
    expect((await run('doctor', 'news', '--deep')).stdout).toContain('no problems');
  });

  it('-O begins a finished file anew, -o adds to it; as JSON, as CSV, as JSON lines', async () => {
    await fill(2);
    await run('items', 'news', 'export', '-O', 'a.json');
    await fill(2, 2);
    await run('items', 'news', 'export', '-o', 'a.json');
    expect(JSON.parse(await here.project.read('a.json'))).toEqual(upTo(4).map((n) => ({ n })));
    await fill(1, 4);
    await run('items', 'news', 'export', '-O', 'a.json');
    expect(JSON.parse(await here.project.read('a.json'))).toEqual([{ n: 4 }]);
    await fill(2, 5);
    await run('items', 'news', 'export', '-o', 'a.csv', '--max', '1');
    await run('items', 'news', 'export', '-o', 'a.csv');
    expect(await here.project.read('a.csv')).toBe('n\r\n5\r\n6\r\n');
  });

  it('a file that another writer holds is refused, one that cannot be written is told, and nothing is lost', async () => {
    await fill(5);
    const file = here.project.path('out.jsonl');
    const frontier = await openFrontier(openOptions(here.place(), 'news'));
    const held = { feed: feedId(os.hostname(), file), host: os.hostname(), path: file, pid: process.pid };
    await frontier.feeds.open({ ...held, owner: 'another' }, { staleMs: 1 });
    expect(await run('items', 'news', 'export', '-o', 'out.jsonl')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is being written by process'),
    });
    await frontier.feeds.release({ ...held, owner: 'another' });
    await frontier.close();
    await here.project.write('folder.jsonl/file', '');
    expect(await run('items', 'news', 'export', '-o', 'folder.jsonl')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it is a folder'),
    });
    for (const wrong of [
      ['-o', 'a.txt'],
      ['-o', 'a.csv', '-O', 'b.csv'],
      ['--max', '3'],
      ['--max', 'x'],
    ]) {
      expect((await run('items', 'news', 'export', ...wrong)).code).toBe(2);
    }
    expect((await run('items', 'news', 'export', '-o', 'out.jsonl')).stdout).toContain('5 items written');
    expect(await numbers('out.jsonl')).toEqual(upTo(5));
  });
});

describe('on the redis engine alone', () => {
  const here = projectOn('redis');

  it('values that others put into the list are exported too', async () => {
    const client = new Redis(here.redis!.url);
    await client.rpush('news:items', '{"a":\n1}', 'plain text', '7');
    client.disconnect();
    const { code, stderr } = await runHere(['items', 'news', 'export', '-o', 'out.jsonl'], {
      cwd: here.project.dir,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('under "value"') });
    expect(await here.project.readJsonLines('out.jsonl')).toEqual([
      { a: 1 },
      { value: 'plain text' },
      { value: 7 },
    ]);
  });
});
