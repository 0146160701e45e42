/** Cookies of pages as a site sees them: every ending of a page keeps them, and what a request says of cookies is obeyed. */
import type http from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, type NodeChoice } from '../../helpers/node.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

/** A page: its status, its Set-Cookie headers, its further headers. */
type Page = readonly [status: number, setCookie?: readonly string[], headers?: http.OutgoingHttpHeaders];

const seen: string[] = [];
let pages: Record<string, readonly Page[]>;
let site: Site;
beforeEach(async () => {
  seen.length = 0;
  site = await startSite({
    pages: 0,
    handler: (request, response) => {
      const path = request.url ?? '';
      const visits = seen.filter((one) => one.startsWith(`${path} `)).length;
      seen.push(`${path} ${request.headers.cookie ?? '-'}`);
      const answers = pages[path] ?? [[200]];
      const [status, setCookie = [], headers = {}] = answers[Math.min(visits, answers.length - 1)]!;
      if (status === 0) request.socket.destroy();
      else
        response
          .writeHead(status, { 'content-type': 'text/html', ...headers, 'set-cookie': [...setCookie] })
          .end('x');
      return true;
    },
  });
});
afterEach(() => site.close());

/** Crawl requests one after the other: each is yielded by the callback or errback of the one before. */
async function visit(
  requests: readonly (readonly [path: string, options?: ConstructorParameters<typeof Request>[1]])[],
  choice: NodeChoice = {},
): Promise<{ seen: string[]; cookies: Awaited<ReturnType<Frontier['cookies']>> }> {
  const requestOf = (n: number): Request[] => {
    const [path, options = {}] = requests[n] ?? [null];
    if (path === null) return [];
    const meta = { ...options.meta, n };
    return [new Request(new URL(path, site.url), { dontFilter: true, errback: 'failed', ...options, meta })];
  };
  class One extends Spider {
    override name = 'one';
    override startUrls = requestOf(0);
    override *parse(response: Response): Generator<Request> {
      yield* requestOf(response.meta.n + 1);
      if (response.meta.fails === true) throw new Error('the callback fails');
    }
    *failed(failure: { request: Request }): Generator<Request> {
      yield* requestOf(failure.request.meta.n + 1);
    }
  }
  const open = await freshStore();
  await crawl(open, One, choice);
  const frontier = await openFrontier(open);
  try {
    expect(await frontier.verify()).toEqual([]);
    return { seen: [...seen], cookies: await frontier.cookies(0) };
  } finally {
    await frontier.close();
  }
}

describe('a cookie that a page sets', () => {
  it('goes with the next requests, also one of a redirect and of an error page', async () => {
    pages = {
      '/login': [[302, ['sid=1; Path=/'], { location: '/home' }]],
      '/home': [[200, ['seen=home']]],
      '/gone': [[404, ['seen=gone']]],
    };
    const { seen } = await visit([['/login'], ['/gone'], ['/last']]);
    expect(seen).toEqual(['/login -', '/home sid=1', '/gone sid=1; seen=home', '/last sid=1; seen=gone']);
  });

  it('is kept by an answer that is tried again, and by one whose callback fails', async () => {
    pages = { '/busy': [[503, ['token=1']], [200]], '/bad': [[200, ['bad=1']]] };
    const first = await visit([['/busy'], ['/last']]);
    expect(first.seen).toEqual(['/busy -', '/busy token=1', '/last token=1']);
    const { cookies } = await visit([['/bad', { meta: { fails: true } }]]);
    expect(cookies?.sets[0]?.cookies).toMatchObject([{ name: 'bad', text: 'h=1' }]);
  });

  it('stays in its jar, and a redirect stays in the jar of its request', async () => {
    pages = { '/login': [[302, ['sid=1'], { location: '/home' }]] };
    const two = { meta: { cookiejar: 2 } };
    const { seen } = await visit([
      ['/login', two],
      ['/a'],
      ['/b', two],
      ['/c', { meta: { cookiejar: 'x' } }],
    ]);
    expect(seen).toEqual(['/login -', '/home sid=1', '/a -', '/b sid=1', '/c -']);
  });

  it('does not go to another host, not even by a redirect', async () => {
    const other = await startSite({
      pages: 1,
      host: '127.0.0.2',
      handler: (request) => void seen.push(`other ${request.headers.cookie ?? '-'}`) === undefined && false,
    });
    pages = { '/login': [[302, ['sid=1'], { location: other.url }]] };
    expect((await visit([['/login', { cookies: { own: '1' } }]])).seen).toEqual(['/login own=1', 'other -']);
    await other.close();
  });

  it('is neither kept nor sent where cookies are off', async () => {
    pages = { '/login': [[200, ['sid=1']]] };
    const choice = {
      options: { cookies: { enabled: false, debug: false, maxHeaderBytes: 8_192, maxJars: 1 } },
    };
    const { seen, cookies } = await visit([['/login', { cookies: { own: '1' } }], ['/last']], choice);
    expect(seen).toEqual(['/login own=1', '/last -']);
    expect(cookies).toBeNull();
  });
});

