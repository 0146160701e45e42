/** What Scrapy-Redis users bring: a dupefilter filled by it, seeds pushed by hand, items read back, a fingerprint of their own. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Request } from '../../src/http/message/request.js';
import { runHere } from '../helpers/cli/run-here.js';
import { startCli } from '../helpers/cli.js';
import { createProject, type Project } from '../helpers/project.js';
import { redisOfFile } from '../helpers/redis/redis-of-file.js';
import { startSite } from '../helpers/sites/site.js';

/** Made by real Scrapy and w3lib, and by the formula of Scrapy-Redis. */
interface Vector {
  readonly url: string;
  readonly method: string;
  readonly body_base64: string;
  readonly headers?: unknown;
  readonly include_headers?: unknown;
  readonly keep_fragments?: unknown;
  readonly scrapy: string;
  readonly scrapy_legacy: string;
  readonly scrapy_redis: string;
}
const file = new URL('../fixtures/vectors/fingerprint.public.json', import.meta.url);
const vectors = (JSON.parse(readFileSync(file, 'utf8')) as { cases: Vector[] }).cases;

/** Those that a seed can be: a URL that can be requested, text for a body, Scrapy's defaults; and no ß, where Scrapy goes to another host. */
function isSeed({ url, body_base64, headers, include_headers, keep_fragments }: Vector): boolean {
  const isPlain = headers === undefined && include_headers === undefined && !keep_fragments;
  if (!isPlain || url.includes('ß') || !isUtf8(Buffer.from(body_base64, 'base64'))) return false;
  try {
    return new Request(url) !== null;
  } catch {
    return false;
  }
}

const { server, admin } = await redisOfFile();
let project: Project;
beforeAll(async () => {
  project = await createProject({
    settings: {
      REDIS_URL: server.url,
      ROBOTSTXT_OBEY: false,
      ALLOW_PRIVATE_ADDRESSES: true,
      ITEM_PIPELINES: { 'scrapy_redis.pipelines.RedisPipeline': 300 },
    },
    files: {
      'spiders/news.ts': `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  *parse(response) {
    yield { url: response.url, meta: response.meta.k ?? null };
    yield* response.followAll('a', this.parse);
  }
}`,
      'spiders/own.ts': `
import { createHash } from 'node:crypto';
import { Request, Spider } from 'crawlnode';
export default class extends Spider {
  name = 'own';
  // Pages are told apart by their path alone.
  fingerprint(request) {
    if (request.url.includes('bad')) return 'bad';
    return createHash('sha1').update(new URL(request.url).pathname).digest('hex');
  }
  *parse(response) {
    yield { url: response.url };
for (const url of response.links()) yield new Request(url + '?n=' + Math.random());
  }
}`,
    },
  });
});
afterAll(() => project.remove());
beforeEach(async () => void (await admin.flushall()));

const cli = (args: readonly string[], input = '') => runHere(args, { cwd: project.dir, input });

describe('a dupefilter that Scrapy filled', () => {
  it.each([
    ['scrapy-redis', 'scrapy_redis'],
    ['scrapy', 'scrapy'],
    ['scrapy-2.6', 'scrapy_legacy'],
  ] as const)(
    'by the formula %s: none of its requests is accepted, and one that is taken out is',
    async (formula, field) => {
      const cases = vectors.filter(isSeed);
      expect(cases.length).toBeGreaterThan(350);
      await admin.sadd('news:dupefilter', ...cases.map((each) => each[field]));
      const seeds = cases.map(({ url, method, body_base64 }) => ({
        ...{ url, method },
        ...(body_base64 === '' ? {} : { body: Buffer.from(body_base64, 'base64').toString() }),
      }));
      const input = seeds.map((seed) => JSON.stringify(seed)).join('\n');
      const args = [
        'seed',
        'news',
        '--stdin',
        '--json',
        '-s',
        'SEEDS_FILTERED=true',
        '-s',
        `REQUEST_FINGERPRINTER=${formula}`,
      ];
      const first = await cli(args, input);
      expect(JSON.parse(first.stdout)).toEqual({ accepted: 0, duplicates: cases.length, bad: 0 });
      await admin.srem('news:dupefilter', cases[0]![field]);
      expect(JSON.parse((await cli(args, input)).stdout).accepted).toBe(1);
    },
  );
});

describe('the day of a Scrapy-Redis user', () => {
  it.each([
    ['lpush', []],
    ['sadd', ['-s', 'REDIS_START_URLS_AS_SET=true']],
    ['zadd', ['-s', 'REDIS_START_URLS_AS_ZSET=true']],
    ['xadd', ['-s', 'REDIS_START_URLS_AS_STREAM=true']],
  ] as const)(
    'seeds by %s, plain and JSON, are crawled, and the items read with LRANGE',
    async (command, settings) => {
      const site = await startSite({ pages: 12, extraLinks: 1 });
      const seeds = [
        site.url,
        JSON.stringify({ url: `${site.origin}/page/1.html`, meta: { k: 'v' } }),
        'no url',
      ];
      if (command === 'zadd') await admin.zadd('news:start_urls', ...seeds.flatMap((seed, n) => [n, seed]));
      else if (command === 'xadd') {
        for (const seed of seeds) await admin.xadd('news:start_urls', '*', 'url', seed);
      } else await admin[command]('news:start_urls', ...seeds);
      expect(await cli(['crawl', 'news', '--exit-when-done', ...settings])).toMatchObject({ code: 0 });
      expect(site.compare()).toEqual({ missing: [], twice: [] });
      const items = (await admin.lrange('news:items', 0, -1)).map((item) => JSON.parse(item));
      expect(items.map(({ url }) => url).sort()).toEqual([...site.urls].sort());
      expect(items.find(({ url }) => url.endsWith('/1.html'))).toMatchObject({ meta: 'v' });
      expect(await admin.scard('news:dupefilter')).toBe(12);
      expect(JSON.parse((await admin.lrange('news:start_urls:bad', 0, -1))[0]!)).toMatchObject({
        seed: 'no url',
      });
      await site.close();
    },
  );
});

describe('a fingerprint of the spider itself', () => {
  it('holds on every node, and one that is none is told with the request', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `/p${n}`);
    const body = names.map((name) => `<a href="${name}">x</a>`).join('');
    const handler = (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(body);
      return true;
    };
    const site = await startSite({ handler });
    const nodes = [1, 2].map(() => startCli(['crawl', 'own', '--exit-when-done'], { cwd: project.dir }));
    await admin.rpush('own:start_urls', `${site.origin}/p0`, 'http://a.example/bad');
    for (const node of nodes) expect(await node.wait()).toMatchObject({ code: 0 });
    const items = (await admin.lrange('own:items', 0, -1)).map(
      (item) => new URL(JSON.parse(item).url).pathname,
    );
    expect(items.sort()).toEqual([...names].sort());
    const [bad] = await admin.lrange('own:start_urls:bad', 0, -1);
    expect(JSON.parse(bad!).reason).toBe(
      'fingerprint() of the spider gave "bad" for http://a.example/bad; it must give 40 hex digits in lower case',
    );
    await site.close();
  });
});
