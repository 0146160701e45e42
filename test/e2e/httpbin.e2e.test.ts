/** A server that nobody here wrote, crawled through the executable: what it says of each request is what a client should have sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../helpers/cli.js';
import { createProject, type Project } from '../helpers/project.js';
import { type Httpbin, startHttpbin, whyNoHttpbin } from '../helpers/sites/httpbin.js';

const spider = `
import { Request, type Response, Spider } from 'crawlnode';

export default class extends Spider {
  name = 'bin';
  httpUser = 'spider';
  httpPass = 'p:w';
  httpAuthDomain = new URL(this.args.origin).host;
  refresh = [{ allow: /\\/(etag|cache)/ }];

  *start() {
    const { origin } = this.args;
    const ask = (name: string, path: string, options = {}) =>
      new Request(origin + path, { meta: { name }, dontFilter: true, ...options });
    for (const name of ['gzip', 'deflate', 'brotli']) yield ask(name, '/' + name);
    yield ask('chunked', '/stream/5', { callback: this.parseText });
    yield ask('bytes', '/stream-bytes/70000?seed=7&chunk_size=999', { callback: this.parseText });
    for (const kind of ['redirect', 'absolute-redirect', 'relative-redirect']) yield ask(kind, '/' + kind + '/3');
    yield ask('too many', '/redirect/9');
    yield ask('found', '/redirect-to?status_code=302&url=/anything', { formdata: { a: '1' } });
    yield ask('temporary', '/redirect-to?status_code=307&url=/anything', { formdata: { a: '1' } });
    yield ask('spider auth', '/basic-auth/spider/p:w');
    yield ask('url auth', '/basic-auth/me/s3cret', { headers: { Authorization: 'Basic ' + btoa('me:s3cret') } });
    yield ask('wrong auth', '/basic-auth/somebody/else');
    yield ask('teapot', '/status/418', { callback: this.parseText, meta: { name: 'teapot', handle_httpstatus_list: [418] } });
    yield ask('empty', '/status/204', { callback: this.parseText });
    yield ask('missing', '/status/404');
    yield ask('unavailable', '/status/503');
    yield ask('denied', '/deny');
    yield ask('headers', '/headers', { headers: { 'X-Own': 'yes' } });
    yield ask('form', '/forms/post', { callback: this.parseForm });
    yield ask('session', '/cookies/set?session=abc&lang=de', { callback: this.parseSession, meta: { name: 'session', cookiejar: 1 } });
    yield ask('other session', '/cookies', { meta: { name: 'other session', cookiejar: 2 } });
    for (const path of ['/etag/v1', '/cache']) yield new Request(origin + path, { meta: { name: path } });
  }

  parse(response: Response) {
    return { name: response.meta.name, url: response.url, ...(response.json() as object) };
  }

  parseText(response: Response) {
    const { name } = response.meta;
    return { name, status: response.status, length: response.body.length, text: name === 'bytes' ? '' : response.text };
  }

  *parseForm(response: Response) {
    const formdata = { custname: 'Zoë', topping: ['bacon', 'onion'] };
    yield Request.fromForm(response, { formdata, meta: { name: 'form' }, callback: this.parse });
  }

  *parseSession(response: Response) {
    yield this.parse(response);
    const meta = { name: 'after deletion', cookiejar: 1 };
    yield response.follow('/cookies/delete?lang', this.parse, { meta, dontFilter: true });
  }
}
`;

interface Answer {
  readonly name: string;
  readonly [field: string]: unknown;
}

const why = whyNoHttpbin();
if (why !== null) console.warn(`skipped: ${why}`);

describe.skipIf(why !== null)(
  'httpbin',
  () => {
    let bin: Httpbin;
    let project: Project;
    let answers: readonly Answer[];
    let counters: Readonly<Record<string, number>>;
    let summary: string;

    const crawl = async () => {
      const args = ['crawl', 'bin', '-a', `origin=${bin.origin}`, '--exit-when-done', '-O', 'items.jsonl'];
      const result = await runCli(args, { cwd: project.dir, env: { ROBOTSTXT_OBEY: undefined } });
      expect(result).toMatchObject({ code: 0 });
      const stats = await runCli(['stats', 'bin', '--json'], { cwd: project.dir });
      ({ counters } = JSON.parse(stats.stdout));
      return result.stdout;
    };
    const of = (name: string): Answer[] => answers.filter((answer) => answer.name === name);

    beforeAll(async () => {
      bin = await startHttpbin();
      project = await createProject({
        settings: { RETRY_BACKOFF: 0.01, RETRY_TIMES: 1, REDIRECT_MAX_TIMES: 5, CALLBACK_TIMEOUT: 30 },
        files: { 'spiders/bin.ts': spider },
      });
      summary = await crawl();
      answers = (await project.read('items.jsonl'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Answer);
    });
    afterAll(async () => {
      await project?.remove();
      await bin?.close();
    });

    it('decodes gzip, deflate, brotli and chunked bodies', () => {
      expect(of('gzip')).toMatchObject([{ gzipped: true }]);
      expect(of('deflate')).toMatchObject([{ deflated: true }]);
      expect(of('brotli')).toMatchObject([{ brotli: true }]);
      expect((of('chunked')[0]!.text as string).trim().split('\n')).toHaveLength(5);
      expect(of('bytes')).toMatchObject([{ length: 70_000 }]);
    });

    it('follows redirects, with the method and body that their status asks for', () => {
      for (const kind of ['redirect', 'absolute-redirect', 'relative-redirect']) {
        expect(of(kind)).toMatchObject([{ url: `${bin.origin}/get` }]);
      }
      expect(of('too many')).toEqual([]);
      expect(counters['redirect/max_times_reached']).toBe(1);
      expect(of('found')).toMatchObject([{ method: 'GET', form: {} }]);
      expect(of('temporary')).toMatchObject([{ method: 'POST', form: { a: '1' } }]);
    });

    it('authenticates by the members of the spider, or by the header of a request', () => {
      expect(of('spider auth')).toMatchObject([{ authenticated: true, user: 'spider' }]);
      expect(of('url auth')).toMatchObject([{ authenticated: true, user: 'me' }]);
      expect(of('wrong auth')).toEqual([]);
      expect(counters['httperror/response_ignored_status_count/401']).toBe(1);
    });

    it('takes each status for what it is', () => {
      expect(of('teapot')).toMatchObject([{ status: 418, text: expect.stringContaining('teapot') }]);
      expect(of('empty')).toMatchObject([{ status: 204, length: 0 }]);
      expect(counters).toMatchObject({
        'httperror/response_ignored_status_count/404': 1,
        'downloader/response_status_count/503': 2,
        'retry/reason_count/503 Service Unavailable': 1,
        'retry/max_reached': 1,
      });
      expect(summary).toContain(`forbidden by robots.txt: 1 page, such as ${bin.origin}/deny`);
    });

    it('sends headers and forms as they are', () => {
      expect(of('headers')).toMatchObject([
        { headers: { 'X-Own': 'yes', 'User-Agent': 'crawlnode', 'Accept-Language': 'en' } },
      ]);
      expect(of('form')).toMatchObject([{ form: { custname: 'Zoë', topping: ['bacon', 'onion'] } }]);
    });

    it('keeps cookies that redirects set and delete, each session by itself', () => {
      expect(of('session')).toMatchObject([
        { url: `${bin.origin}/cookies`, cookies: { session: 'abc', lang: 'de' } },
      ]);
      expect(of('after deletion')).toMatchObject([{ cookies: { session: 'abc' } }]);
      expect(of('after deletion')[0]!.cookies).not.toHaveProperty('lang');
      expect(of('other session')).toMatchObject([{ cookies: {} }]);
    });

    it('asks for pages with an ETag or Last-Modified conditionally when they are crawled again', async () => {
      expect([...of('/etag/v1'), ...of('/cache')]).toHaveLength(2);
      expect(counters).not.toHaveProperty('recrawl/not_modified');
      await crawl();
      expect(counters).toMatchObject({
        'recrawl/not_modified': 2,
        'downloader/response_status_count/304': 2,
      });
    });
  },
  240_000,
);
