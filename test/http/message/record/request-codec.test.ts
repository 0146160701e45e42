/** The stored record of a request: small, exact, and harmless however it was mangled. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidRequestError } from '../../../../src/errors.js';
import { fingerprint } from '../../../../src/http/message/fingerprint.js';
import { jsonCopy } from '../../../../src/http/message/record/json-safe.js';
import {
  decodeRecord,
  encodeRecord,
  type RequestContext,
  toFrontierRequest,
} from '../../../../src/http/message/record/request-codec.js';
import type { JsonObject, RequestRecord } from '../../../../src/http/message/record/request-record.js';
import { Request } from '../../../../src/http/message/request.js';

const url = 'https://docs.example.org/library/asyncio-task-0123456789.html';
const parentId = 'a'.repeat(40);
const context: RequestContext = {
  callback: null,
  errback: null,
  parentId,
  ordinal: 3,
  depth: 4,
  origin: { seed: '0123abcd', private: false },
  isTrustedSeed: false,
  fingerprint: (request) => fingerprint(request),
  domainKey: 'host',
  nowMs: 1_764_000_000_000,
  job: null,
};

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/);
const headerValue = fc.stringMatching(/^[ -~]{0,20}$/);
const cookie = fc.record(
  { name: token, value: headerValue, domain: token, path: fc.constant('/a'), secure: fc.boolean() },
  { requiredKeys: ['name', 'value'] },
);
const nat = fc.nat({ max: 2 ** 40 });

const record: fc.Arbitrary<RequestRecord> = fc.record({
  url: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  method: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'X-OWN'),
  headers: fc.dictionary(token, fc.oneof(headerValue, fc.array(headerValue, { maxLength: 3 }))),
  body: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))),
  meta: fc.dictionary(fc.string(), fc.jsonValue()).map((meta) => jsonCopy(meta, 'meta') as JsonObject),
  cbKwargs: fc.dictionary(fc.string(), fc.jsonValue()).map((all) => jsonCopy(all, 'cbKwargs') as JsonObject),
  callback: fc.option(fc.string()),
  errback: fc.option(fc.string()),
  priority: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  dontFilter: fc.boolean(),
  depth: nat,
  origin: fc.option(fc.record({ seed: hex(8), private: fc.boolean() })),
  parent: fc.option(hex(40)),
  attempts: nat,
  redirects: nat,
  cookies: fc.option(fc.oneof(fc.dictionary(token, headerValue), fc.array(cookie, { minLength: 1 }))),
  cookieJar: fc.option(fc.string()),
  acceptedAtMs: nat,
  waitingItem: fc.option(
    fc.record({
      id: fc.tuple(hex(40), fc.integer({ min: 1, max: 10_000 })).map(([page, n]) => `${page}-${n}`),
      pipeline: fc.constantFrom('FilesPipeline', 'ImagesPipeline'),
      item: fc.dictionary(fc.string(), fc.jsonValue()).map((item) => jsonCopy(item, 'item') as JsonObject),
      files: fc.array(
        fc.oneof(
          fc.record({
            url: fc.webUrl(),
            path: hex(40).map((name) => `node-1/full/${name}.pdf`),
            checksum: hex(32),
            status: fc.constantFrom('downloaded' as const, 'uptodate' as const),
          }),
          fc.record({
            url: fc.string(),
            path: fc.constant(null),
            checksum: fc.constant(null),
            status: fc.constant('failed' as const),
            reason: fc.constantFrom('http_404', 'timeout'),
          }),
        ),
        { maxLength: 3 },
      ),
    }),
  ),
});

/** A record that carries an item with one file. */
const carrying = (file: object, changes: object = {}) => {
  const stored = { url, path: `full/${'a'.repeat(40)}.pdf`, checksum: 'b'.repeat(32), status: 'downloaded' };
  const f = { d: `${parentId}-1`, s: 'FilesPipeline', i: {}, r: [{ ...stored, ...file }], ...changes };
  return JSON.stringify({ v: 1, u: url, f });
};

/** Plain objects, whatever their prototype. */
const plain = (value: RequestRecord) => ({
  ...value,
  headers: { ...value.headers },
  cookies: Array.isArray(value.cookies) ? value.cookies : value.cookies && { ...value.cookies },
});

