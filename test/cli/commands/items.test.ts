/** `items S export` and `doctor` on both engines. */
import { spawnSync } from 'node:child_process';
import { renameSync, statSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { crawlFindings, nodeVersion } from '../../../src/cli/reports/doctor-findings.js';
import { feedId } from '../../../src/feed-outbox.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Frontier, Snapshot } from '../../../src/frontier/frontier.js';
import { silentLogger } from '../../../src/log.js';
import { openFeedWriter } from '../../../src/pipelines/feeds/feed-writer.js';
import { feedFormat } from '../../../src/pipelines/feeds/formats/feed-format.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { engines, newsSpider, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { openOptions } from '../../helpers/open-options.js';
import { recordsOf } from '../../helpers/project.js';
import { waitFor } from '../../helpers/wait-for.js';

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const open = () => openFrontier(openOptions(here.place(), 'news'));

  /** Items committed for a file, whose writer ends before it has written the last ones. */
  async function leave(
    file: string,
    items: number,
    { pid = 0, host = os.hostname(), format = feedFormat(file) } = {},
  ): Promise<void> {
    await run('seed', 'news', 'http://a.example/', `http://a.example/${file}`);
    const frontier = await open();
    const feed = feedId(host, file);
    const dead = pid || spawnSync(process.execPath, ['--version']).pid;
    const writer = { feed, host, path: file, pid: dead, owner: 'the dead', format };
    await joinAs(frontier, { feeds: [feed] });
    // It closes its file, as the end of a process does, and never gives its feed back.
    const feeds = {
      open: frontier.feeds.open.bind(frontier.feeds),
      read: frontier.feeds.read.bind(frontier.feeds),
      checkpoint: frontier.feeds.checkpoint.bind(frontier.feeds),
      noteChange: frontier.feeds.noteChange.bind(frontier.feeds),
      release: async () => {},
    };
    const written = await openFeedWriter({
      ...{ feeds, writer, path: file, format, overwrite: false, staleMs: 1, log: silentLogger },
      records: recordsOf('news'),
    });
    await commit(frontier, ['{"n":0}']);
    await written.drain();
    await written.close();
    await commit(
      frontier,
      Array.from({ length: items - 1 }, (_, n) => `{"n":${n + 1}}`),
    );
    await frontier.leave('shutdown');
    await frontier.close();
  }

  async function commit(frontier: Frontier, feedItems: readonly string[]): Promise<void> {
    const { leases } = await frontier.lease(1, 0);
    const effects = { items: [], feedItems, requests: [], stats: {} };
    await frontier.settle(leases[0]!, { kind: 'done', reason: 'crawled', status: 200, attempts: 1 }, effects);
  }

  const numbers = async (file: string) =>
    (await here.project.readJsonLines<{ n: number }>(file)).map(({ n }) => n);
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

  it('items that a dead node left for a file of this machine are written, once', async () => {
    expect((await run('items', 'news', 'export')).stdout).toBe('news: no items wait for a file\n');
    await leave(here.project.path('out.jsonl'), 50);
    expect(await numbers('out.jsonl')).toEqual([0]);
    expect(await run('items', 'news', 'export')).toMatchObject({
      code: 0,
      stdout: `${here.project.path('out.jsonl')}: 49 items written\n`,
    });
    expect((await run('items', 'news', 'export', '--json')).stdout).toBe(
      '{"spider":"news","job":null,"files":[]}\n',
    );
    expect(await numbers('out.jsonl')).toEqual(upTo(50));
  });

  it('a file whose name does not say its format is finished in that of its writer', async () => {
    await leave(here.project.path('out'), 3, { format: 'csv' });
    expect(await run('items', 'news', 'export')).toMatchObject({
      code: 0,
      stdout: `${here.project.path('out')}: 2 items written\n`,
    });
    expect(await here.project.read('out')).toBe('n\r\n0\r\n1\r\n2\r\n');
  });

  it('killed in the middle, again and again, it writes each item once', async () => {
    const file = here.project.path('out.jsonl');
    await leave(file, 8_000);
    let last = statSync(file).size;
    for (let kills = 0; kills < 3; kills += 1) {
      const cli = startCli(['items', 'news', 'export'], { cwd: here.project.dir });
      let ended = false;
      const end = cli.wait().then(() => {
        ended = true;
      });
      await waitFor(() => ended || statSync(file).size > last, { intervalMs: 1 });
      cli.killGroup('SIGKILL');
      await end;
      last = statSync(file).size;
    }
    expect((await run('items', 'news', 'export')).code).toBe(0);
    expect(await numbers('out.jsonl')).toEqual(upTo(8_000));
  });

  it('a file that is gone, on another machine, or of a living writer stays as it is, and is told', async () => {
    const gone = here.project.path('gone.jsonl');
    await leave(gone, 3);
    await here.project.write('gone.jsonl', '');
    expect(await run('items', 'news', 'export')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/2 items wait: .*somebody changed or removed it/),
    });
    await run('reset', 'news', '--all', '--yes');
    await leave(here.project.path('far.jsonl'), 3, { host: 'elsewhere' });
    expect(await run('items', 'news', 'export')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the file is on elsewhere: run this command there'),
    });
    expect(await numbers('far.jsonl')).toEqual([0]);
    await run('reset', 'news', '--all', '--yes');
    await leave(here.project.path('held.jsonl'), 3, { pid: process.pid });
    expect(await run('items', 'news', 'export')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is being written by process'),
    });
    expect(await numbers('held.jsonl')).toEqual([0]);
  });

  it('a file whose name has become a link to another one is told, and neither is touched', async () => {
    await leave(here.project.path('now.jsonl'), 3);
    renameSync(here.project.path('now.jsonl'), here.project.path('monday.jsonl'));
    await here.project.write('tuesday.jsonl', '{"n":7}\n'.repeat(9));
    symlinkSync('tuesday.jsonl', here.project.path('now.jsonl'));
    expect(await run('items', 'news', 'export')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/2 items wait: .*now.jsonl leads to another file/),
    });
    expect(await numbers('tuesday.jsonl')).toEqual(Array(9).fill(7));
    expect(await numbers('monday.jsonl')).toEqual([0]);
  });

  it('doctor finds nothing wrong with what is well, and looks deep when asked', async () => {
    await run('seed', 'news', 'http://a.example/');
    const { code, stdout } = await run('doctor', 'news', '--deep');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {7}Node \d+/);
    expect(stdout).toContain(`ok       news: ${engine} engine, 0 live nodes; 1 pending`);
    expect(stdout).toMatch(/all records agree with each other\n(info .*\n)*no problems\n$/);
    const all = JSON.parse((await run('doctor', '--json')).stdout);
    expect(all.ok).toBe(true);
    expect(all.findings.map(({ check }: { check: string }) => check)).toEqual(
      expect.arrayContaining(['node_version', 'crawl', engine === 'redis' ? 'acl' : 'local_folder']),
    );
  });

  it('doctor names what needs somebody, with what to do, and exits 1', async () => {
    await leave(here.project.path('out.jsonl'), 5);
    await here.project.write('spiders/broken.ts', 'export default 7 +;\n');
    const { code, stdout } = await run('doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /problem {2}news: 4 committed items wait to be written to .*out\.jsonl.* → .*crawlnode items news export/,
    );
    expect(stdout).toMatch(/problem {2}.*broken\.ts/);
    expect(stdout).not.toContain('no problems');
    await here.project.write('spiders/broken.ts', newsSpider.replace("'news'", "'other'"));
    expect((await run('items', 'news', 'export')).code).toBe(0);
    expect((await run('doctor')).code).toBe(0);
  });
});

