/** `npm run demo` as a newcomer runs it: on the embedded engine, on Redis, and interrupted. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { compare } from '../../scripts/demo/compare.mjs';
import { type CliResult, type RunningCli, startCli } from '../helpers/cli.js';
import { descendants } from '../helpers/leftovers.js';
import { startRedis } from '../helpers/redis/redis-server.js';
import { waitFor } from '../helpers/wait-for.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const closingLine = 'demo: 600 pages, 600 items, 3 nodes, 1 killed, 0 missing, 0 twice';

function startDemo(env: Record<string, string> = {}): RunningCli {
  return startCli([], { cwd: root, executable: path.join(root, 'scripts', 'demo', 'demo.mjs'), env });
}

/** The demo went well: a node died with leases, which came back, and the crawl is complete. */
function expectGood({ code, stdout, stderr }: CliResult, store: string) {
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(closingLine);
  expect(stdout).toMatch(/three nodes were \d+\.\d times as fast as one/);
  expect(stderr).toMatch(/kill -9 \d+: node-2 is dead, and holds \d+ leases/);
  expect(stderr).toMatch(/have taken the \d+ leases of node-2 back into the queue/);
  expect(stderr).toContain(store);
  expect(code).toBe(0);
}

describe('the demo', () => {
  it('crawls its site with three nodes on a Redis of its own, kills one, and misses and repeats nothing', async () => {
    const demo = startDemo();
    expectGood(await demo.wait(), 'a redis-server, started for the demo');
    const lines = readFileSync(path.join(root, '.demo', String(demo.pid), 'items.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toHaveLength(600);
    expect(JSON.parse(lines[0]!)).toMatchObject({ title: expect.any(String), price: expect.any(Number) });
  });

  it('does the same on the embedded engine where there is no redis-server', async () => {
    expectGood(await startDemo({ PATH: '/nowhere' }).wait(), 'the embedded engine');
  });

  it('does the same on Redis when REDIS_URL is set, and leaves nothing of its own there', async () => {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    try {
      await client.rpush('demo:start_urls', 'http://127.0.0.1/of-somebody-else');
      expectGood(await startDemo({ REDIS_URL: redis.url }).wait(), 'the Redis of REDIS_URL');
      expect(await client.keys('*')).toEqual(['demo:start_urls']);
      expect(await client.lrange('demo:start_urls', 0, -1)).toEqual(['http://127.0.0.1/of-somebody-else']);
    } finally {
      client.disconnect();
      await redis.stop();
    }
  });

  it('ends with all its processes on Ctrl-C', async () => {
    const demo = startDemo();
    await demo.waitForOutput(/one node crawls/);
    const children = descendants(demo.pid).map(({ pid }) => pid);
    demo.kill('SIGINT');
    const { code, stderr } = await demo.wait();
    expect(code).toBe(130);
    expect(stderr).toContain('interrupted by SIGINT');
    await waitFor(() => children.every((pid) => !isAlive(pid)), { what: 'the processes of the demo to end' });
  });
});

describe("the demo's verdict", () => {
  const pages = [
    'http://127.0.0.1:80/',
    'http://127.0.0.1/book?n=1&shop=0',
    'http://127.0.0.1/book?n=2&shop=0',
  ];
  const expected = pages.map((url) => new URL(url).href);
  const log = expected.map((url) => ({ url, status: 200 }));
  const items = expected.map((url, n) => ({ url, node: `node-${n % 2}` }));

  it('is clean when every page was fetched once and has one item', () => {
    expect(compare({ expected, log, items })).toEqual({
      pages: 3,
      items: 3,
      nodes: [
        { node: 'node-0', pages: 2 },
        { node: 'node-1', pages: 1 },
      ],
      missing: [],
      twice: [],
      unknown: [],
    });
  });

  it('takes an item whose URL spells the query in another order for the same page', () => {
    const spelled = [...items.slice(0, 2), { url: 'http://127.0.0.1/book?shop=0&n=2#x', node: 'node-0' }];
    expect(compare({ expected, log, items: spelled })).toMatchObject({ missing: [], twice: [], unknown: [] });
  });

  it('finds a page that was not fetched, and one without an item', () => {
    expect(compare({ expected, log: log.slice(1), items }).missing).toEqual([expected[0]]);
    expect(compare({ expected, log, items: items.slice(0, 2) }).missing).toEqual([expected[2]]);
    const failed = [{ url: expected[0]!, status: 503 }, ...log.slice(1)];
    expect(compare({ expected, log: failed, items }).missing).toEqual([expected[0]]);
  });

  it('finds an item that was written twice, and an item of no page; a page may be fetched twice', () => {
    expect(compare({ expected, log: [...log, log[1]!], items }).twice).toEqual([]);
    expect(compare({ expected, log, items: [...items, items[2]!] }).twice).toEqual([expected[2]]);
    const stray = { url: 'http://127.0.0.1/nowhere', node: 'node-0' };
    expect(compare({ expected, log, items: [...items, stray] }).unknown).toEqual([stray.url]);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
