/** Conditional requests on recrawls: an unchanged page ends done without its callback, and never hides a link that is due. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Dupefilter } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';
import { crawl, freshStore, nodeOptions } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

interface Asked {
  readonly path: string;
  readonly ifNoneMatch?: string;
  readonly ifModifiedSince?: string;
}

/** A site of `path → { version, links }`, which answers 304 to the ETag or date of the version. */
async function startVersionedSite(pages: Record<string, { version: string; links?: readonly string[] }>) {
  const asked: Asked[] = [];
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    const page = pages[request.url ?? ''];
    if (page === undefined) return false;
    const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = request.headers;
    asked.push({
      path: request.url!,
      ...(ifNoneMatch && { ifNoneMatch }),
      ...(ifModifiedSince && { ifModifiedSince }),
    });
    const etag = `"${page.version}"`;
    const headers = { etag, 'last-modified': `Mon, 0${page.version} Jan 2024 00:00:00 GMT` };
    if (ifNoneMatch === etag) response.writeHead(304, headers).end();
    else {
      const links = (page.links ?? []).map((link) => `<a href="${link}">x</a>`).join('');
      response
        .writeHead(200, { ...headers, 'content-type': 'text/html' })
        .end(`<p>${page.version}</p>${links}`);
    }
    return true;
  };
  const { url } = await startSite({ handler });
  return { origin: new URL(url).origin, asked };
}

function spiderOf(start: string, refresh?: unknown) {
  return class extends Spider {
    override name = 'again';
    override startUrls = [start];
    override refresh = refresh as never;
    override *parse(response: Response) {
      yield { url: response.url, text: response.css('p::text').get() };
      yield* response.followAll(response.links(), this.parse);
    }
  };
}

/** Run the crawl to its end. @returns what was asked for, and the store's counter of unchanged pages. */
async function run(store: OpenOptions, Again: SpiderClass, asked: Asked[], dupefilter?: Dupefilter) {
  asked.length = 0;
  const shape = { ...nodeOptions().shape, ...(dupefilter && { dupefilter }) };
  const { items, failed } = await crawl(store, Again, { options: { shape, concurrency: 1 } });
  const frontier = await openFrontier(store);
  const { counters } = await frontier.snapshot();
  expect(await frontier.verify()).toEqual([]);
  await frontier.close();
  return { items, failed, unchanged: counters['recrawl/not_modified'] ?? 0, asked: [...asked] };
}

test('a page of a refresh rule that has not changed is done without its callback; one that has is crawled', async () => {
  const pages = {
    '/list': { version: '1', links: ['/a'] },
    '/a': { version: '1' },
    '/b': { version: '1' },
  };
  const { origin, asked } = await startVersionedSite(pages);
  const store = await freshStore();
  const Again = spiderOf(`${origin}/list`, [{ allow: /\/list$/ }]);
  expect(await run(store, Again, asked)).toMatchObject({
    items: 2,
    unchanged: 0,
    asked: [{ path: '/list' }, { path: '/a' }],
  });
  const sent = { ifNoneMatch: '"1"', ifModifiedSince: 'Mon, 01 Jan 2024 00:00:00 GMT' };
  expect(await run(store, Again, asked)).toEqual({
    ...{ items: 0, failed: 0, unchanged: 1 },
    asked: [{ path: '/list', ...sent }],
  });
  pages['/list'] = { version: '2', links: ['/a', '/b'] };
  expect(await run(store, Again, asked)).toEqual({
    ...{ items: 2, failed: 0, unchanged: 1 },
    asked: [{ path: '/list', ...sent }, { path: '/b' }],
  });
  // The validators of the new version are sent from now on.
  expect((await run(store, Again, asked)).asked).toMatchObject([{ path: '/list', ifNoneMatch: '"2"' }]);
});

test('a page with a link that comes again is read in full, so that the link is found', async () => {
  const pages = { '/list': { version: '1', links: ['/item'] }, '/item': { version: '1' } };
  const { origin, asked } = await startVersionedSite(pages);
  const store = await freshStore();
  const Again = spiderOf(`${origin}/list`, [{ allow: /./ }]);
  await run(store, Again, asked);
  expect(await run(store, Again, asked)).toEqual({
    ...{ items: 1, failed: 0, unchanged: 1 },
    asked: [{ path: '/list' }, { path: '/item', ifNoneMatch: '"1"', ifModifiedSince: expect.any(String) }],
  });
});

test('a page that refreshes to another one is read in full, so that the other one is found', async () => {
  const asked: Asked[] = [];
  const { url } = await startSite({
    handler: ({ url: path, headers }, response) => {
      asked.push({ path: path!, ...(headers['if-none-match'] && { ifNoneMatch: headers['if-none-match'] }) });
      const head = path === '/moved' ? '<meta http-equiv="refresh" content="0; url=/target">' : '';
      response.writeHead(200, { etag: '"1"', 'content-type': 'text/html' }).end(`${head}<p>x</p>`);
      return true;
    },
  });
  const store = await freshStore();
  const Again = spiderOf(`${url}moved`, [{ allow: /moved$/ }]);
  expect((await run(store, Again, asked)).asked).toEqual([{ path: '/moved' }, { path: '/target' }]);
  expect((await run(store, Again, asked)).asked).toEqual([{ path: '/moved' }]);
});

test('under a TimedRFPDupeFilter pages without links are asked for conditionally', async () => {
  const pages = { '/list': { version: '1', links: ['/item'] }, '/item': { version: '1' } };
  const { origin, asked } = await startVersionedSite(pages);
  const timed: Dupefilter = { class: 'TimedRFPDupeFilter', expireMs: 500 };
  const fresh = await freshStore();
  const store = { ...fresh, shape: { ...fresh.shape, dupefilter: timed } };
  const Again = spiderOf(`${origin}/list`);
  expect((await run(store, Again, asked, timed)).asked).toEqual([{ path: '/list' }, { path: '/item' }]);
  const frontier = await openFrontier(store);
  await waitFor(async () => (await frontier.snapshot()).seen === 0, { what: 'the expiry of both pages' });
  await frontier.close();
  expect(await run(store, Again, asked, timed)).toEqual({
    ...{ items: 1, failed: 0, unchanged: 1 },
    asked: [{ path: '/list' }, { path: '/item', ifNoneMatch: '"1"', ifModifiedSince: expect.any(String) }],
  });
});

test('a page whose callback failed, or that says no-store, leaves nothing behind', async () => {
  let fails = true;
  const asked: Asked[] = [];
  const { url } = await startSite({
    handler: ({ url: path, headers }, response) => {
      asked.push({ path: path!, ...(headers['if-none-match'] && { ifNoneMatch: headers['if-none-match'] }) });
      response.writeHead(200, {
        etag: '"1"',
        ...(path === '/secret' && { 'cache-control': 'private, no-store' }),
      });
      response.end('x');
      return true;
    },
  });
  class Failing extends Spider {
    override name = 'again';
    override refresh = [{ allow: /./ }];
    override startUrls = [`${url}page`, `${url}secret`];
    override *parse(response: Response) {
      if (fails && response.url.endsWith('page')) throw new Error('not today');
      yield { url: response.url };
    }
  }
  const store = await freshStore();
  await run(store, Failing, asked);
  fails = false;
  const second = await run(store, Failing, asked);
  expect(second.asked.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: '/page' },
    { path: '/secret' },
  ]);
  const third = await run(store, Failing, asked);
  expect(third.asked).toContainEqual({ path: '/page', ifNoneMatch: '"1"' });
  expect(third.asked).toContainEqual({ path: '/secret' });
});
