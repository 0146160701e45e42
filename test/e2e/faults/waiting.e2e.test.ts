/** How long real processes wait for a store that is away, and for a disk without room: for WAIT_TIMEOUT, and nothing is lost. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crawl as crawlInProgram } from '../../../src/crawler/program/program.js';
import { FrontierUnavailableError } from '../../../src/errors.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { executable, type RunningCli, runCli, startCli } from '../../helpers/cli.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type RedisServer, startRedis } from '../../helpers/redis/redis-server.js';
import { type Site, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';
import { walk } from '../../helpers/walk.js';

const PAGES = 60;
/** Each item has 8 KB of text, so that a small disk is full soon. */
const spider = walk(`text: 'x'.repeat(8_000)`);

let project: Project;
let site: Site;
beforeEach(async () => {
  project = await createProject({
    settings: { ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 4, NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1 },
    files: { 'spiders/walk.ts': spider },
  });
  site = await startSite({ pages: PAGES, delayMs: 50 });
});
afterEach(async () => {
  await site.close();
  await project.remove();
});

const crawling = (...args: string[]) => [
  'crawl',
  'walk',
  '-a',
  `start=${site.url}`,
  '--exit-when-done',
  ...args,
];
const itemUrls = async (file = 'items.jsonl') =>
  (await project.read(file))
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { url: string }).url)
    .sort();
const allUrls = () => [...site.urls].sort();

describe('a Redis that goes away during the crawl', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis({ persist: true });
  });
  afterEach(() => redis.stop());
  const crawl = (...args: string[]) =>
    startCli(crawling('-o', 'items.jsonl', ...args), { cwd: project.dir, env: { REDIS_URL: redis.url } });

  const cutOff = async (node: RunningCli, says: RegExp) => {
    const before = site.log.length;
    await waitFor(() => site.log.length > before + 5, { what: 'some pages' });
    await redis.kill();
    const { code, stderr } = await node.wait();
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringMatching(says) });
    expect(stderr).not.toMatch(/^\s+at /m);
    await redis.restart();
  };

  it('is waited for as WAIT_TIMEOUT says: exit 4, and the next run delivers everything once', async () => {
    const says =
      /waited 2 s for it \(WAIT_TIMEOUT\); nothing committed is lost, and other nodes or the next run do the pages again/;
    for (const workers of ['1', '2']) {
      await cutOff(crawl('-s', 'WAIT_TIMEOUT=2', '-s', 'SHUTDOWN_TIMEOUT=1', '--workers', workers), says);
    }
    expect(await crawl().wait()).toMatchObject({ code: 0 });
    expect(await itemUrls()).toEqual(allUrls());
  });

  it('is waited for no longer than CLOSESPIDER_TIMEOUT: exit 4, and nothing is lost', async () => {
    const says =
      /the 4 s of this run \(CLOSESPIDER_TIMEOUT\) were over while this node waited for it; nothing committed is lost/;
    await cutOff(crawl('-s', 'CLOSESPIDER_TIMEOUT=4', '-s', 'SHUTDOWN_TIMEOUT=1'), says);
    const closes = await crawl().wait();
    expect(closes).toMatchObject({ code: 0, stdout: expect.stringContaining('walk: closespider_timeout') });
    expect(await crawl().wait()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('walk: finished'),
    });
    expect(await itemUrls()).toEqual(allUrls());
  });

  it('is waited for without limit by a service', async () => {
    const env = { REDIS_URL: redis.url };
    const service = startCli(['crawl', 'walk', '-a', `start=${site.url}`], { cwd: project.dir, env });
    await waitFor(() => site.log.length > 5, { what: 'some pages' });
    await redis.kill();
    await service.waitForOutput('the frontier cannot be reached; waiting for it');
    await redis.restart();
    await waitFor(() => site.compare().missing.length === 0, { what: 'all pages' });
    service.kill();
    expect(await service.wait()).toMatchObject({ code: 0 });
  });

  it('makes crawl() of a program reject with FrontierUnavailableError', async () => {
    const start = site.url;
    class Walk extends Spider {
      override name = 'walk';
      override startUrls = [start];
      override *parse(response: Response) {
        yield* response.followAll(response.links());
      }
    }
    const settings = { REDIS_URL: redis.url, ROBOTSTXT_OBEY: false, WAIT_TIMEOUT: 1, CONCURRENT_REQUESTS: 2 };
    const ended = crawlInProgram(Walk, { settings }).catch((error: unknown) => error);
    await waitFor(() => site.log.length > 3, { what: 'some pages' });
    await redis.kill();
    const error = await ended;
    expect(error).toBeInstanceOf(FrontierUnavailableError);
    expect((error as Error).message).toContain('waited 1 s for it (WAIT_TIMEOUT)');
  });
});

/** Not every user may mount, and not every system can. */
const mounts = spawnSync('unshare', ['-rm', 'true']).status === 0;

describe.skipIf(!mounts)('a disk that is full', () => {
  /**
   * Mount a small disk on the folder `small` of the project in namespaces of its own, crawl, make room, and crawl again. The
   * network is that of the test.
   */
  const onSmallDisk = async (size: string, ...args: string[]) => {
    const script = `
      mount -t tmpfs -o size=${size} tmpfs small || exit 99
      "$@"; first=$?
      mount -o remount,size=100m small
      "$@"; second=$?
      cp small/items.jsonl . 2>/dev/null
      echo "codes $first $second"`;
    await project.write('small/.keep', '');
    const node = [process.execPath, executable, ...crawling(...args)];
    const { spawn } = await import('node:child_process');
    const child = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', ...node], {
      cwd: project.dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    await new Promise((resolve) => child.once('close', resolve));
    return output;
  };

  it('of the feed is waited for: exit 1, and the next run writes what waited', async () => {
    const limits = ['-s', 'WAIT_TIMEOUT=1', '-s', 'FEED_OUTBOX_LIMIT=5', '-s', 'SHUTDOWN_TIMEOUT=1'];
    // One page at a time, so that the disk is full long before the last page.
    limits.push('-s', 'CONCURRENT_REQUESTS=1');
    const output = await onSmallDisk('100k', '-o', 'small/items.jsonl', ...limits);
    expect(output).toContain('codes 1 0');
    expect(output).toMatch(
      /the disk is full .*waited 1 s for it \(WAIT_TIMEOUT\); the items committed so far wait/,
    );
    expect(await itemUrls()).toEqual(allUrls());
  });

  it('of the embedded store is waited for: exit 1, and the next run goes on', async () => {
    const limits = ['-s', 'WAIT_TIMEOUT=1', '-s', 'JOBDIR=small/store'];
    const output = await onSmallDisk('600k', '-o', 'items.jsonl', ...limits);
    expect(output).toContain('codes 1 0');
    expect(output).toMatch(/waited 1 s for it \(WAIT_TIMEOUT\)/);
    expect(output).not.toMatch(/^\s+at /m);
    expect(await itemUrls()).toEqual(allUrls());
  });
});

it('WAIT_TIMEOUT takes a whole number of seconds', async () => {
  const { code, stderr } = await runCli(crawling('-s', 'WAIT_TIMEOUT=soon'), { cwd: project.dir });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('WAIT_TIMEOUT') });
  expect(existsSync(project.path('.crawlnode'))).toBe(false);
});
