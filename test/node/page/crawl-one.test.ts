/** Each ending of a page, seen from outside: what the site was asked, what the frontier counts and keeps. */
import { createHash } from 'node:crypto';
import type http from 'node:http';
import { describe, expect, it } from 'vitest';
import { noBudgets } from '../../../src/frontier/budgets.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Frontier, Snapshot } from '../../../src/frontier/frontier.js';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import type { Failure } from '../../../src/spider/run-callback.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, type NodeChoice, nodeOptions } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

type Route = (response: http.ServerResponse, request: http.IncomingMessage) => void;

const html =
  (body: string): Route =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(body);
  };
const status =
  (code: number, headers: http.OutgoingHttpHeaders = {}): Route =>
  (response) => {
    response.writeHead(code, headers).end('no page');
  };

interface Outcome {
  /** Method and path of every request, in order. */
  readonly asked: string[];
  readonly snapshot: Snapshot;
  readonly failed: { reason: string; status: number | null; attempts: number; detail: string | null }[];
  /** What the spider noted. */
  readonly notes: unknown[];
}

/** Crawl a site of routes with a spider that starts at `/`, and look at what came of it. */
async function run(
  routes: Record<string, Route>,
  methods: (notes: unknown[]) => Record<string, (argument: never) => unknown>,
  { start = {}, choice = {} }: { start?: ConstructorParameters<typeof Request>[1]; choice?: NodeChoice } = {},
): Promise<Outcome> {
  const asked: string[] = [];
  const site = await startSite({
    pages: 0,
    handler: (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const route = routes[request.url ?? ''];
      if (route === undefined) return false;
      route(response, request);
      return true;
    },
  });
  const open = await freshStore();
  const notes: unknown[] = [];
  class One extends Spider {
    override name = 'one';
    override startUrls = [new Request(`${site.origin}/`, start)];
  }
  Object.assign(One.prototype, methods(notes));
  const result = await crawl(open, One, choice);
  expect(result).toMatchObject({
    reason: expect.stringMatching(/^(finished|closespider_pagecount)$/),
    exitCode: 0,
  });
  await site.close();

  const frontier: Frontier = await openFrontier(open);
  try {
    expect(await frontier.verify()).toEqual([]);
    const list = await frontier.failed.list(null, 100);
    const failed = list.requests.map(({ reason, status, attempts, detail }) => ({
      reason,
      status,
      attempts,
      detail,
    }));
    return { asked, snapshot: await frontier.snapshot(), failed, notes };
  } finally {
    await frontier.close();
  }
}

const follow = () => ({ parse: (response: Response) => response.followAll('a') });

describe('a page that is there', () => {
  it('goes to its callback; items, links and counters are committed and it is done', async () => {
    const { asked, snapshot } = await run(
      { '/': html('<a href=/next>next</a>'), '/next': html('<p>end</p>') },
      () => ({
        *parse(response: Response) {
          yield { url: response.url };
          yield* response.followAll('a');
        },
      }),
    );
    expect(asked).toEqual(['GET /', 'GET /next']);
    expect(snapshot).toMatchObject({ done: 2, failed: 0, items: 2, pending: 0, leased: 0 });
    expect(snapshot.counters).toMatchObject({
      'downloader/request_count': 2,
      'downloader/request_method_count/GET': 2,
      'downloader/response_status_count/200': 2,
      response_received_count: 2,
      item_scraped_count: 2,
    });
  });

  it('counts the depth from the seed, whatever names the callback', async () => {
    const { notes } = await run({ '/': html(''), '/a': html(''), '/b': html('') }, (notes) => ({
      parse: (response: Response) => response.follow('/a', 'second'),
      second: (response: Response) => {
        notes.push(response.request.depth);
        return response.follow('/b', 'third');
      },
      third: (response: Response) => void notes.push(response.request.depth),
    }));
    expect(notes).toEqual([1, 2]);
  });

  it('is fetched with the method, body and meta it was yielded with', async () => {
    const { asked, notes } = await run(
      {
        '/': html(''),
        '/form': (response, request) => {
          request.on('data', (data: Buffer) => response.write(data));
          request.on('end', () => response.end());
        },
      },
      (notes) => ({
        parse: (response: Response) =>
          response.follow('/form', 'filled', { method: 'POST', body: 'a=1', meta: { of: 'me' } }),
        filled: (response: Response) => void notes.push(response.text, response.meta.of),
      }),
    );
    expect(asked).toEqual(['GET /', 'POST /form']);
    expect(notes).toEqual(['a=1', 'me']);
  });
});

