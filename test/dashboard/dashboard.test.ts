/** The server of the dashboard, over real HTTP: who may ask, what is answered, and what happens while the store is away. */

import { rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrawlSource } from '../../src/dashboard/crawl-views.js';
import { type Dashboard, type DashboardOptions, startDashboard } from '../../src/dashboard/dashboard.js';
import { loadSettings } from '../../src/settings/sources/load-settings.js';
import { Spider } from '../../src/spider/spider.js';
import { type ShownCrawl, showCrawl } from '../helpers/dashboard/shown-crawl.js';
import { type RedisServer, startRedis } from '../helpers/redis/redis-server.js';
import { own } from '../helpers/resources.js';
import { tempDir } from '../helpers/temp-dir.js';
import { waitFor } from '../helpers/wait-for.js';

const TOKEN = 'correct-horse-battery-staple';
const hostile = '"><script>alert(1)</script>';

class Shop extends Spider {
  override name = 'shop';
  override parse() {}
}

let redis: RedisServer;
let crawl: ShownCrawl;
let open: Dashboard;
let guarded: Dashboard;

function sourceIn(cli: Record<string, string>): CrawlSource {
  const { settings } = loadSettings({ cwd: tmpdir(), file: false, env: {}, cli });
  return {
    ...{ spider: 'shop', job: null, settings, mask: (text) => text.replaceAll('hunter2', '***') },
    createSpider: async () => new Shop(),
  };
}

async function start(more: Partial<DashboardOptions> = {}): Promise<Dashboard> {
  const shop = sourceIn({ REDIS_URL: redis.url, METRICS_DOMAINS: '2' });
  const empty: CrawlSource = { ...shop, spider: 'unbegun', createSpider: null };
  const dashboard = await startDashboard({
    ...{ host: '127.0.0.1', port: 0, token: null, hostNames: [], allowActions: true, metricsOnly: false },
    ...{ version: '1.2.3', list: async () => [shop, empty], mask: (text: string) => text },
    onUnexpected: (error) => {
      throw error;
    },
    ...more,
  });
  own({ name: 'a dashboard', close: () => dashboard.close() });
  return dashboard;
}

beforeAll(async () => {
  redis = await startRedis();
  const failing = ['x.example', 'www.x.example', 'x.example:8080'].map((host) => ({
    ...{ url: `http://${host}/?${encodeURI(hostile)}`, detail: `hunter2 ${hostile}` },
  }));
  crawl = await showCrawl(redis.url, 'shop', { failing });
  open = await start();
  guarded = await start({ token: TOKEN, hostNames: ['crawls.example.com'], allowActions: false });
});

afterAll(async () => {
  await open.close();
  await guarded.close();
  await crawl.close();
  await redis.stop();
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the test expects
  json(): any;
}

/** `fetch` cannot send Host or Origin. */
function ask(
  { port }: Dashboard,
  path: string,
  headers: Record<string, string> = {},
  body?: object | string,
): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST';
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, path, method, headers: { ...type, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, text, json: () => JSON.parse(text) });
      });
    });
    request.on('error', reject);
    request.end(typeof body === 'object' ? JSON.stringify(body) : body);
  });
}

const ownPage = ({ port }: Dashboard) => ({
  origin: `http://127.0.0.1:${port}`,
  'x-crawlnode-action': '1',
  host: `127.0.0.1:${port}`,
});
const bearer = { authorization: `Bearer ${TOKEN}` };

