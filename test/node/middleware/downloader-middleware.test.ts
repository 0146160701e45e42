/** What each method of a downloader middleware may return or throw, and what becomes of the page. */
import { describe, expect, it } from 'vitest';
import { IgnoreRequest } from '../../../src/errors.js';
import { noBudgets } from '../../../src/frontier/budgets.js';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';
import type { DownloaderMiddleware } from '../../../src/node/middleware/downloader-middleware.js';
import type { Failure } from '../../../src/spider/run-callback.js';
import { crawlThrough, page, status } from './chains.js';

const html = { 'content-type': 'text/html' };
const made = (request: Request, body: string, code = 200, headers = html) =>
  new Response({ url: request.url, status: code, headers, body: Buffer.from(body), request });

/** Writes down each call, and changes nothing. */
const noting = (calls: string[], name: string): DownloaderMiddleware => ({
  processRequest: () => void calls.push(`request ${name}`),
  processResponse: (_request, response) => {
    calls.push(`response ${name} ${response.status}`);
    return response;
  },
  processException: (_request, error) => void calls.push(`exception ${name} ${error.constructor.name}`),
});
const three = (calls: string[]) => ({
  100: noting(calls, 'low'),
  560: noting(calls, 'middle'),
  900: noting(calls, 'high'),
});

describe('the order', () => {
  it('is by number for requests and the other way for answers', async () => {
    const calls: string[] = [];
    await crawlThrough({ routes: { '/': page('') }, downloader: three(calls) });
    expect(calls).toEqual([
      ...['request low', 'request middle', 'request high'],
      ...['response high 200', 'response middle 200', 'response low 200'],
    ]);
  });

  it('ends at 600 for a redirect, and at 550 for what is retried', async () => {
    const calls: string[] = [];
    let tries = 0;
    const { asked } = await crawlThrough({
      routes: {
        '/': status(302, { location: '/to' }),
        '/to': (response, request) => (tries++ === 0 ? status(503) : page(''))(response, request),
      },
      downloader: three(calls),
    });
    expect(asked).toEqual(['/', '/to', '/to']);
    const answers = calls.filter((call) => call.startsWith('response'));
    expect(answers).toEqual([
      'response high 302',
      ...['response high 503', 'response middle 503'],
      ...['response high 200', 'response middle 200', 'response low 200'],
    ]);
  });

  it('shows modules below 550 the answers and errors that are not retried any more', async () => {
    const calls: string[] = [];
    const { failed } = await crawlThrough({
      routes: { '/': status(503) },
      downloader: three(calls),
      start: { meta: { max_retry_times: 0 } },
    });
    expect(calls.slice(-3)).toEqual(['response high 503', 'response middle 503', 'response low 503']);
    expect(failed).toMatchObject([{ reason: 'http_status' }]);
  });

  it('is that of answers for errors of the download, which retry (550) takes', async () => {
    const calls: string[] = [];
    let tries = 0;
    await crawlThrough({
      routes: {
        '/': (response, request) => (tries++ === 0 ? void response.destroy() : page('')(response, request)),
      },
      downloader: three(calls),
    });
    expect(calls.filter((call) => call.startsWith('exception'))).toEqual([
      ...['exception high DownloadError', 'exception middle DownloadError'],
    ]);
  });
});

