/** The credentials of a spider go to its domain alone, and are never stored. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { httpAuthOf } from '../../src/downloader/http-auth.js';
import { Request } from '../../src/http/message/request.js';
import type { Response } from '../../src/http/message/response.js';
import { Spider } from '../../src/spider/spider.js';
import { freshStore, startNode } from '../helpers/node.js';
import { startSite } from '../helpers/sites/site.js';

const spider = { httpUser: 'me', httpPass: 's3cret', httpAuthDomain: 'Example.com' };
const basic = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;
const sentTo = (url: string, members: Parameters<typeof httpAuthOf>[0] = spider, headers = {}) =>
  httpAuthOf(members)(new Request(url, { headers })).headers;

test.each([
  'https://example.com/',
  'https://example.com:443/',
  'http://a.b.EXAMPLE.com/x',
  'https://u:p@example.com/',
])('are sent to %s', (url) => expect(sentTo(url)).toEqual({ Authorization: basic }));

test.each([
  'https://example.org/',
  'https://notexample.com/',
  'https://example.com.evil.net/',
  'https://example.com@evil.net/',
  'https://evil.net/?example.com',
  'https://example.com:8443/',
])('are not sent to %s', (url) => expect(sentTo(url)).toEqual({}));

test('go to one port where the domain names it', () => {
  const members = { ...spider, httpAuthDomain: 'example.com:8443' };
  expect(sentTo('https://example.com:8443/', members)).toEqual({ Authorization: basic });
  expect(sentTo('https://example.com/', members)).toEqual({});
});

test('go everywhere with the domain null, and nowhere without a user', () => {
  expect(sentTo('https://any.org/', { ...spider, httpAuthDomain: null })).toEqual({ Authorization: basic });
  expect(sentTo('https://example.com/', { httpAuthDomain: 'example.com' })).toEqual({});
});

test('leave an Authorization header of the request alone', () => {
  expect(sentTo('https://example.com/', spider, { authorization: 'Bearer x' })).toEqual({
    authorization: 'Bearer x',
  });
});

test('follow a redirect within the domain, and none to another; the spider never sees them', async () => {
  const echo = (request: IncomingMessage, response: ServerResponse) => {
    response.end(JSON.stringify({ at: request.url, authorization: request.headers.authorization }));
    return true;
  };
  const { url: elsewhere } = await startSite({ handler: echo });
  const { url: home } = await startSite({
    handler: (request, response) => {
      const location = { '/near': '/landed', '/away': `${elsewhere}landed` }[request.url ?? ''];
      if (location === undefined) return echo(request, response);
      response.writeHead(302, { location }).end();
      return true;
    },
  });
  const seen: unknown[] = [];
  class Private extends Spider {
    override name = 'private';
    override httpUser = 'me';
    override httpPass = 's3cret';
    override httpAuthDomain = new URL(home).host;
    override startUrls = [`${home}page`, `${home}near`, `${home}away`];
    override parse(response: Response) {
      seen.push({ ...(response.json() as object), from: response.url, headers: response.request.headers });
    }
  }
  const { result } = await startNode(await freshStore(), Private);
  await result;
  const answer = (site: string, at: string, authorization?: string) =>
    expect.objectContaining({
      at,
      from: `${site}${at.slice(1)}`,
      headers: {},
      ...(authorization && { authorization }),
    });
  expect(seen).toHaveLength(3);
  expect(seen).toContainEqual(answer(home, '/page', basic));
  expect(seen).toContainEqual(answer(home, '/landed', basic));
  const landed = seen.find((page) => (page as { from: string }).from.startsWith(elsewhere));
  expect(landed).not.toHaveProperty('authorization');
});