describe('a request', () => {
  it('puts its own cookies into the jar, also when nothing answers', async () => {
    pages = { '/dead': [[0]] };
    const retry = {
      options: {
        retry: {
          enabled: false,
          times: 0,
          httpCodes: [],
          priorityAdjust: 0,
          baseMs: 1,
          capMs: 1,
          retryAfterCapMs: 1,
        },
      },
    };
    const { seen } = await visit(
      [['/dead', { cookies: { a: '1' } }], ['/b', { cookies: { b: '2' } }], ['/last']],
      retry,
    );
    expect(seen.slice(-2)).toEqual(['/b a=1; b=2', '/last a=1; b=2']);
  });

  it('hands its cookies to a redirect by the jar, so that what the answer sets wins', async () => {
    pages = { '/login': [[302, ['lang=de'], { location: '/home' }]] };
    expect((await visit([['/login', { cookies: { lang: 'en' } }]])).seen).toEqual([
      '/login lang=en',
      '/home lang=de',
    ]);
  });

  it('with dont_merge_cookies sends its own cookies alone, and changes no jar', async () => {
    pages = { '/alone': [[200, ['sid=2']]], '/login': [[200, ['sid=1']]] };
    const alone = { cookies: { own: '1' }, meta: { dont_merge_cookies: true } };
    expect((await visit([['/login'], ['/alone', alone], ['/last']])).seen).toEqual([
      '/login -',
      '/alone own=1',
      '/last sid=1',
    ]);
  });

  it('with a Cookie header of its own sends that alone; what is set is kept', async () => {
    pages = { '/login': [[200, ['sid=1']]], '/byhand': [[200, ['more=1']]] };
    const { seen } = await visit([['/login'], ['/byhand', { headers: { cookie: 'mine=1' } }], ['/last']]);
    expect(seen).toEqual(['/login -', '/byhand mine=1', '/last sid=1; more=1']);
  });

  it('is left out where the header would be longer than COOKIES_MAX_HEADER', async () => {
    pages = { '/login': [[200, ['sid=1', `big=${'x'.repeat(4_000)}`, 'lang=en']]] };
    const choice = { options: { cookies: { enabled: true, debug: false, maxHeaderBytes: 100, maxJars: 1 } } };
    const { seen } = await visit([['/login'], ['/last']], choice);
    expect(seen).toEqual(['/login -', '/last sid=1; lang=en']);
  });

  it('goes before a Cookie header of the settings', async () => {
    pages = { '/login': [[200, ['sid=1']]] };
    const { seen } = await visit([['/login'], ['/last']], {
      downloader: { defaultHeaders: { cookie: 'default=1' } },
    });
    expect(seen).toEqual(['/login default=1', '/last sid=1']);
  });
});