describe('doctor on the redis engine alone', () => {
  const here = projectOn('redis');
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });

  it('says what a node would be refused for', async () => {
    const client = new Redis(here.redis!.url);
    await client.config('SET', 'maxmemory', '100mb');
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await client.zadd('news:requests', 1, 'pickle');
    const { code, stdout } = await run('doctor', 'news');
    expect(code).toBe(1);
    expect(stdout).toMatch(/problem {2}Redis may evict the frontier/);
    expect(stdout).toMatch(
      /problem {2}news: news:requests is a ZSET, left by Scrapy-Redis.*"crawlnode reset news --only queue"/,
    );
    await client.config('SET', 'maxmemory', '0');
    await client.rename('news:requests', 'news:requests@may');
    const crawl = ['crawl', 'news', '--job', 'may', '-s', 'REDIS_ALLOW_EVICTION=true'];
    expect(await run(...crawl)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('run \\"crawlnode reset news --job may'),
    });
    client.disconnect();
  });

  it('finds a store that breaks an invariant, and one that is away', async () => {
    await run('seed', 'news', 'http://a.example/');
    const client = new Redis(here.redis!.url);
    await client.expire('news:requests', 1_000);
    for (const how of [[], ['--deep']])
      expect(await run('doctor', 'news', ...how)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('doctor news --repair'),
      });
    const repaired = await run('doctor', 'news', '--repair');
    expect(repaired).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('repaired, after 1 disagreements: 1 pending'),
    });
    expect((await run('doctor', 'news', '--deep')).code).toBe(0);
    client.disconnect();
    const away = await run(
      'doctor',
      'news',
      '-s',
      'REDIS_URL=redis://127.0.0.1:1',
      '-s',
      'REDIS_CONNECT_TIMEOUT=1',
    );
    expect(away.code).toBe(4);
    expect(away.stdout).toMatch(
      /^ok {7}Node.*\nok {7}nobody else can write.*\nproblem {2}news: .*cannot be reached.*\n1 problem\n$/,
    );
  });
});