describe('spider code that throws', () => {
  it('fails its page, and nothing that the page gave before is committed', async () => {
    const { snapshot, failed } = await run({ '/': html('') }, () => ({
      *parse(response: Response) {
        yield { url: response.url };
        yield response.follow('/never');
        throw new TypeError('no such field');
      },
    }));
    expect(snapshot).toMatchObject({ done: 0, failed: 1, items: 0, accepted: 1 });
    expect(snapshot.counters).toMatchObject({
      'spider_exceptions/TypeError': 1,
      'spider_exceptions/count': 1,
    });
    expect(failed).toEqual([
      {
        reason: 'callback_error',
        status: 200,
        attempts: 1,
        detail: expect.stringContaining('no such field'),
      },
    ]);
  });

  it('fails a page whose item no JSON can hold', async () => {
    const { failed } = await run({ '/': html('') }, () => ({ parse: () => ({ at: new Date() }) }));
    expect(failed).toMatchObject([{ reason: 'invalid_item' }]);
  });

  it('fails a page with more bytes of items than one settle may carry', async () => {
    const { snapshot, failed } = await run({ '/': html('') }, () => ({
      parse: () => Array.from({ length: 10 }, () => ({ text: 'x'.repeat(1_000_000) })),
    }));
    expect(failed).toMatchObject([{ reason: 'too_many_items' }]);
    expect(snapshot.items).toBe(0);
  });
});

describe('a status that is no page', () => {
  it('goes to the errback, whose items and requests are committed, and the page is done', async () => {
    const { asked, snapshot, notes } = await run(
      { '/': status(404), '/instead': html('') },
      (notes) => ({
        *onError(failure: Failure) {
          notes.push(failure.reason, failure.status, failure.response?.text);
          yield { missing: failure.request.url };
          yield new Request(new URL('/instead', failure.request.url));
        },
        parse: () => undefined,
      }),
      { start: { errback: 'onError' } },
    );
    expect(notes).toEqual(['http_status', 404, 'no page']);
    expect(asked).toEqual(['GET /', 'GET /instead']);
    expect(snapshot).toMatchObject({ done: 2, failed: 0, items: 1 });
    expect(snapshot.counters).toMatchObject({
      'httperror/response_ignored_count': 1,
      'httperror/response_ignored_status_count/404': 1,
    });
  });

  it('is a page to a request that handles it', async () => {
    const { notes } = await run(
      { '/': status(404) },
      (notes) => ({ parse: (response: Response) => void notes.push(response.status) }),
      { start: { meta: { handle_httpstatus_list: [404] } } },
    );
    expect(notes).toEqual([404]);
  });

  it('is tried again when it may pass, and then is a page like any other', async () => {
    let left = 2;
    const { asked, snapshot } = await run(
      {
        '/': (response, request) => (left-- > 0 ? status(503) : html('<a href=/next>'))(response, request),
        '/next': html(''),
      },
      follow,
    );
    expect(asked).toEqual(['GET /', 'GET /', 'GET /', 'GET /next']);
    expect(snapshot).toMatchObject({ done: 2, failed: 0 });
    expect(snapshot.counters).toMatchObject({
      'retry/count': 2,
      'retry/reason_count/503 Service Unavailable': 2,
    });
  });

  it('fails after RETRY_TIMES retries, and its errback is told', async () => {
    const { asked, snapshot, failed, notes } = await run(
      { '/': status(500) },
      (notes) => ({ onError: (failure: Failure) => void notes.push(failure.status) }),
      { start: { errback: 'onError' } },
    );
    expect(asked).toHaveLength(3);
    expect(notes).toEqual([500]);
    expect(failed).toMatchObject([{ reason: 'http_status', status: 500, attempts: 3 }]);
    expect(snapshot.counters).toMatchObject({ 'retry/count': 2, 'retry/max_reached': 1 });
  });

  it('is not tried again before Retry-After has passed', async () => {
    const at: number[] = [];
    await run(
      {
        '/': (response, request) => {
          at.push(performance.now());
          (at.length === 1 ? status(429, { 'retry-after': '1' }) : html(''))(response, request);
        },
      },
      follow,
    );
    expect(at).toHaveLength(2);
    expect(at[1]! - at[0]!).toBeGreaterThan(950);
  });
});

describe('a download that fails', () => {
  it.each([
    [
      'RETRY_ENABLED is false',
      { choice: { options: { retry: { ...nodeOptions().retry, enabled: false } } } },
    ],
    ['the request has dont_retry', { start: { meta: { dont_retry: true } } }],
  ])('is not counted among those whose retries are used up because %s', async (_, options) => {
    const { asked, snapshot } = await run({ '/': (response) => void response.destroy() }, follow, options);
    expect(asked).toHaveLength(1);
    expect(snapshot).toMatchObject({ failed: 1 });
    expect(snapshot.counters).not.toHaveProperty('retry/max_reached');
  });

  it('is tried again when that may help, then fails with its reason', async () => {
    const { asked, snapshot, failed } = await run({ '/': (response) => void response.destroy() }, follow);
    expect(asked).toHaveLength(3);
    expect(failed).toMatchObject([{ reason: 'connection_reset', status: null, attempts: 3 }]);
    expect(snapshot.counters).toMatchObject({
      'downloader/exception_count': 3,
      'downloader/exception_type_count/connection_reset': 3,
    });
  });

  it('fails at once when it would fail again', async () => {
    const big = html('x'.repeat(5_000));
    const { asked, failed } = await run({ '/': big }, follow, {
      choice: { downloader: { maxBodyBytes: 1_000 } },
    });
    expect(asked).toHaveLength(1);
    expect(failed).toMatchObject([{ reason: 'too_large', attempts: 1 }]);
  });
});

