/** The cache of links known to be seen: what enters, what is found, what makes it forget. */
import type http from 'node:http';
import { describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { fingerprint } from '../../../src/http/message/fingerprint.js';
import { Request, type RequestOptions, type Yielded } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { SeenLinks, seenLinksOf } from '../../../src/node/links/seen-links.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

const request = (url: string, options?: RequestOptions) => new Request(url, options);
const link = (url: string, options?: RequestOptions) => ({ found: { request: request(url, options) } });
const A = 'http://a.example/a';
/** A settle that is answered at once. */
const at = (nowMs: number) => ({ sentMs: nowMs, nowMs });

describe('the cache of seen links', () => {
  it('knows a link from the settle that carried it, in the same spelling', () => {
    const seen = new SeenLinks();
    expect(seen.epoch).toBeNull();
    seen.learn([link(A)], '7', at(0));
    expect(seen.epoch).toBe('7');
    expect(seen.has(request(A))).toBe(true);
    expect(seen.has(request(A, { priority: 3, meta: { any: 1 } }))).toBe(true);
    expect(seen.has(request(`${A}?b`))).toBe(false);
  });

  it.each<[string, RequestOptions]>([
    ['another method', { method: 'HEAD' }],
    ['a body', { method: 'GET', body: 'q' }],
    ['headers', { headers: { accept: '*/*' } }],
    ['dontFilter', { dontFilter: true }],
  ])('neither takes nor finds a request with %s', (_, options) => {
    const seen = new SeenLinks();
    seen.learn([link(A, options)], '7', at(0));
    expect(seen.has(request(A))).toBe(false);
    seen.learn([link(A)], '7', at(0));
    expect(seen.has(request(A, options))).toBe(false);
  });

  it('begins anew under another epoch, and when the store refuses its own', () => {
    const seen = new SeenLinks();
    seen.learn([link(A)], '7', at(0));
    seen.learn([link(`${A}b`)], '8', at(0));
    expect(seen.has(request(A))).toBe(false);
    seen.forget('7');
    expect(seen.has(request(`${A}b`))).toBe(true);
    seen.forget('8');
    expect(seen.has(request(`${A}b`))).toBe(false);
    expect(seen.epoch).toBeNull();
  });

  it('is bounded: the newest 25,000 links are always there, never more than twice as many', () => {
    const seen = new SeenLinks();
    const url = (n: number) => `${A}/${n}`;
    seen.learn(
      Array.from({ length: 85_000 }, (_, n) => link(url(n))),
      '7',
      at(0),
    );
    expect(seen.has(request(url(84_999)))).toBe(true);
    expect(seen.has(request(url(60_000)))).toBe(true);
    expect(seen.has(request(url(34_999)))).toBe(false);
  });

  it('is bounded where links are long: never more than ten million characters and a link', () => {
    const seen = new SeenLinks();
    const url = (n: number) => `${A}?${'x'.repeat(1_976)}&n=${n}`.padEnd(2_000, '-');
    const links = Array.from({ length: 6_000 }, (_, n) => link(url(n)));
    // Known ones are not counted again.
    for (let time = 0; time < 3; time++) seen.learn(links.slice(0, 2_000), '7', at(0));
    seen.learn(links, '7', at(0));
    const known = links.filter(({ found }) => seen.has(found.request)).length;
    expect(known).toBeGreaterThanOrEqual(2_500);
    expect(known).toBeLessThanOrEqual(5_001);
    expect(seen.has(request(url(5_999)))).toBe(true);
    expect(seen.has(request(url(0)))).toBe(false);
  });

  it('lets a link live at most a tenth of the expiry of its fingerprint, however long nobody looks', () => {
    const seen = seenLinksOf({}, { class: 'TimedRFPDupeFilter', expireMs: 10_000 })!;
    seen.age(100_000);
    seen.learn([link(A)], '7', at(100_000));
    seen.age(100_900);
    expect(seen.has(request(A))).toBe(true);
    seen.age(101_000);
    expect(seen.has(request(A))).toBe(false);
    seen.learn([link(A)], '7', at(101_000));
    seen.age(200_000);
    expect(seen.has(request(A))).toBe(false);
  });

  it('caches no link whose fingerprint was recorded before midnight, where all expire at midnight', () => {
    const dayMs = 86_400_000;
    const seen = new SeenLinks((recordedMs) => (Math.floor(recordedMs / dayMs) + 1) * dayMs);
    seen.age(dayMs + 10);
    // Its settle was sent on the day before, and is answered on this one.
    seen.learn([link(A)], '7', { sentMs: dayMs - 10, nowMs: dayMs + 20 });
    expect(seen.has(request(A))).toBe(false);
    // The clock of the store may still be before midnight.
    seen.learn([link(A)], '7', { sentMs: dayMs + 2_000, nowMs: dayMs + 2_010 });
    expect(seen.has(request(A))).toBe(false);
    seen.learn([link(A)], '7', { sentMs: dayMs + 60_000, nowMs: dayMs + 60_010 });
    expect(seen.has(request(A))).toBe(true);
    seen.age(2 * dayMs - 1);
    expect(seen.has(request(A))).toBe(false);
  });

  it('is not there where the spider decides what is the same request', () => {
    expect(seenLinksOf({ fingerprint: () => '' }, { class: 'RFPDupeFilter' })).toBeNull();
  });
});

describe('a crawl whose nodes keep seen links to themselves', () => {
  it('counts them as filtered, and asks for a page again when it was forgotten meanwhile', async () => {
    const open = await freshStore();
    const outsider = await openFrontier(open);
    const links: Record<string, string[]> = {
      '/': ['/one', '/two'],
      '/one': ['/', '/one', '/two'],
      '/two': ['/one', '/two'],
    };
    const asked: string[] = [];
    const answer = (path: string, response: http.ServerResponse) => {
      const body = links[path]!.map((href) => `<a href="${href}">`).join('');
      response.writeHead(200, { 'content-type': 'text/html' }).end(body);
    };
    const site = await startSite({
      pages: 0,
      handler: ({ url = '' }, response) => {
        if (!(url in links)) return false;
        asked.push(url);
        if (url !== '/two') answer(url, response);
        else
          void outsider.forget(fingerprint(request(`${site.origin}/one`))).then(() => answer(url, response));
        return true;
      },
    });
    class Walk extends Spider {
      override name = 'walk';
      override startUrls = [`${site.origin}/`];
      override *parse(response: Response): Generator<Yielded> {
        yield* response.followAll(response.links());
      }
    }
    await crawl(open, Walk, { options: { concurrency: 1 } });
    await site.close();
    expect(asked).toEqual(['/', '/one', '/two', '/one']);
    const { counters } = await outsider.snapshot();
    // Of the nine links and one start, four were accepted.
    expect(counters).toMatchObject({ 'scheduler/enqueued': 4, 'dupefilter/filtered': 7 });
    expect(await outsider.verify()).toEqual([]);
    await outsider.close();
  });
});
