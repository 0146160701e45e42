/** What each status and each failure of a download means for its page. */
import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../src/http/message/record/request-record.js';
import {
  askedPause,
  beginWithinMs,
  judgeFailure,
  judgeStatus,
} from '../../../src/node/page/judge-download.js';
import { redirected } from '../../../src/node/page/redirected-request.js';
import { nodeOptions } from '../../helpers/node.js';

const options = nodeOptions({ allowedStatuses: [410], redirectMaxTimes: 20 });

function record(some: Partial<RequestRecord> = {}): RequestRecord {
  return {
    url: 'https://site.example/a/b?q=1#part',
    method: 'GET',
    headers: {},
    body: null,
    meta: {},
    cbKwargs: {},
    callback: null,
    errback: null,
    priority: 0,
    dontFilter: false,
    depth: 1,
    origin: null,
    parent: null,
    attempts: 0,
    redirects: 0,
    cookies: null,
    cookieJar: null,
    acceptedAtMs: 0,
    waitingItem: null,
    ...some,
  };
}

const judge = (status: number, some: Partial<RequestRecord> = {}, headers: Record<string, string> = {}) =>
  judgeStatus(status, headers, record(some), options, null);

describe('judgeStatus', () => {
  it('hands 2xx and allowed statuses to the callback', () => {
    expect([200, 204, 299, 410].map((status) => judge(status).kind)).toEqual(Array(4).fill('callback'));
  });

  it('ignores any other status', () => {
    expect([304, 400, 404, 501, 101].map((status) => judge(status).kind)).toEqual(Array(5).fill('ignored'));
  });

  it('hands a status to the callback when the request asks for it', () => {
    expect(judge(404, { meta: { handle_httpstatus_list: [404] } }).kind).toBe('callback');
    expect(judge(404, { meta: { handle_httpstatus_all: true } }).kind).toBe('callback');
    expect(judge(301, { meta: { handle_httpstatus_list: [301] } }, { location: '/x' }).kind).toBe('callback');
  });

  it('retries a retryable status, and says when that is used up', () => {
    expect(judge(503)).toMatchObject({
      kind: 'retry',
      reason: 'http_status',
      reasonCount: '503 Service Unavailable',
    });
    expect(judge(503, { attempts: 2 })).toEqual({ kind: 'exhausted' });
  });

  it('retries before it hands a status to a callback that asked for it, as Scrapy does', () => {
    const meta = { handle_httpstatus_list: [503] };
    expect(judge(503, { meta }).kind).toBe('retry');
    expect(judge(503, { meta, attempts: 2 }).kind).toBe('callback');
  });

  it('ignores a retryable status whose request must not be retried', () => {
    expect(judge(503, { meta: { dont_retry: true } }).kind).toBe('ignored');
  });

  it('follows the five redirect statuses, where there is a Location', () => {
    for (const status of [301, 302, 303, 307, 308]) {
      expect(judge(status, {}, { location: '/x' })).toEqual({ kind: 'redirect', location: '/x' });
      expect(judge(status).kind).toBe('ignored');
    }
    expect(judge(300, {}, { location: '/x' }).kind).toBe('ignored');
    expect(judge(302, { meta: { dont_redirect: true } }, { location: '/x' }).kind).toBe('ignored');
  });
});

describe('judgeFailure', () => {
  it('retries what may pass, and fails at once what will not', () => {
    expect(judgeFailure({ reason: 'timeout', retryable: true }, record(), options).kind).toBe('retry');
    expect(judgeFailure({ reason: 'timeout', retryable: true }, record({ attempts: 2 }), options)).toEqual({
      kind: 'exhausted',
    });
    expect(judgeFailure({ reason: 'tls', retryable: false }, record(), options).kind).toBe('final');
  });
});

describe('redirected', () => {
  const to = (status: number, location: string, some: Partial<RequestRecord> = {}) =>
    redirected(record(some), status, location);

  it('resolves the Location against the page and inherits the fragment', () => {
    expect(to(302, 'c')?.url).toBe('https://site.example/a/c#part');
    expect(to(302, '//other.example/x#own')?.url).toBe('https://other.example/x#own');
  });

  it('reads a Location of raw UTF-8 bytes', () => {
    const raw = Buffer.from('/caf\u00e9', 'utf8').toString('latin1');
    expect(to(302, raw)?.url).toBe('https://site.example/caf%C3%A9#part');
  });

  it('refuses what is no http URL', () => {
    for (const location of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'http://[bad',
      'ftp://x/',
    ]) {
      expect(to(302, location)).toBeNull();
    }
  });

  it('turns POST into GET for 301, 302 and 303, and drops what described the body', () => {
    const post = {
      method: 'POST',
      body: Buffer.from('a=1'),
      headers: { 'Content-Type': 'text/x', 'X-Mine': '1' },
    };
    for (const status of [301, 302, 303]) {
      expect(to(status, '/x', post)).toMatchObject({ method: 'GET', body: null, headers: { 'X-Mine': '1' } });
    }
    for (const status of [307, 308]) expect(to(status, '/x', post)).toMatchObject(post);
    expect(to(303, '/x', { method: 'HEAD' })?.method).toBe('HEAD');
    expect(to(302, '/x', { method: 'PUT' })?.method).toBe('PUT');
  });

  it('leaves credentials, cookies and custom headers behind when the origin changes', () => {
    const secret = {
      headers: { Authorization: 'Basic x', Cookie: 'a=1', 'X-Token': 't', 'Accept-Language': 'de' },
      cookies: { session: '1' },
    };
    expect(to(302, '/x', secret)).toMatchObject(secret);
    for (const other of [
      'http://site.example/x',
      'https://site.example:444/x',
      'https://sub.site.example/x',
    ]) {
      const hop = to(302, other, secret);
      expect(hop?.headers).toEqual({ 'Accept-Language': 'de' });
      expect(hop?.cookies).toBeNull();
    }
  });

  it('counts the hop, begins attempts anew and remembers where it has been', () => {
    const hop = to(302, '/x', {
      attempts: 1,
      redirects: 3,
      meta: { redirect_urls: ['https://first.example/'] },
    });
    expect(hop).toMatchObject({ attempts: 0, redirects: 4, depth: 1 });
    expect(hop?.meta.redirect_urls).toEqual(['https://first.example/', 'https://site.example/a/b?q=1#part']);
  });
});

it('only 429 and 503 ask for a pause', () => {
  const headers = { 'retry-after': '7' };
  expect([429, 503, 200, 301].map((status) => askedPause(status, headers, 0, 60_000))).toEqual([
    7_000,
    7_000,
    null,
    null,
  ]);
});

it('a download under a delay must begin within a quarter of it, at least 50 ms and at most half a second', () => {
  expect([0, 100, 1_000, 60_000].map(beginWithinMs)).toEqual([Number.POSITIVE_INFINITY, 50, 250, 500]);
});
