/** Seeds from sitemaps: indexes, gzip, robots.txt, and what strangers write. */
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeRecord } from '../../../src/http/message/record/request-codec.js';
import { take } from '../../frontier-contract/world.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

type Served =
  | string
  | Buffer
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer };

let site: Site | undefined;
afterEach(async () => {
  await site?.close();
  site = undefined;
});

/** A site of files, by path. */
async function serve(files: Readonly<Record<string, Served | (() => Served)>>): Promise<Site> {
  site = await startSite({
    pages: 0,
    handler: (request, response) => {
      const file = files[request.url ?? ''];
      if (file === undefined) return false;
      const given = typeof file === 'function' ? file() : file;
      const {
        status = 200,
        headers = {},
        body = '',
      } = typeof given === 'string' || Buffer.isBuffer(given) ? { body: given } : given;
      response.writeHead(status, headers).end(body);
      return true;
    },
  });
  return site;
}

const entries = (tag: string, locs: readonly string[]) =>
  locs.map((loc) => `<${tag}><loc>${loc}</loc></${tag}>`).join('');
const urlset = (...locs: string[]) => `<urlset>${entries('url', locs)}</urlset>`;
const index = (...locs: string[]) => `<sitemapindex>${entries('sitemap', locs)}</sitemapindex>`;

