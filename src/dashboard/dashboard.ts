/**
 * The server of the dashboard. A request goes through these steps, and each may end it:
 *   Host → shell of the page | session → signed in? → GET: what is read, or a stream → POST: own page, allowed? → a change
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, RefusedError } from '../errors.js';
import { type AccessRules, isKnownHost, isOwnPage, isSignedIn, openSession } from './access.js';
import { type Headers, HttpError, readJson, send, sendJson, statusOf } from './answer.js';
import { type CrawlSource, CrawlViews } from './crawl-views.js';
import { changeRoutes, findRoute, readRoutes } from './routes.js';
import type { Reading } from './shared-reads.js';
import { Streams } from './streams.js';
import { readWebFiles, type WebFile } from './web-files.js';

export interface DashboardOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** What every request must bring, other than for the shell of the page; null for nothing. */
  readonly token: string | null;
  /** Names under which it is asked for, beside IP literals and localhost. */
  readonly hostNames: readonly string[];
  readonly allowActions: boolean;
  /** Serve `/metrics` alone. */
  readonly metricsOnly: boolean;
  readonly version: string;
  /** Find the crawls anew. */
  list(): Promise<readonly CrawlSource[]>;
  /** Masks secrets in messages. */
  mask(text: string): string;
  /** Told of each error that no rule explains. */
  onUnexpected(error: unknown): void;
}

export interface Dashboard {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws CrawlnodeError when it cannot listen; errors of the first reading of the store */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const crawls = new CrawlViews(options.list);
  const server = createServer();
  try {
    // A store that is not there is told at once, as by any other command. Crawls are opened when somebody looks: there may be hundreds.
    await options.list();
    const files = options.metricsOnly ? new Map<string, WebFile>() : await readWebFiles();
    await listen(server, options);
    const { port } = server.address() as AddressInfo;
    const streams = new Streams();
    const answers = new Answers(options, port, crawls, streams, files);
    server.on('request', (request, response) => void answers.answer(request, response));
    return {
      port,
      async close() {
        streams.close();
        server.close();
        server.closeAllConnections();
        await crawls.close();
      },
    };
  } catch (error) {
    server.close();
    await crawls.close();
    throw error;
  }
}

async function listen(server: Server, { host, port }: DashboardOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'EADDRINUSE' ? 'another process listens there: --port takes another one' : error.message;
    throw new RefusedError(`the dashboard cannot listen on ${host}, port ${port}: ${why}`, {
      code: 'cannot_listen',
      cause: error,
    });
  });
}

class Answers {
  readonly #options: DashboardOptions;
  readonly #rules: AccessRules;
  readonly #crawls: CrawlViews;
  readonly #streams: Streams;
  readonly #files: ReadonlyMap<string, WebFile>;