describe('processRequest', () => {
  it('changes headers, cookies and meta in place, for this download only', async () => {
    const sent: unknown[] = [];
    const seen: unknown[] = [];
    let tries = 0;
    const { snapshot } = await crawlThrough({
      routes: {
        '/': (response, request) => {
          sent.push([request.headers['x-sign'], request.headers.cookie, request.headers['user-agent']]);
          (tries++ === 0 ? status(503) : page(''))(response, request);
        },
      },
      start: { headers: { 'X-Sign': 'from the spider' }, meta: { list: [1] } },
      methods: { parse: (response: Response) => void seen.push(response.meta) },
      downloader: {
        450: {
          processRequest(request) {
            expect(request.headers['x-SIGN']).toBe('from the spider');
            expect('User-Agent' in request.headers).toBe(false);
            request.headers['x-sign'] = `signed ${tries}`;
            request.cookies = { session: 'one' };
            request.meta.list.push(2);
          },
        },
        501: {
          processRequest: ({ headers }) => {
            expect(headers['User-Agent']).toBe('crawlnode-test');
            delete headers['user-agent'];
            headers['User-Agent'] = 'another';
          },
        },
      },
    });
    expect(sent).toEqual([
      ['signed 0', 'session=one', 'another'],
      ['signed 1', 'session=one', 'another'],
    ]);
    expect(seen).toEqual([{ list: [1, 2] }]);
    expect(snapshot).toMatchObject({ done: 1, failed: 0 });
  });

  it('answers in place of the download: all processResponse run, and no page is counted', async () => {
    const calls: string[] = [];
    const { asked, items, snapshot } = await crawlThrough({
      routes: { '/loaded': page('') },
      methods: {
        *parse(response: Response) {
          yield { body: response.text };
          yield* response.followAll('a');
        },
      },
      downloader: {
        ...three(calls),
        500: {
          processRequest: (request) =>
            request.url.endsWith('/') ? made(request, '<a href=/loaded>') : undefined,
        },
      },
      choice: { options: { budgets: { ...noBudgets, maxPages: 1 } } },
    });
    expect(asked).toEqual(['/loaded']);
    expect(calls.slice(0, 4)).toEqual([
      'request low',
      ...['response high 200', 'response middle 200', 'response low 200'],
    ]);
    expect(items).toEqual([{ body: '<a href=/loaded>' }, { body: '' }]);
    expect(snapshot).toMatchObject({ done: 2, run: { pages: 1 } });
    expect(snapshot.counters).toMatchObject({ 'downloader/request_count': 1, response_received_count: 2 });
  });

  it('gives a redirect and a 503 of its own to redirect and retry', async () => {
    let tries = 0;
    const { asked, snapshot } = await crawlThrough({
      routes: { '/to': page('') },
      downloader: {
        450: {
          processRequest(request) {
            if (request.url.endsWith('/to')) return undefined;
            tries += 1;
            return tries === 1
              ? made(request, '', 503)
              : made(request, '', 302, { ...html, location: '/to' } as never);
          },
        },
      },
    });
    expect(tries).toBe(2);
    expect(asked).toEqual(['/to']);
    expect(snapshot).toMatchObject({ done: 2, failed: 0, run: { pages: 1 } });
  });

  it('returns another request: this one is done, and the other is crawled with its callback', async () => {
    const { asked, items, snapshot } = await crawlThrough({
      routes: { '/print': page('printed') },
      methods: {
        parse: () => [],
        parsePage: (response: Response) => ({ body: response.text, ...response.meta }),
      },
      start: { callback: 'parsePage', meta: { kept: 1 } },
      downloader: {
        450: {
          processRequest: (request) =>
            request.url.endsWith('/') ? request.replace({ url: new URL('/print', request.url) }) : undefined,
        },
      },
    });
    expect(asked).toEqual(['/print']);
    expect(items).toEqual([{ body: 'printed', kept: 1 }]);
    expect(snapshot).toMatchObject({ done: 2, run: { pages: 1 } });
  });

  it('that returns ever another request ends at REDIRECT_MAX_TIMES', async () => {
    const { asked, failed } = await crawlThrough({
      downloader: { 450: { processRequest: (request) => request.replace({ url: `${request.url}x` }) } },
      choice: { options: { maxHops: 3 } },
    });
    expect(asked).toEqual([]);
    expect(failed).toMatchObject([{ reason: 'max_redirects', url: expect.stringMatching(/\/xxx$/) }]);
  });

  it('returns the same request: it is retried with its changes, RETRY_TIMES times', async () => {
    const attempts: unknown[] = [];
    const { asked, failed, snapshot } = await crawlThrough({
      downloader: {
        450: {
          processRequest(request) {
            attempts.push([request.attempts, request.meta.tries]);
            return request.replace({ meta: { tries: (request.meta.tries ?? 0) + 1 } });
          },
        },
      },
    });
    expect(asked).toEqual([]);
    expect(attempts).toEqual([
      [0, undefined],
      [1, 1],
      [2, 2],
    ]);
    expect(failed).toMatchObject([
      { reason: 'middleware_error', detail: expect.stringContaining('return nothing') },
    ]);
    expect(snapshot.counters).toMatchObject({ 'retry/count': 2, 'retry/max_reached': 1 });
    expect(snapshot.run?.pages).toBe(0);
  });

  it('drops a page with IgnoreRequest: its errback is called, and it is done', async () => {
    const failures: Failure[] = [];
    const { asked, snapshot, deadEnds, origin } = await crawlThrough({
      start: { errback: 'lost' },
      methods: { parse: () => [], lost: (failure: Failure) => void failures.push(failure) },
      downloader: {
        450: {
          processRequest: () => {
            throw new IgnoreRequest('a print version');
          },
        },
      },
    });
    expect(asked).toEqual([]);
    expect(failures).toMatchObject([{ reason: 'ignored', status: null, response: null }]);
    expect(failures[0]?.message).toContain('a print version');
    expect(snapshot).toMatchObject({ done: 1, failed: 0, run: { pages: 0 } });
    expect(snapshot.counters['downloader/exception_type_count/IgnoreRequest']).toBe(1);
    expect(deadEnds).toEqual([
      { what: 'dropped by ./middlewares/at-450.ts', unit: 'page', count: 1, example: `${origin}/` },
    ]);
  });

  it('that throws goes through processException, and fails the page when none takes it', async () => {
    const calls: string[] = [];
    const { failed } = await crawlThrough({
      downloader: {
        ...three(calls),
        500: {
          processRequest: async () => {
            throw new RangeError('no token');
          },
        },
      },
    });
    expect(calls).toEqual([
      'request low',
      ...['exception high RangeError', 'exception middle RangeError', 'exception low RangeError'],
    ]);
    expect(failed).toMatchObject([
      {
        reason: 'middleware_error',
        detail: expect.stringMatching(/at-500\.ts: processRequest failed on .*RangeError: no token/),
      },
    ]);
  });

  it('that returns or sets what it must not fails the page, naming itself', async () => {
    const detailOf = async (methods: DownloaderMiddleware) =>
      (await crawlThrough({ routes: { '/': page('') }, downloader: { 450: methods } })).failed[0]?.detail;
    expect(await detailOf({ processRequest: () => 'yes' as never })).toMatch(
      /at-450\.ts: processRequest .*type string; return nothing, a Response or a Request/,
    );
    expect(await detailOf({ processResponse: () => undefined as never })).toMatch(/returned nothing/);
    expect(
      await detailOf({
        processRequest: (request) => {
          request.headers['x-name'] = 'a\nb';
        },
      }),
    ).toContain('headers.x-name has a line break');
  });
});