describe('who asks', () => {
  it('names an address, localhost or an allowed name: a foreign Host is refused, whatever it asks for', async () => {
    const statuses = async (host: string) => {
      const paths = ['/', '/api/v1/session', '/api/v1/crawls', '/metrics'];
      return Promise.all(paths.map(async (path) => (await ask(guarded, path, { ...bearer, host })).status));
    };
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'a@localhost'])
      expect(await statuses(host), host).toEqual([421, 421, 421, 421]);
    for (const host of ['localhost', '127.0.0.1:9411', '[::1]:9411', '10.1.2.3', 'Crawls.example.com:80'])
      expect(await statuses(host), host).toEqual([200, 200, 200, 200]);
  });

  it('sees without a token only the shell of the page and whether one is needed', async () => {
    for (const path of ['/', '/app.js', '/app.css', '/favicon.svg'])
      expect((await ask(guarded, path)).status).toBe(200);
    expect((await ask(guarded, '/api/v1/session')).json()).toEqual({ signedIn: false });
    for (const path of ['/api/v1/crawls', '/api/v1/stream', '/api/v1/nothing', '/metrics']) {
      expect((await ask(guarded, path)).status, path).toBe(401);
      expect((await ask(guarded, path, { authorization: 'Bearer wrong' })).status, path).toBe(401);
      expect((await ask(guarded, `${path}?token=${TOKEN}`)).status, path).toBe(401);
    }
    expect((await ask(guarded, '/api/v1/crawls', bearer)).status).toBe(200);
  });

  it('trades the token for a cookie that scripts cannot read; another cookie, or one that was changed, is none', async () => {
    expect((await ask(guarded, '/api/v1/session', ownPage(guarded), { token: 'wrong' })).status).toBe(401);
    const { status, headers } = await ask(guarded, '/api/v1/session', ownPage(guarded), { token: TOKEN });
    expect(status).toBe(200);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).toMatch(new RegExp(`^crawlnode_${guarded.port}=.*; HttpOnly; SameSite=Strict$`));
    expect(cookie).not.toContain(TOKEN);
    const pair = cookie.split(';')[0]!;
    const withCookie = async (text: string) =>
      (await ask(guarded, '/api/v1/crawls', { cookie: text })).status;
    expect(await withCookie(`other=1; ${pair}`)).toBe(200);
    const [name, value] = pair.split('=') as [string, string];
    const later = value.replace(/^\d+/, (ms) => String(Number(ms) + 1));
    expect(await withCookie(`${name}=${later}`)).toBe(401);
    expect(await withCookie(`crawlnode_1=${value}`)).toBe(401);
  });

  it('changes something only from our own page, and where actions are allowed', async () => {
    const pause = (dashboard: Dashboard, headers: Record<string, string>) =>
      ask(dashboard, '/api/v1/crawls/shop/pause', headers, {});
    const { origin, ...withoutOrigin } = ownPage(open);
    const { 'x-crawlnode-action': _, ...withoutHeader } = ownPage(open);
    for (const headers of [
      withoutOrigin,
      withoutHeader,
      { ...ownPage(open), origin: 'http://evil.example' },
      { ...ownPage(open), origin: 'null' },
      { ...ownPage(open), origin: `${origin}.evil.example` },
    ])
      expect(await pause(open, headers)).toMatchObject({ status: 403 });
    expect((await pause(guarded, { ...ownPage(guarded), ...bearer })).json().error.code).toBe('actions');
    expect((await ask(open, '/api/v1/crawls')).json()[0].control).toBe('running');
    expect((await ask(open, '/api/v1/crawls', { origin: 'http://evil.example' })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });

  it('gets a page that loads nothing from elsewhere and is not framed', async () => {
    for (const path of ['/', '/api/v1/crawls']) {
      const { headers } = await ask(open, path);
      expect(headers['content-security-policy']).toMatch(/^default-src 'self'; .*frame-ancestors 'none'/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
    const { headers } = await ask(open, '/app.js');
    expect((await ask(open, '/app.js', { 'if-none-match': headers.etag! })).status).toBe(304);
  });
});

describe('the API', () => {
  const get = async (path: string) => {
    const answer = await ask(open, `/api/v1/crawls${path}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.json();
  };

  it('shows all crawls, and one as "stats --json" does', async () => {
    expect((await get('')).map(({ spider, state }: Record<string, unknown>) => [spider, state])).toEqual([
      ['shop', 'running'],
      ['unbegun', 'not_begun'],
    ]);
    expect(await get('/shop')).toMatchObject({
      spider: 'shop',
      failed: 39,
      limitedBy: 'nodes',
      wantedNodes: 5,
    });
    expect(await get('/shop/nodes')).toMatchObject({
      nodes: [{}, {}, {}],
      deadNodes: [{ id: 'node-d', requests: 8 }],
    });
    expect(await get('/shop/scale')).toMatchObject({ wantedNodes: 5, nodes: 3, limitedBy: 'nodes' });
    expect((await ask(open, '/api/v1/crawls/nothing')).status).toBe(404);
    expect((await ask(open, '/api/v1/crawls/%zz')).status).toBe(400);
    expect((await ask(open, '/api/v2')).status).toBe(404);
    expect((await ask(open, '//')).status).toBe(404);
    expect((await ask(open, 'http://[')).status).toBe(400);
  });

  it('shows domains in an order, a page at a time', async () => {
    const { domains, next } = await get('/shop/domains?sort=slow&limit=2');
    expect(domains.map(({ domain }: Record<string, unknown>) => domain)).toEqual([
      'archive.example.org',
      'shop.example.com',
    ]);
    const rest = await get(`/shop/domains?sort=slow&limit=500&after=${next}`);
    expect(rest).toMatchObject({ domains: [{}, {}, {}, {}], next: null });
    const { error } = (await ask(open, '/api/v1/crawls/shop/domains?sort=best')).json();
    expect(error.message).toMatch(/sort is one of pending/);
  });

  it('shows the history of a time in steps, and the events after one', async () => {
    const points = await get('/shop/history?step=600');
    expect(points.length).toBeGreaterThanOrEqual(6);
    expect(points.length).toBeLessThanOrEqual(8);
    const events = await get('/shop/events');
    expect(events.map(({ kind }: Record<string, unknown>) => kind)).toEqual(
      expect.arrayContaining(['node_joined', 'node_died', 'paused']),
    );
    expect(await get(`/shop/events?after=${events.at(-2).number}`)).toEqual([events.at(-1)]);
    for (const query of ['from=yesterday', 'step=0'])
      expect((await ask(open, `/api/v1/crawls/shop/history?${query}`)).status).toBe(400);
    expect((await get('/shop/history?from=1970-01-01&step=600')).length).toBeGreaterThanOrEqual(6);
  });

  it('groups failed requests, lists those of a group, and masks secrets; their headers are never shown', async () => {
    const { total, groups } = await get('/shop/failed/summary');
    expect(total).toBe(39);
    expect(groups[0]).toMatchObject({
      reason: 'http_status',
      status: 503,
      domain: 'api.example.io',
      count: 24,
    });
    const { found, next } = await get('/shop/failed?reason=callback_error&domain=x.example');
    expect(next).toBeNull();
    expect(found).toHaveLength(3);
    expect(found[0]).toMatchObject({ detail: `*** ${hostile}` });
    expect(Object.keys(found[0])).not.toContain('headers');
    const first = await get('/shop/failed?limit=20');
    const second = await get(`/shop/failed?limit=20&after=${encodeURIComponent(first.next)}`);
    expect([first.found.length, second.found.length, second.next]).toEqual([20, 19, null]);
    expect((await ask(open, '/api/v1/crawls/shop/failed?status=teapot')).status).toBe(400);
    for (const list of ['failed', 'seeds'])
      for (const after of ['zzz', '1e999', '-1'])
        expect((await ask(open, `/api/v1/crawls/shop/${list}?after=${after}`)).status, after).toBe(400);
  });

  it('gives Prometheus the metrics of all crawls; with --metrics-only nothing else', async () => {
    const { text } = await ask(guarded, '/metrics', bearer);
    expect(text).toContain('crawlnode_crawl_requests{crawl="shop",state="failed"} 39');
    expect(text.match(/^crawlnode_crawl_domain_requests\{crawl="shop",domain="[^"]+"\} \d+$/gm)).toHaveLength(
      2,
    );
    const only = await start({ metricsOnly: true });
    expect((await ask(only, '/metrics')).text).toContain('crawlnode_store_up 1');
    for (const path of ['/', '/api/v1/crawls', '/api/v1/stream'])
      expect((await ask(only, path)).status).toBe(404);
    expect((await ask(only, '/api/v1/crawls/shop/pause', ownPage(only), {})).status).toBe(404);
  });
});

describe('the start', () => {
  it('does not wait for crawls to be opened, which takes seconds where there are hundreds', async () => {
    const unreachable = sourceIn({ REDIS_URL: 'redis://127.0.0.1:1' });
    const dashboard = await start({ list: async () => [unreachable] });
    expect((await ask(dashboard, '/api/v1/session')).status).toBe(200);
  });
});

describe('an action', () => {
  const act = async (action: string, body: object) =>
    ask(open, `/api/v1/crawls/shop/${action}`, ownPage(open), body);

  it('pauses and resumes, and the events say who did', async () => {
    expect((await act('pause', {})).json()).toEqual({ spider: 'shop', control: 'paused', nodes: 3 });
    expect((await ask(open, '/api/v1/crawls/shop')).json().state).toBe('paused');
    expect((await act('resume', {})).json()).toMatchObject({ control: 'running' });
    const events = (await ask(open, '/api/v1/crawls/shop/events')).json();
    expect(events.at(-1)).toMatchObject({ kind: 'resumed', by: 'dashboard, 127.0.0.1' });
  });

  it('seeds, and says which seeds are bad; without the spider it cannot', async () => {
    const seeds = ['https://shop.example.com/new', 'ftp://nowhere', ''];
    const seeded = (await act('seed', { seeds })).json();
    expect(seeded).toMatchObject({
      accepted: 1,
      duplicates: 0,
      bad: 1,
      badSeeds: [{ seed: 'ftp://nowhere' }],
    });
    expect((await act('seed', { seeds: 'https://a.example/' })).status).toBe(400);
    const other = await ask(open, '/api/v1/crawls/unbegun/seed', ownPage(open), { seeds });
    expect(other.json().error.code).toBe('spider');
  });

  it('retries and purges what a filter selects', async () => {
    expect((await act('failed/retry', { reason: 'timeout' })).json()).toMatchObject({
      retried: 9,
      withoutRecord: 0,
    });
    expect((await act('failed/purge', { domain: 'api.example.io' })).json()).toMatchObject({ purged: 24 });
    expect((await ask(open, '/api/v1/crawls/shop')).json().failed).toBe(6);
  });

  it('is for one group of the summary alone, whatever failed on subdomains and with other statuses', async () => {
    const group = { reason: 'callback_error', status: 200, domain: 'x.example' };
    for (const [more, purged] of [
      [{ status: null }, 0],
      [{ domain: 'example' }, 0],
      [{}, 1],
    ] as const) {
      const answer = await act('failed/purge', { group: { ...group, ...more } });
      expect(answer.json()).toMatchObject({ purged });
    }
    expect((await ask(open, '/api/v1/crawls/shop')).json().failed).toBe(5);
  });

  it('is refused with a body that is no JSON object, too large, or a filter that is none', async () => {
    const url = '/api/v1/crawls/shop/failed/purge';
    expect((await ask(open, url, ownPage(open), '[]')).status).toBe(400);
    expect((await ask(open, url, ownPage(open), `"${'x'.repeat(1_000_001)}"`)).status).toBe(413);
    expect((await ask(open, url, { ...ownPage(open), 'content-type': 'text/plain' }, '{}')).status).toBe(415);
    expect((await act('failed/purge', { reason: 'nonsense' })).status).toBe(400);
    expect((await ask(open, '/api/v1/crawls/unbegun/pause', ownPage(open), {})).status).toBe(409);
    for (const body of [{ status: 200 }, { reason: ['timeout'] }, { reasn: 'timeout' }, { group: 1 }])
      for (const action of ['failed/retry', 'failed/purge'])
        expect((await act(action, body)).status, JSON.stringify(body)).toBe(400);
    expect((await ask(open, '/api/v1/crawls/shop')).json().failed).toBe(5);
  });
});

describe('the stream', () => {
  it('is no answer to a HEAD, which would never end', async () => {
    const response = await fetch(`http://127.0.0.1:${open.port}/api/v1/stream`, { method: 'HEAD' });
    expect(response.status).toBe(404);
  });

  it('of all crawls tells what has changed in one of them while the list of crawls is older', async () => {
    let release = () => {};
    const shop = sourceIn({ REDIS_URL: redis.url });
    const later = new Promise<CrawlSource[]>((resolve) => {
      release = () => resolve([shop]);
    });
    let calls = 0;
    const dashboard = await start({
      async list() {
        calls += 1;
        // At the start, and for the first viewer.
        return calls > 2 ? later : [shop];
      },
    });
    const events = await listen(dashboard, '/api/v1/stream');
    const done = () => events.news().at(-1)?.value.crawls[0].done;
    await waitFor(async () => events.news().length > 0, { what: 'the first news' });
    await waitFor(() => events.isAway() === true, { what: 'a list that is not read again' });
    const before = done();
    await crawl.pageDone();
    await waitFor(() => done() === before + 1, { what: 'a page that is done' });
    events.close();
    release();
  });

  it('tells all viewers what has changed, and when the store is away and back; last data stay with their age', async () => {
    const events = await listen(open, '/api/v1/stream?crawl=shop');
    const other = await listen(open, '/api/v1/stream?crawl=shop');
    const done = () => events.news().at(-1)?.value.done;
    const before = await waitFor(done, { what: 'the first news' }).catch(() => 0);
    await crawl.pageDone();
    await waitFor(() => done() === before + 1, { what: 'a page that is done' });
    redis.pause();
    try {
      await waitFor(() => events.isAway() === true, { what: 'a store that is away' });
      const late = await ask(open, '/api/v1/crawls/shop');
      expect(late).toMatchObject({ status: 200, headers: { 'x-crawlnode-store': 'away' } });
      expect(Number(late.headers['x-crawlnode-age-ms'])).toBeGreaterThan(0);
      expect((await ask(open, '/metrics')).text).toContain('crawlnode_store_up 0');
    } finally {
      redis.resume();
    }
    await waitFor(() => events.isAway() === false, { what: 'the store again' });
    expect(other.news().at(-1)).toEqual(events.news().at(-1));
    events.close();
    other.close();
  });
});

describe('an embedded store', () => {
  it('that was deleted is empty; one that is made anew is shown and used, without a restart', async () => {
    const jobdir = tempDir('dashboard');
    const shop = sourceIn({ JOBDIR: jobdir.dir });
    const dashboard = await start({ list: async () => [shop] });
    const seed = (name: string) =>
      ask(dashboard, '/api/v1/crawls/shop/seed', ownPage(dashboard), {
        seeds: [`https://${name}.example/`, `https://${name}.example/2`],
      });
    const pending = async () => (await ask(dashboard, '/api/v1/crawls/shop')).json().pending;
    expect((await seed('a')).json()).toMatchObject({ accepted: 2 });
    expect(await pending()).toBe(2);
    await rm(jobdir.dir, { recursive: true });
    await waitFor(async () => (await pending()) === 0, { what: 'the store that is gone' });
    expect((await seed('b')).json()).toMatchObject({ accepted: 2 });
    expect(await pending()).toBe(2);
    await rm(jobdir.dir, { recursive: true });
    expect((await seed('c')).json()).toMatchObject({ accepted: 2 });
    expect((await ask(dashboard, '/metrics')).text).toContain(
      'crawlnode_crawl_requests{crawl="shop",state="pending"} 2',
    );
  });
});

/** Listen to server-sent events. */
async function listen({ port }: Dashboard, path: string) {
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: abort.signal });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  void (async () => {
    for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
  })().catch(() => {});
  const all = (name: string) =>
    [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)]
      .filter(([, kind]) => kind === name)
      .map(([, , data]) => JSON.parse(data!));
  return {
    news: () => all('news'),
    isAway: () => all('store').at(-1)?.away as boolean | undefined,
    close: () => abort.abort(),
  };
}