describe('a record', () => {
  test('is its own beside records that differ from it in one thing', () => {
    const base: RequestRecord = {
      ...{
        url,
        method: 'GET',
        headers: {},
        body: null,
        meta: {},
        cbKwargs: {},
        callback: 'parseé',
        errback: null,
        priority: 0,
      },
      ...{
        dontFilter: false,
        depth: 2,
        origin: { seed: '0123abcd', private: false },
        parent: null,
        attempts: 0,
      },
      ...{ redirects: 0, cookies: null, cookieJar: null, acceptedAtMs: 1_764_000_000_000 },
      waitingItem: null,
    };
    const changes: Partial<RequestRecord>[] = [
      ...[
        { url: `${url}?a` },
        { cbKwargs: { page: 2 } },
        { callback: null },
        { callback: 'p🦊' },
        { errback: 'parseé' },
        { priority: -1 },
      ],
      ...[
        { dontFilter: true },
        { depth: 3 },
        { origin: null },
        { origin: { seed: '0123abcd', private: true } },
      ],
      ...[
        { origin: { seed: '0123abce', private: false } },
        { parent: parentId },
        { attempts: 1 },
        { redirects: 1 },
      ],
      ...[{ cookies: { a: 'b' } }, { cookies: { a: 'c' } }, { cookieJar: '1é' }, { acceptedAtMs: 0 }],
    ];
    for (const change of changes) {
      for (const one of [base, { ...base, ...change }, base]) {
        expect(decodeRecord(encodeRecord(one))).toEqual(one);
      }
    }
  });

  test('is what it was when it comes back', () => {
    fc.assert(
      fc.property(record, (original) => {
        expect(plain(decodeRecord(encodeRecord(original)))).toEqual(plain(original));
      }),
      { numRuns: 500 },
    );
  });

  test('of an ordinary link takes at most 120 bytes', () => {
    expect(url.length).toBeGreaterThanOrEqual(60);
    const { record: text } = toFrontierRequest(new Request(url), context);
    expect(Buffer.byteLength(text) - (url.length - 60)).toBeLessThanOrEqual(120);
  });

  test('keeps __proto__ from doing anything', () => {
    const text = `{"v":1,"u":"${url}","x":{"\\u005f_proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}},"h":{"__proto__":"x"}}`;
    const { meta, headers } = decodeRecord(text);
    expect((meta as Record<string, unknown>).polluted).toBeUndefined();
    expect((meta.a as Record<string, unknown>).polluted).toBeUndefined();
    expect(headers.polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('past 1 MB is refused where it is made', () => {
    // The second would be more JSON than V8's longest string holds.
    for (const text of ['x'.repeat(1024 * 1024), '\u0001'.repeat(100_000_000)]) {
      const request = new Request(url, { meta: { text } });
      expect(() => toFrontierRequest(request, context)).toThrow(/more than 1 MB/);
    }
  });

  test('carries an item that waits for a file', () => {
    expect(decodeRecord(carrying({})).waitingItem).toMatchObject({ id: `${parentId}-1`, item: {} });
  });

  test.each([
    ['not JSON', '{"v":1'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
    ['without a version', `{"u":"${url}"}`],
    ['of a version to come', `{"v":2,"u":"${url}"}`],
    ['without a URL', '{"v":1}'],
    ['of another scheme', '{"v":1,"u":"file:///etc/passwd"}'],
    ['with a URL nobody can fetch', '{"v":1,"u":"http://999.999.999.999/"}'],
    ['with an unknown field', `{"v":1,"u":"${url}","zz":1}`],
    ['with a priority beyond bounds', `{"v":1,"u":"${url}","p":2147483648}`],
    ['with a negative depth', `{"v":1,"u":"${url}","d":-1}`],
    ['with a method of two words', `{"v":1,"u":"${url}","m":"GET /"}`],
    ['with a header name that breaks lines', `{"v":1,"u":"${url}","h":{"a\\r\\nb":"x"}}`],
    ['with a body that is not base64', `{"v":1,"u":"${url}","b":"*"}`],
    ['with meta that is a list', `{"v":1,"u":"${url}","x":[]}`],
    [
      'with meta nested without end',
      `{"v":1,"u":"${url}","x":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`,
    ],
    ['with a file that lies outside the store', carrying({ path: '../../etc/passwd' })],
    ['with a file in a hidden folder', carrying({ path: `.ssh/full/${'a'.repeat(40)}` })],
    ['with a file in no known state', carrying({ status: 'run' })],
    ['with an item of no page', carrying({}, { d: 'x-1' })],
    ['with an item that is a list', carrying({}, { i: [] })],
    ['past 1 MB', `{"v":1,"u":"${url}","c":"${'x'.repeat(1024 * 1024)}"}`],
  ])('%s is bad, with a message', (_, text) => {
    expect(() => decodeRecord(text)).toThrow(
      expect.objectContaining({ code: 'bad_record', message: expect.stringContaining('cannot be read') }),
    );
  });

  test('is the same read the short way and the long way', () => {
    const link = fc.record({
      u: fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.constant('http://127.0.0.1:8080/a%20b?c')),
      c: fc.option(fc.string(), { nil: undefined }),
      d: fc.option(nat, { nil: undefined }),
      o: fc.option(fc.stringMatching(/^[0-9a-f]{8}!?$/), { nil: undefined }),
      t: fc.option(nat, { nil: undefined }),
    });
    fc.assert(
      fc.property(link, (fields) => {
        const text = JSON.stringify({ v: 1, ...fields });
        expect(decodeRecord(text)).toEqual(decodeRecord(` ${text}`));
      }),
      { numRuns: 1_000 },
    );
  });

  test('mangled in 10,000 ways is read or is bad, and nothing else happens', () => {
    const whole = encodeRecord({
      ...decodeRecord(`{"v":1,"u":"${url}"}`),
      method: 'POST',
      headers: { 'X-A': ['1', '2'] },
      body: Buffer.from('body'),
      meta: { a: { b: [1, 'é', null] } },
      origin: { seed: '0123abcd', private: true },
      cookies: { c: 'd' },
      priority: -5,
      attempts: 2,
      acceptedAtMs: 1_764_000_000_000,
      waitingItem: decodeRecord(carrying({})).waitingItem,
    });
    const bytes = Buffer.from(whole);
    const place = fc.nat({ max: bytes.length - 1 });
    const cut = fc
      .tuple(place, place, fc.uint8Array({ maxLength: 4 }))
      .map(([from, length, insert]) =>
        Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + (length % 8))]).toString(),
      );
    const snippet = fc.constantFrom('null', '{}', '[]', '1e999', '-1', '"x"', 'true', '{"__proto__":1}');
    const swapped = fc.tuple(fc.nat({ max: 10 }), snippet).map(([nth, value]) => {
      const fields = Object.entries(JSON.parse(whole)).map(
        ([key, field], i) => `"${key}":${i === nth ? value : JSON.stringify(field)}`,
      );
      return `{${fields.join(',')}}`;
    });
    fc.assert(
      fc.property(fc.oneof(cut, swapped, fc.json(), fc.string()), (text) => {
        try {
          const read = decodeRecord(text);
          Request.fromRecord(read);
          expect(plain(decodeRecord(encodeRecord(read)))).toEqual(plain(read));
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequestError);
          expect((error as InvalidRequestError).code).toBe('bad_record');
        }
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('a request for the frontier', () => {
  test('is known by its fingerprint', () => {
    const request = toFrontierRequest(new Request('HTTP://Example.org/?b=1&a=2', { priority: 7 }), context);
    expect(request.id).toBe(fingerprint({ url: 'http://example.org/?a=2&b=1', method: 'GET' }));
    expect(request).toMatchObject({
      fingerprint: request.id,
      domain: 'example.org',
      priority: 7,
      dontFilter: false,
    });
    expect('delayMs' in request).toBe(false);
  });

  test('dontFilter, is known by its place in the page: the same one again, another elsewhere', () => {
    const request = new Request(url, { dontFilter: true });
    const first = toFrontierRequest(request, context);
    expect(first.id).not.toBe(first.fingerprint);
    expect(first.dontFilter).toBe(true);
    expect(toFrontierRequest(request, context).id).toBe(first.id);
    expect(toFrontierRequest(request, { ...context, ordinal: 4 }).id).not.toBe(first.id);
    expect(toFrontierRequest(request, { ...context, parentId: 'b'.repeat(40) }).id).not.toBe(first.id);
    expect(decodeRecord(first.record).parent).toBe(parentId);
  });

  test('dontFilter at the start, is known by its job and place', () => {
    const request = new Request(url, { dontFilter: true });
    const start = { ...context, parentId: null, origin: null };
    const first = toFrontierRequest(request, start);
    expect(toFrontierRequest(request, start).id).toBe(first.id);
    expect(toFrontierRequest(request, { ...start, job: 'monday' }).id).not.toBe(first.id);
  });

  test('that is a seed is its own origin, and may reach private addresses only if it is trusted', () => {
    const seedAt = (address: string, isTrustedSeed: boolean) =>
      toFrontierRequest(new Request(address), { ...context, origin: null, depth: 0, isTrustedSeed });
    for (const address of ['http://127.0.0.1:8080/', 'http://web/', url]) {
      const seed = seedAt(address, true);
      expect(decodeRecord(seed.record).origin).toEqual({ seed: seed.id.slice(0, 8), private: true });
      expect(decodeRecord(seedAt(address, false).record).origin?.private).toBe(false);
    }
  });

  test('takes its domain from meta.download_slot where that is set', () => {
    const request = new Request(url, { meta: { download_slot: 'slow', cookiejar: 2 } });
    const stored = toFrontierRequest(request, { ...context, delayMs: 500 });
    expect(stored).toMatchObject({ domain: 'slow', delayMs: 500 });
    expect(decodeRecord(stored.record).cookieJar).toBe('2');
  });

  test('carries everything a node needs to make the request again', () => {
    const request = new Request(url, {
      json: { a: 1 },
      meta: { page: 2 },
      priority: -1,
      cookies: { a: 'b' },
      headers: { 'X-A': '1' },
    }).replace({ attempts: 2, redirects: 1 });
    const { record: text } = toFrontierRequest(request, {
      ...context,
      callback: 'parseList',
      errback: 'failed',
    });
    const again = Request.fromRecord(decodeRecord(text));
    expect(again).toBeInstanceOf(Request);
    expect({ ...again }).toEqual({
      ...request,
      callback: 'parseList',
      errback: 'failed',
      depth: 4,
      origin: context.origin,
    });
  });
});
