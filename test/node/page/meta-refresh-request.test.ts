/** A page that refreshes to another one is followed like a redirect. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';
import { refreshTarget } from '../../../src/node/page/meta-refresh-request.js';
import { Spider } from '../../../src/spider/spider.js';
import { freshStore, type NodeChoice, startNode } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

const options = { maxDelayS: 100, ignoreTags: ['noscript'] };
const url = 'https://a.example/page';
const meta = (content: string) => `<html><meta http-equiv="refresh" content="${content}"></html>`;
const target = (
  html: string | Buffer,
  { type = 'text/html', method = 'GET', own = {} }: { type?: string; method?: string; own?: object } = {},
) => {
  const request = new Request(url, { method, meta: { ...own } });
  const body = Buffer.from(html);
  const response = new Response({ url, status: 200, headers: { 'content-type': type }, body, request });
  return refreshTarget(response, { method, meta: { ...own } }, options);
};

test.each([
  ['0; url=/next', 'https://a.example/next'],
  ['5;URL=http://b.example/', 'http://b.example/'],
  ['99.5; url=next', 'https://a.example/next'],
  ['100; url=/next', null],
  ['0; url=javascript:alert(1)', null],
  ['0; url=ftp://a.example/', null],
  ['30', null],
  ['30; url=/page', null],
  ['30; url=/page#top', null],
])('content="%s" leads to %s', (content, expected) => expect(target(meta(content))).toBe(expected));

test('a page in UTF-16 is read too', () => {
  const body = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(meta('0; url=/next'), 'utf16le')]);
  expect(target(body)).toBe('https://a.example/next');
});

test('none is followed in noscript, in a comment, in what is not HTML, for HEAD, with dont_redirect, or when it is off', () => {
  const page = meta('0; url=/next');
  expect(target(`<noscript>${page}</noscript>`)).toBeNull();
  expect(target(`<!-- ${page} -->`)).toBeNull();
  expect(target(page, { type: 'text/plain' })).toBeNull();
  expect(target(page, { method: 'HEAD' })).toBeNull();
  expect(target(page, { own: { dont_redirect: true } })).toBeNull();
  const request = new Request(url);
  const response = new Response({ url, status: 200, headers: {}, body: Buffer.from(page), request });
  expect(refreshTarget(response, request, null)).toBeNull();
  expect(refreshTarget(response, request, { ...options, ignoreTags: [] })).toBe('https://a.example/next');
  const inNoscript = new Response({
    ...response,
    headers: {},
    body: Buffer.from(`<noscript>${page}</noscript>`),
  });
  expect(refreshTarget(inNoscript, request, { ...options, ignoreTags: [] })).toBe('https://a.example/next');
});

describe('a crawl', () => {
  async function crawl(pages: Record<string, string>, choice: NodeChoice = {}) {
    const asked: string[] = [];
    const site = await startSite({
      handler: (request: IncomingMessage, response: ServerResponse) => {
        asked.push(`${request.method} ${request.url}`);
        response.setHeader('content-type', 'text/html');
        response.end(pages[request.url ?? ''] ?? 'the end');
        return true;
      },
    });
    const seen: unknown[] = [];
    class Pages extends Spider {
      override name = 'pages';
      override startUrls = [new Request(site.url, { method: 'POST', body: 'x', dontFilter: true })];
      override parse(response: Response) {
        seen.push([new URL(response.url).pathname, response.meta.redirect_urls?.length ?? 0]);
      }
    }
    const { result } = await startNode(await freshStore(), Pages, choice);
    return { asked, seen, result: await result };
  }

  it('follows it with GET, and the callback gets the last page alone', async () => {
    const { asked, seen } = await crawl({ '/': meta('0; url=/a'), '/a': meta('1; url=/b') });
    expect(asked).toEqual(['POST /', 'GET /a', 'GET /b']);
    expect(seen).toEqual([['/b', 2]]);
  });

  it('counts it for REDIRECT_MAX_TIMES', async () => {
    const { asked, seen, result } = await crawl(
      { '/': meta('0; url=/a'), '/a': meta('0; url=/b') },
      { options: { redirectMaxTimes: null, maxHops: 1 } },
    );
    expect(asked).toEqual(['POST /', 'GET /a']);
    expect(seen).toEqual([]);
    expect(result.failed).toBe(1);
  });

  it('hands the page over with METAREFRESH_ENABLED false', async () => {
    const { asked, seen } = await crawl({ '/': meta('0; url=/a') }, { options: { metaRefresh: null } });
    expect(asked).toEqual(['POST /']);
    expect(seen).toEqual([['/', 0]]);
  });
});