  constructor(
    options: DashboardOptions,
    port: number,
    crawls: CrawlViews,
    streams: Streams,
    files: ReadonlyMap<string, WebFile>,
  ) {
    this.#options = options;
    this.#rules = { token: options.token, port, hostNames: options.hostNames };
    this.#crawls = crawls;
    this.#streams = streams;
    this.#files = files;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response);
    } catch (error) {
      const { status, code } = statusOf(error);
      if (status === 500) this.#options.onUnexpected(error);
      if (response.headersSent) return void response.destroy();
      const message = status === 500 && code === 'unexpected' ? 'an unexpected error' : messageOf(error);
      // A body that was not read would be taken for the next request.
      const headers: Headers = request.complete ? {} : { connection: 'close' };
      sendJson(
        response,
        status,
        JSON.stringify({ error: { code, message: this.#options.mask(message) } }),
        headers,
      );
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    if (!isKnownHost(this.#rules, headers))
      throw new HttpError(421, 'unknown_host', 'this name is not served: --allow-host NAME allows it');
    const target = request.url ?? '';
    if (!target.startsWith('/')) throw new HttpError(400, 'bad_request', 'a path is needed, not a URL');
    const { pathname, searchParams } = new URL(`http://dashboard${target}`);
    const isRead = method === 'GET' || method === 'HEAD';
    const file = isRead ? this.#files.get(pathname) : undefined;
    if (file !== undefined) return sendFile(request, response, file);
    if (pathname === '/api/v1/session') return this.#session(request, response, isRead);
    if (!isSignedIn(this.#rules, headers))
      throw new HttpError(401, 'token', 'send the token: "Authorization: Bearer TOKEN"');
    if (isRead) return this.#read(pathname, searchParams, response);
    return this.#change(request, response, pathname);
  }

  /** Whether one is signed in, and what one may do; or the cookie for a token. */
  async #session(request: IncomingMessage, response: ServerResponse, isRead: boolean): Promise<void> {
    const { allowActions, version } = this.#options;
    if (isRead) {
      const isIn = isSignedIn(this.#rules, request.headers);
      const known = isIn ? { allowActions, version } : {};
      return sendJson(response, 200, JSON.stringify({ signedIn: isIn, ...known }));
    }
    this.#refuseOthers(request);
    const { token } = await readJson(request);
    const cookie = typeof token === 'string' ? openSession(this.#rules, token, request.headers) : null;
    if (cookie === null) throw new HttpError(401, 'token', 'this is not the token');
    sendJson(response, 200, JSON.stringify({ signedIn: true, allowActions, version }), {
      'set-cookie': cookie,
    });
  }

  async #read(pathname: string, query: URLSearchParams, response: ServerResponse): Promise<void> {
    if (pathname === '/metrics')
      return send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await this.#crawls.metrics());
    if (this.#options.metricsOnly) throw notFound();
    if (pathname === '/api/v1/stream' && response.req.method === 'GET')
      return this.#stream(query.get('crawl'), response);
    const route = findRoute(readRoutes, pathname);
    if (route === null) throw notFound();
    const reading = await route.run({ crawls: this.#crawls, path: route.path, query });
    sendJson(response, 200, JSON.stringify(reading.value), ageOf(reading));
  }

  async #stream(crawl: string | null, response: ServerResponse): Promise<void> {
    if (crawl === null) return this.#streams.add(response, 'all', () => this.#crawls.list(), JSON.stringify);
    const { name } = await this.#crawls.find(crawl);
    this.#streams.add(
      response,
      `crawl ${name}`,
      async () => (await this.#crawls.find(name)).stats(),
      JSON.stringify,
    );
  }

  async #change(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    if (request.method !== 'POST') throw new HttpError(405, 'method', 'only GET, HEAD and POST are known');
    const route = this.#options.metricsOnly ? null : findRoute(changeRoutes, pathname);
    if (route === null) throw notFound();
    this.#refuseOthers(request);
    if (!this.#options.allowActions)
      throw new HttpError(
        403,
        'actions',
        'this dashboard only shows: "crawlnode dashboard --allow-actions" allows actions',
      );
    const crawl = await this.#crawls.find(route.path.crawl!);
    const by = `dashboard, ${request.socket.remoteAddress ?? 'unknown'}`;
    const done = await route.run(crawl, await readJson(request), by);
    sendJson(response, 200, crawl.source.mask(JSON.stringify(done)));
  }

  #refuseOthers({ headers }: IncomingMessage): void {
    if (isOwnPage(headers)) return;
    throw new HttpError(
      403,
      'origin',
      'a change needs the Origin of this page, and the header X-Crawlnode-Action',
    );
  }
}

function sendFile(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { type, body, etag }: WebFile,
): void {
  const caching = { etag, 'cache-control': 'no-cache' };
  if (headers['if-none-match'] === etag) response.writeHead(304, caching).end();
  else send(response, 200, type, body, caching);
}

/** A script that polls sees how old its answer is. */
function ageOf({ atMs, failure }: Reading<unknown>): Headers {
  return {
    'x-crawlnode-age-ms': Math.max(0, Date.now() - atMs),
    ...(failure !== null && { 'x-crawlnode-store': 'away' }),
  };
}

function notFound(): HttpError {
  return new HttpError(404, 'not_found', 'there is nothing at this path');
}