describe('processResponse', () => {
  it('replaces the response', async () => {
    const { items } = await crawlThrough({
      routes: { '/': page('slow') },
      methods: { parse: (response: Response) => ({ body: response.text }) },
      downloader: { 650: { processResponse: (request) => made(request, 'fast') } },
    });
    expect(items).toEqual([{ body: 'fast' }]);
  });

  it('of a number below 550 may make a callback of what is not retried any more', async () => {
    const { items } = await crawlThrough({
      routes: { '/': status(404) },
      downloader: {
        200: {
          processResponse: (request, response) => (response.status === 404 ? made(request, '') : response),
        },
      },
    });
    expect(items).toEqual([{ reached: true }]);
  });

  it('returns the same request to have it retried, and another to have that crawled', async () => {
    let tries = 0;
    const { asked, snapshot } = await crawlThrough({
      routes: {
        '/': (response, request) => page(tries++ === 0 ? 'blocked' : 'see /b')(response, request),
        '/b': page('end'),
      },
      downloader: {
        543: {
          processResponse(request, response) {
            if (response.text === 'blocked') return request;
            return response.text === 'see /b' ? new Request(response.urljoin('/b')) : response;
          },
        },
      },
    });
    expect(asked).toEqual(['/', '/', '/b']);
    expect(snapshot).toMatchObject({ done: 2, failed: 0, items: 1, run: { pages: 3 } });
  });

  it('retries also where the built-in retry is off', async () => {
    let tries = 0;
    const { asked, items } = await crawlThrough({
      routes: { '/': (response, request) => (tries++ === 0 ? status(503) : page(''))(response, request) },
      downloader: {
        550: { processResponse: (request, response) => (response.status === 503 ? request : response) },
      },
      choice: {
        options: {
          retry: {
            ...{ enabled: false, times: 2, httpCodes: [503], priorityAdjust: -1 },
            ...{ baseMs: 20, capMs: 100, retryAfterCapMs: 1_000 },
          },
        },
      },
    });
    expect(asked).toEqual(['/', '/']);
    expect(items).toEqual([{ reached: true }]);
  });

  it('drops a page with IgnoreRequest, and fails it with any other error', async () => {
    const failures: Failure[] = [];
    const thrown = [new IgnoreRequest('empty'), new TypeError('a bug')];
    for (const error of thrown) {
      const { snapshot } = await crawlThrough({
        routes: { '/': page('') },
        start: { errback: 'lost' },
        methods: { parse: () => [], lost: (failure: Failure) => void failures.push(failure) },
        downloader: {
          450: {
            processResponse: () => {
              throw error;
            },
            processException: () => {
              throw new Error('is not for errors of processResponse');
            },
          },
        },
      });
      expect(snapshot).toMatchObject(error instanceof IgnoreRequest ? { done: 1 } : { failed: 1 });
    }
    expect(failures).toMatchObject([
      { reason: 'ignored', status: 200, response: { status: 200 } },
      { reason: 'middleware_error', status: 200, message: expect.stringContaining('TypeError: a bug') },
    ]);
  });
});

describe('processException', () => {
  const broken = { '/': (response: { destroy(): void }) => void response.destroy() };

  it('answers for the server, and every processResponse sees the answer', async () => {
    const calls: string[] = [];
    const { items } = await crawlThrough({
      routes: broken,
      downloader: { ...three(calls), 700: { processException: (request) => made(request, 'from a copy') } },
      methods: { parse: (response: Response) => ({ body: response.text }) },
    });
    expect(items).toEqual([{ body: 'from a copy' }]);
    expect(calls.slice(3)).toEqual([
      'exception high DownloadError',
      ...['response high 200', 'response middle 200', 'response low 200'],
    ]);
  });

  it('has another request crawled instead', async () => {
    const { asked, snapshot } = await crawlThrough({
      routes: { ...broken, '/mirror': page('') },
      downloader: {
        700: { processException: (request) => request.replace({ url: new URL('/mirror', request.url) }) },
      },
    });
    expect(asked).toEqual(['/', '/mirror']);
    expect(snapshot).toMatchObject({ done: 2, failed: 0 });
  });

  it('below 550 comes when retries are used up', async () => {
    const { asked, items } = await crawlThrough({
      routes: broken,
      downloader: { 300: { processException: (request) => made(request, '') } },
    });
    expect(asked).toEqual(['/', '/', '/']);
    expect(items).toEqual([{ reached: true }]);
  });
});
