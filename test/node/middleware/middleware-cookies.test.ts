/** Cookies on their way through downloader middleware: seen by the modules that Scrapy shows them to, and sent as without modules. */
import { describe, expect, it } from 'vitest';
import type { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import type { DownloaderMiddleware } from '../../../src/node/middleware/downloader-middleware.js';
import { crawlThrough, page } from './chains.js';

const nothing: DownloaderMiddleware = { processRequest: () => undefined };
/** The Cookie header of each request that a site gets. */
const site = () => {
  const sent: (string | undefined)[] = [];
  const routes = {
    '/': page('start'),
    '/login': (response: import('node:http').ServerResponse) =>
      void response.writeHead(200, { 'set-cookie': 'sid=1' }).end('in'),
    '/home': page('home'),
  };
  const noting = Object.fromEntries(
    Object.entries(routes).map(([path, route]) => [
      path,
      (...[response, request]: Parameters<import('./chains.js').Route>) => {
        sent.push(request.headers.cookie);
        return (route as import('./chains.js').Route)(response, request);
      },
    ]),
  );
  return { sent, routes: noting };
};
const login = {
  *parse(response: Response) {
    yield response.follow('/login', 'parseLogin');
  },
  *parseLogin(response: Response) {
    yield response.follow('/home', 'parseHome');
  },
  parseHome: (response: Response) => ({ cookie: response.request.headers.cookie ?? null }),
};

describe('the Cookie header of the jar', () => {
  it('is seen by modules numbered 700 and higher, and by nobody who could store it', async () => {
    const { sent, routes } = site();
    const seen: Record<string, unknown[]> = { 699: [], 700: [], answer: [] };
    const { items } = await crawlThrough({
      routes,
      methods: login as never,
      downloader: {
        699: { processRequest: (request) => void seen[699]!.push(request.headers.cookie) },
        700: {
          processRequest: (request) => void seen[700]!.push(request.headers.Cookie),
          processResponse: (request, response) => {
            seen.answer!.push(request.headers.cookie);
            return response;
          },
        },
      },
    });
    expect(sent).toEqual([undefined, undefined, 'sid=1']);
    expect(seen).toEqual({
      699: [undefined, undefined, undefined],
      700: [undefined, undefined, 'sid=1'],
      answer: [undefined, undefined, undefined],
    });
    expect(items).toEqual([{ cookie: null }]);
  });

  it('may be changed by such a module, and is not stored with a request that it returns', async () => {
    const { sent, routes } = site();
    let isFirst = true;
    const { items } = await crawlThrough({
      routes,
      methods: login as never,
      downloader: {
        800: {
          processRequest: (request): Request | undefined => {
            if (!request.url.endsWith('/home')) return undefined;
            if (isFirst) {
              isFirst = false;
              return request.replace({ meta: { ...request.meta, again: true } });
            }
            request.headers.cookie = `${request.headers.cookie}; extra=${request.meta.again}`;
            return undefined;
          },
        },
      },
      choice: { options: {} },
    });
    expect(sent).toEqual([undefined, undefined, 'sid=1; extra=true']);
    expect(items).toHaveLength(1);
  });

  it('is made of the own cookies of a request once', async () => {
    const { sent, routes } = site();
    await crawlThrough({ routes, start: { cookies: { a: 'b' } }, downloader: { 400: nothing } });
    expect(sent).toEqual(['a=b']);
  });
});

describe('a Cookie of DEFAULT_REQUEST_HEADERS', () => {
  const headers = { DEFAULT_REQUEST_HEADERS: { Cookie: 'default=1' } };
  const downloader = { defaultHeaders: { Cookie: 'default=1' } };

  it.each([
    ['with middleware', { 900: nothing }],
    ['without', undefined],
  ])('is sent where a request has no other cookie, %s', async (_, modules) => {
    const { sent, routes } = site();
    const more = modules === undefined ? {} : { downloader: modules };
    await crawlThrough({ routes, methods: login as never, headers, ...more, choice: { downloader } });
    expect(sent).toEqual(['default=1', 'default=1', 'sid=1']);
  });

  it('is seen by modules numbered 700 and higher', async () => {
    const { sent, routes } = site();
    const seen: unknown[] = [];
    const noting = (request: { headers: Record<string, unknown> }) => void seen.push(request.headers.cookie);
    await crawlThrough({
      ...{ routes, headers },
      downloader: { 500: { processRequest: noting }, 750: { processRequest: noting } },
    });
    expect({ sent, seen }).toEqual({ sent: ['default=1'], seen: [undefined, 'default=1'] });
  });
});

describe('a method that never ends', () => {
  const never = () => new Promise<never>(() => {});
  const limited = { CALLBACK_TIMEOUT: 0.1 };

  it.each(['processRequest', 'processResponse'])('is given up after CALLBACK_TIMEOUT: %s', async (method) => {
    const { failed } = await crawlThrough({
      routes: { '/': page('x') },
      headers: limited,
      downloader: { 300: { [method]: never } },
    });
    expect(failed).toMatchObject([
      {
        reason: 'middleware_error',
        detail: expect.stringMatching(new RegExp(`${method} failed on .*CALLBACK_TIMEOUT`)),
      },
    ]);
  });

  it('is given up after CALLBACK_TIMEOUT: processSpiderInput', async () => {
    const { failed } = await crawlThrough({
      routes: { '/': page('x') },
      headers: limited,
      spider: { 300: { processSpiderInput: never } },
    });
    expect(failed).toMatchObject([{ detail: expect.stringContaining('CALLBACK_TIMEOUT') }]);
  });
});