describe('a redirect', () => {
  it('is a new request; the page that named it is done', async () => {
    const { asked, snapshot, notes } = await run(
      { '/': status(302, { location: '/there' }), '/there': html('') },
      (notes) => ({
        parse: ({ url, request, meta }: Response) => void notes.push(url, request.depth, meta.redirect_urls),
      }),
    );
    expect(asked).toEqual(['GET /', 'GET /there']);
    expect(snapshot).toMatchObject({ done: 2, accepted: 2 });
    expect(notes).toEqual([expect.stringMatching(/\/there$/), 0, [expect.stringMatching(/\/$/)]]);
  });

  it('to a page seen before is not followed', async () => {
    const { asked } = await run({ '/': html('<a href=/b>'), '/b': status(301, { location: '/' }) }, follow);
    expect(asked).toEqual(['GET /', 'GET /b']);
  });

  it('ends where the hops are used up, even where nothing is filtered', async () => {
    const { asked, failed } = await run({ '/': status(302, { location: '/' }) }, follow, {
      start: { dontFilter: true },
      choice: { options: { redirectMaxTimes: 3 } },
    });
    expect(asked).toHaveLength(4);
    expect(failed).toMatchObject([{ reason: 'max_redirects', status: 302 }]);
  });

  it('to something that is no http URL ends in a counter', async () => {
    const { asked, snapshot } = await run({ '/': status(302, { location: 'javascript:alert(1)' }) }, follow);
    expect(asked).toHaveLength(1);
    expect(snapshot).toMatchObject({ done: 1, failed: 0 });
    expect(snapshot.counters['redirect/bad_location']).toBe(1);
  });
});

describe('discovered requests', () => {
  it('beyond DEPTH_LIMIT, URLLENGTH_LIMIT or the allowed domains are counted and left', async () => {
    const links = (options: object) => ({
      choice: {
        options: { links: { depthLimit: 0, depthPriority: 0, urlLengthLimit: 0, ...options } as never },
      },
    });
    const { fingerprint } = await import('../../../src/http/message/fingerprint.js');
    const same = { fingerprint: (request: Request) => fingerprint(request) };
    const site = { '/': html('<a href=/a>'), '/a': html('<a href=/b>'), '/b': html('') };

    const shallow = await run(site, follow, links({ ...same, depthLimit: 1 }));
    expect(shallow.asked).toEqual(['GET /', 'GET /a']);
    expect(shallow.snapshot.counters['request_depth/request_ignored_count']).toBe(1);

    const short = await run(
      { '/': html(`<a href=/${'x'.repeat(200)}>`) },
      follow,
      links({ ...same, urlLengthLimit: 100 }),
    );
    expect(short.asked).toHaveLength(1);
    expect(short.snapshot.counters['urllength/request_ignored_count']).toBe(1);

    const traps = { pathDepth: 3, repeatedSegments: 2 };
    const endless = await run(
      { '/': html('<a href=/a/b/c/d><a href=/a/a/a><a href=/a/a>'), '/a/a': html('') },
      follow,
      links({ ...same, traps }),
    );
    expect(endless.asked).toEqual(['GET /', 'GET /a/a']);
    expect(endless.snapshot.counters).toMatchObject({ 'trap/path_depth': 1, 'trap/repeated_segments': 1 });

    const onsite = await run(
      { '/': html('<a href=http://elsewhere.invalid/><a href=/a>'), '/a': html('') },
      () => ({
        ...follow(),
        ...({ allowedDomains: ['127.0.0.1'] } as object),
      }),
    );
    expect(onsite.asked).toEqual(['GET /', 'GET /a']);
    expect(onsite.snapshot.counters['offsite/filtered']).toBe(1);
  });

  it('whose fingerprint, by the spider itself, is none fail the page and not the node', async () => {
    const { snapshot } = await run({ '/': html('<a href=/a>') }, () => ({
      ...follow(),
      fingerprint: (request: Request) =>
        request.url.endsWith('/a') ? '' : createHash('sha1').update(request.url).digest('hex'),
    }));
    expect(snapshot).toMatchObject({ failed: 1, pending: 0, accepted: 1 });
  });

  it('of a page with very many are all accepted, in order', async () => {
    const many = 4_500;
    const { snapshot, asked } = await run(
      { '/': html('') },
      () => ({
        *parse(response: Response) {
          if (response.request.depth > 0) return;
          for (let n = 0; n < many; n++) yield response.follow(`/page?n=${n}`);
        },
      }),
      { choice: { options: { budgets: { ...noBudgets, maxPages: 6 }, concurrency: 1, exitWhenDone: true } } },
    );
    expect(snapshot.accepted).toBe(many + 1);
    expect(asked.slice(1)).toEqual([0, 1, 2, 3, 4].map((n) => `GET /page?n=${n}`));
  });
});