describe('what doctor makes of a look', () => {
  const calm = {
    ...{
      badSeeds: 0,
      nodes: [],
      silent: [],
      outbox: [],
      leased: 0,
      failed: 0,
      suspects: 0,
      pending: 0,
      delayed: 0,
      done: 1,
      counters: {},
      memoryLimit: null,
      bytes: { frontier: 0, dupefilter: 0, items: 0, stats: 0, startUrls: 0 },
    },
    control: 'running',
  } as unknown as Snapshot;
  const findings = (some: Partial<Snapshot>) =>
    crawlFindings('news', { ...calm, ...some }, 30_000, true).map(({ level, check }) => `${level} ${check}`);
  const node = {
    id: 'one',
    host: 'h1',
    heartbeatAgeMs: 20_000,
    clockAheadMs: 0,
  } as Snapshot['nodes'][number];
  const outbox = [{ feed: 'f', host: 'h1', path: '/a', waiting: 3, writerPid: null, format: null }].map(
    (feed) => ({ ...feed, seenAtMs: 0, checkpoint: null, change: null }),
  );

  it.each([
    [{}, []],
    [{ badSeeds: 2 }, ['problem bad_seeds']],
    [{ nodes: [node] }, ['problem stale_node']],
    [{ outbox }, ['problem items_waiting']],
    [{ outbox, nodes: [{ ...node, heartbeatAgeMs: 0 }] }, ['info items_waiting']],
    [{ nodes: [{ ...node, heartbeatAgeMs: 0, clockAheadMs: -60_000 }] }, ['info node_clock']],
    [{ silent: [node] }, ['info silent_node']],
    [{ leased: 3 }, ['info leases_of_dead_nodes']],
    [{ failed: 3, suspects: 1 }, ['info suspects', 'info failed']],
    [{ failed: 3, done: 0 }, ['problem nothing_succeeded']],
    [{ control: 'paused', pending: 1 } as const, ['info control']],
  ])('%j', (some, found) => {
    expect(findings(some)).toEqual(found);
  });

  it('an old Node is a problem', () => {
    const levels = ['20.18.9', '18.20.0', '20.19.0', '20.19.1', '24.0.0'].map(
      (v) => nodeVersion(v)[0]!.level,
    );
    expect(levels).toEqual(['problem', 'problem', 'ok', 'ok', 'ok']);
  });
});