describe.each(engines)('seed --sitemap on the %s engine', (engine) => {
  const here = projectOn(engine);
  const run = (args: readonly string[]) => runHere(['seed', 'news', ...args], { cwd: here.project.dir });

  /** URLs in the order they would be crawled. */
  async function pending(): Promise<string[]> {
    return here.look(async (frontier) => {
      await joinAs(frontier);
      const { pending } = await frontier.snapshot();
      const leases = await take(frontier, pending);
      await frontier.leave('shutdown');
      return leases.map(({ record }) => decodeRecord(record).url);
    });
  }

  it('takes the URLs of a sitemap, an index, gzip by content, a text sitemap, and relative ones', async () => {
    const { origin } = await serve({
      '/index.xml': () =>
        index(`${site!.origin}/a.xml`, '/b.xml', `${site!.origin}/c.txt`, `${site!.origin}/a.xml`),
      '/a.xml': () => gzipSync(urlset(`${site!.origin}/1`, `${site!.origin}/2`)),
      '/b.xml': () => ({
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync(gzipSync(urlset('/3', 'https://other.example/4'))),
      }),
      '/c.txt': () => `\ufeff${site!.origin}/5\r\n${site!.origin}/1\n`,
    });
    const { code, stdout, stderr } = await run(['--sitemap', `${origin}/index.xml`]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'news: 5 accepted, 1 duplicate, 0 bad (4 sitemaps)\n',
      stderr: '',
    });
    expect(site!.log.map(({ path }) => path)).toEqual(['/index.xml', '/a.xml', '/b.xml', '/c.txt']);
    expect((await pending()).sort()).toEqual(
      [1, 2, 3, 5]
        .map((n) => `${origin}/${n}`)
        .concat('https://other.example/4')
        .sort(),
    );
  });

  it('finds sitemaps by a robots.txt, follows redirects, and tries again what fails for a moment', async () => {
    let failures = 2;
    const { origin } = await serve({
      '/robots.txt': 'User-agent: *\nDisallow: /x\nSitemap: /moved.xml # here\nsitemap:/second.xml\n',
      '/moved.xml': { status: 301, headers: { location: '/first.xml' } },
      '/first.xml': () => (failures-- > 0 ? { status: 503 } : urlset('/1')),
      '/second.xml': () => urlset('/2'),
    });
    const settings = ['-s', 'RETRY_BACKOFF=0.01', '-s', 'USER_AGENT=seeder'];
    const { code, stdout } = await run(['--sitemap', `${origin}/robots.txt`, ...settings]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'news: 2 accepted, 0 duplicate, 0 bad (3 sitemaps)\n',
    });
    expect(site!.log.every(({ userAgent }) => userAgent === 'seeder')).toBe(true);
  });

  it('names each file that cannot be read, goes on with the others, and ends with 1', async () => {
    const { origin } = await serve({
      '/index.xml': () =>
        index(
          '/missing.xml',
          '/html.xml',
          '/bomb.xml',
          '/cut.xml',
          '/cut.gz',
          '/dtd.xml',
          'ftp://a.example/s.xml',
          '/good.xml',
          '/index.xml',
        ),
      '/html.xml': '<!DOCTYPE html><html></html>',
      '/bomb.xml': gzipSync(Buffer.alloc(80 * 1024 * 1024, 'x')),
      '/cut.xml': '<urlset><url><loc>/1</loc></url><url><loc>/2',
      '/cut.gz': gzipSync(urlset('/3')).subarray(0, 20),
      '/dtd.xml':
        '<!DOCTYPE z [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>/&b;</loc></url></urlset>',
      '/good.xml': urlset('/4'),
    });
    const { code, stdout, stderr } = await run(['--sitemap', `${origin}/index.xml`, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      ...{ accepted: 2, duplicates: 0, bad: 1 },
      sitemaps: { read: 6, unread: 6, older: 0 },
    });
    for (const said of [
      `${origin}/missing.xml: the server answered 404 Not Found`,
      `${origin}/html.xml: it is an HTML page`,
      `${origin}/bomb.xml: the gzip cannot be read: it holds more than 64 MB`,
      `${origin}/cut.xml: it ends in the middle (its first 1 entries are taken)`,
      `${origin}/cut.gz: the gzip cannot be read: it ends in the middle`,
      `${origin}/dtd.xml: it declares entities of its own`,
      `${origin}/index.xml: entry 7: no http(s) URL: ftp://a.example/s.xml`,
    ]) {
      expect(stderr).toContain(said);
    }
    expect((await pending()).sort()).toEqual([`${origin}/1`, `${origin}/4`]);
  });

  it('takes no JSON, no other scheme and nothing outside of allowedDomains for a seed', async () => {
    await here.project.write(
      'spiders/news.ts',
      "import { Spider } from 'crawlnode';\nexport default class extends Spider { name = 'news'; allowedDomains = ['shop.example']; }\n",
    );
    const locs = [
      '{&quot;url&quot;:&quot;http://shop.example/&quot;,&quot;method&quot;:&quot;POST&quot;}',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://evil.example/',
      'https://www.shop.example/ok',
    ];
    await here.project.write('map.xml', urlset(...locs));
    const { code, stdout, stderr } = await run(['--sitemap', 'map.xml']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'news: 1 accepted, 0 duplicate, 4 bad (1 sitemap)\n',
    });
    expect(stderr).toContain("entry 4: outside of the spider's allowedDomains");
    expect(await pending()).toEqual(['https://www.shop.example/ok']);
  });

  it('passes over what has not changed since', async () => {
    const at = (loc: string, lastmod: string) => `<url><loc>https://a.example/${loc}</loc>${lastmod}</url>`;
    await here.project.write(
      'map.xml',
      `<urlset>${at('old', '<lastmod>2026-10-31T23:59:59Z</lastmod>')}${at('new', '<lastmod>2026-11-01</lastmod>')}${at('none', '')}${at('odd', '<lastmod>yesterday</lastmod>')}</urlset>`,
    );
    const { stdout } = await run(['--sitemap', 'map.xml', '--since', '2026-11-01']);
    expect(stdout).toBe('news: 3 accepted, 0 duplicate, 0 bad (1 sitemap, 1 older entries skipped)\n');
    expect(await run(['--sitemap', 'map.xml', '--since', 'yesterday'])).toMatchObject({ code: 2 });
    expect(await run(['https://a.example/', '--since', '2026-11-01'])).toMatchObject({ code: 2 });
  });

  it('says what is wrong where nothing can be read', async () => {
    const { code, stdout, stderr } = await run([
      '--sitemap',
      'http://127.0.0.1:9/sitemap.xml',
      '-s',
      'RETRY_ENABLED=false',
    ]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: 'news: 0 accepted, 0 duplicate, 0 bad (0 sitemaps, 1 of them not read, or not completely)\n',
    });
    expect(stderr).toContain('http://127.0.0.1:9/sitemap.xml: 127.0.0.1:9: the connection was refused');
    expect(await run(['--sitemap', 'nowhere.xml'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nowhere.xml'),
    });
  });
});
