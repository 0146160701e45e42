/** A crawl of a small site through middleware of a test, and what came of it. */
import type http from 'node:http';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Snapshot } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { Request } from '../../../src/http/message/request.js';
import { type ChainSettings, DownloaderChain } from '../../../src/node/middleware/downloader-chain.js';
import type { DownloaderMiddleware } from '../../../src/node/middleware/downloader-middleware.js';
import { SpiderChain } from '../../../src/node/middleware/spider-chain.js';
import type { SpiderMiddleware } from '../../../src/node/middleware/spider-middleware.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, type NodeChoice } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

export type Route = (response: http.ServerResponse, request: http.IncomingMessage) => void;

export const page =
  (body: string): Route =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end(body);

export const status =
  (code: number, headers: http.OutgoingHttpHeaders = {}): Route =>
  (response) =>
    void response.writeHead(code, headers).end('no page');

export interface Outcome {
  /** Path of every request that the site got. */
  readonly asked: string[];
  readonly origin: string;
  readonly snapshot: Snapshot;
  readonly items: unknown[];
  readonly failed: { url: string; reason: string; detail: string | null }[];
  readonly deadEnds: readonly { what: string; count: number; example: string }[];
}

export interface Setup {
  readonly routes?: Readonly<Record<string, Route>>;
  readonly start?: ConstructorParameters<typeof Request>[1];
  readonly methods?: Readonly<Record<string, (argument: never) => unknown>>;
  readonly downloader?: Readonly<Record<number, DownloaderMiddleware>>;
  readonly spider?: Readonly<Record<number, SpiderMiddleware>>;
  readonly choice?: NodeChoice;
  /** What is different from the defaults of a test. */
  readonly headers?: Partial<ChainSettings>;
}

/** Crawl from `/` with middleware by number. */
export async function crawlThrough(setup: Setup): Promise<Outcome> {
  const asked: string[] = [];
  const site = await startSite({
    pages: 0,
    handler: (request, response) => {
      asked.push(request.url ?? '');
      const route = setup.routes?.[request.url ?? ''];
      if (route === undefined) return false;
      route(response, request);
      return true;
    },
  });
  const open = await freshStore();
  class One extends Spider {
    override name = 'one';
    override startUrls = [new Request(`${site.origin}/`, setup.start ?? {})];
  }
  Object.assign(One.prototype, setup.methods ?? { parse: () => ({ reached: true }) });
  const headers = {
    ...{ DEFAULT_REQUEST_HEADERS: {}, USER_AGENT: 'crawlnode-test', CALLBACK_TIMEOUT: 300 },
    ...setup.headers,
  };
  const middleware = {
    downloader: setup.downloader ? new DownloaderChain(loaded(setup.downloader), headers) : null,
    spider: setup.spider ? new SpiderChain(loaded(setup.spider), headers.CALLBACK_TIMEOUT * 1_000) : null,
    opening: () => null,
    open: async () => {},
    close: async () => {},
  };
  const result = await crawl(open, One, { ...setup.choice, middleware });
  expect(result).toMatchObject({ exitCode: 0 });
  await site.close();
  const frontier = await openFrontier(open);
  try {
    expect(await frontier.verify()).toEqual([]);
    const { requests } = await frontier.failed.list(null, 100);
    return {
      asked,
      origin: site.origin,
      snapshot: await frontier.snapshot(),
      items: await itemsOf(open),
      failed: requests.map(({ record, reason, detail }) => ({
        ...{ reason, detail },
        url: (JSON.parse(record ?? '{}') as { u: string }).u,
      })),
      deadEnds: result.deadEnds,
    };
  } finally {
    await frontier.close();
  }
}

function loaded<M>(byNumber: Readonly<Record<number, M>>) {
  return Object.entries(byNumber).map(([number, methods]) => ({
    ...{ name: `./middlewares/at-${number}.ts`, methods },
    number: Number(number),
  }));
}

async function itemsOf({ store, keys }: OpenOptions): Promise<unknown[]> {
  if (store.engine !== 'redis' || store.address.kind !== 'standalone' || !store.address.url)
    throw new Error('no Redis');
  const redis = new Redis(store.address.url);
  try {
    return (await redis.lrange(keys.items, 0, -1)).map((text) => JSON.parse(text) as unknown);
  } finally {
    redis.disconnect();
  }
}
