/** Reading sitemaps: what the protocol allows, what people write, and what a hostile one may hold. */
import { describe, expect, it } from 'vitest';
import { readSitemap, SitemapError } from '../../../src/http/sitemap/sitemap.js';

const NS = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const urlset = (inner: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${NS}">${inner}</urlset>`;

/** Addresses, then the error if there is one. */
function read(text: string): (string | null)[] {
  const found: (string | null)[] = [];
  try {
    for (const { loc, problem } of readSitemap(text)) found.push(problem ?? loc);
  } catch (error) {
    expect(error).toBeInstanceOf(SitemapError);
    found.push((error as Error).message);
  }
  return found;
}

const page = {
  ...{ kind: 'page', lastmod: null, changefreq: null, priority: null, alternates: [], problem: null },
};

describe('a sitemap in XML', () => {
  it('gives its addresses in order, with the time of the last change', () => {
    const text = urlset(`
      <url><loc> https://a.example/?a=1&amp;b=2 </loc><lastmod>2026-01-02</lastmod><priority>0.5</priority></url>
      <url><changefreq>daily</changefreq><loc><![CDATA[https://a.example/c&d]]></loc></url>
      <url><loc>https://a.example/&#252;&#x20AC;</loc></url>`);
    expect([...readSitemap(text)]).toEqual([
      { ...page, loc: 'https://a.example/?a=1&b=2', lastmod: '2026-01-02', priority: '0.5' },
      { ...page, loc: 'https://a.example/c&d', changefreq: 'daily' },
      { ...page, loc: 'https://a.example/ü€' },
    ]);
  });

  it('may be an index of further sitemaps', () => {
    const text = `<sitemapindex xmlns="${NS}"><sitemap><loc>https://a.example/1.xml.gz</loc><lastmod>2026-01-02T03:04:05Z</lastmod></sitemap></sitemapindex>`;
    expect([...readSitemap(text)]).toEqual([
      { ...page, kind: 'sitemap', loc: 'https://a.example/1.xml.gz', lastmod: '2026-01-02T03:04:05Z' },
    ]);
  });

  it('has its own addresses read, not those of images, videos and other languages', () => {
    const text = urlset(`<url><loc>https://a.example/</loc>
      <xhtml:link rel="alternate" hreflang="de" href="https://a.example/de"/>
      <image:image><image:loc>https://a.example/i.png</image:loc></image:image>
      <image:loc>https://a.example/j.png</image:loc><video:video><loc>https://a.example/v</loc></video:video></url>`);
    expect(read(text)).toEqual(['https://a.example/']);
  });

  it('gives the addresses of a page in other languages, at most 1,000', () => {
    const link = (rel: string, to: string) => `<xhtml:link rel="${rel}" hreflang="x" href="${to}"/>`;
    const [entry] = readSitemap(
      urlset(`<url><loc>https://a.example/</loc>${link('alternate', 'https://a.example/?a=1&amp;b=2')}
        ${link('stylesheet', 'https://a.example/x.css')}<link href=" /fr "/><xhtml:link rel="alternate"/></url>`),
    );
    expect(entry?.alternates).toEqual(['https://a.example/?a=1&b=2', '/fr']);
    const [hostile] = readSitemap(
      urlset(`<url><loc>https://a.example/</loc>${link('alternate', '/b').repeat(2_000)}</url>`),
    );
    expect(hostile?.alternates.length).toBe(1_000);
  });

  it.each([
    [
      'a prefix',
      `<sm:urlset xmlns:sm="${NS}"><sm:url><sm:loc>https://a.example/</sm:loc></sm:url></sm:urlset>`,
    ],
    ['a byte order mark and space', `\uFEFF\n ${urlset('<url><loc>https://a.example/</loc></url>')}`],
    [
      'comments and instructions',
      urlset('<!-- <url> --><?x <loc>?><url><!-- y --><loc>https://a.example/<!-- z --></loc></url>'),
    ],
    ['no namespace', '<urlset><url><loc>https://a.example/</loc></url></urlset>'],
    [
      'an external DTD, which nobody fetches',
      `<!DOCTYPE urlset SYSTEM "file:///etc/passwd">${urlset('<url><loc>https://a.example/</loc></url>')}`,
    ],
  ])('may have %s', (_, text) => {
    expect(read(text)).toEqual(['https://a.example/']);
  });

  it.each([
    ['<urlset/>', []],
    ['<urlset></urlset>', []],
  ])('%s is empty', (text, found) => {
    expect(read(text)).toEqual(found);
  });

  it('tells entries that cannot be used, and goes on', () => {
    const long = `https://a.example/${'x'.repeat(9_000)}`;
    const text = urlset(
      `<url></url><url><loc/></url><url><loc>${long}</loc></url><url><loc>https://a.example/\uFFFD</loc></url><url><loc>https://a.example/</loc></url>`,
    );
    expect(read(text)).toEqual([
      'an entry without <loc>',
      'an entry without <loc>',
      'a <loc> of more than 8192 characters',
      'a <loc> that is not in the encoding the file claims',
      'https://a.example/',
    ]);
  });

  it('that is cut off gives what was whole, and says so', () => {
    const whole = urlset(
      '<url><loc>https://a.example/1</loc></url><url><loc>https://a.example/2</loc></url>',
    );
    const cut = whole.slice(0, whole.indexOf('/2') + 1);
    expect(read(cut)).toEqual(['https://a.example/1', 'it ends in the middle']);
  });
});

describe('a text sitemap', () => {
  it('has a URL a line', () => {
    expect(read('\uFEFFhttps://a.example/1\r\n\r\n  https://a.example/2 \nnonsense\n')).toEqual([
      'https://a.example/1',
      'https://a.example/2',
      'nonsense',
    ]);
  });

  it.each([
    ['', 'it is empty'],
    ['\n \n', 'it is empty'],
    ['%PDF-1.7\n', 'neither XML nor a list of URLs'],
    ['{"error":"no"}', 'neither XML nor a list of URLs'],
  ])('%j is none', (text, reason) => {
    expect(read(text)).toEqual([expect.stringContaining(reason)]);
  });
});

describe('what is no sitemap', () => {
  it.each([
    ['<!DOCTYPE html><html><body>404</body></html>', 'an HTML page'],
    ['<html lang="en"><head></head></html>', 'an HTML page'],
    ['<rss version="2.0"><channel/></rss>', '"rss"'],
    ['<error>no</error>', '"error"'],
    ['<', 'no element'],
    ['<!-- only a comment -->', 'no element'],
    ['<?xml version="1.0"?>', 'no element'],
    ['<urlset', 'no element'],
    [
      `<!DOCTYPE z [<!ENTITY a "b">]>${urlset('<url><loc>https://a.example/&a;</loc></url>')}`,
      'entities of its own',
    ],
    [
      `<!DOCTYPE z [ <!ENTITY x SYSTEM "file:///etc/passwd"> ]><urlset><url><loc>&x;</loc></url></urlset>`,
      'entities of its own',
    ],
  ])('%s is refused', (text, reason) => {
    expect(read(text)).toEqual([expect.stringContaining(reason)]);
  });

  it('leaves entities that XML does not know as they are, however many', () => {
    const text = urlset(`<url><loc>https://a.example/&lol;&nbsp;</loc></url>`);
    expect(read(text)).toEqual(['https://a.example/&lol;&nbsp;']);
  });

  it('is bounded, whatever it nests, repeats or leaves open', () => {
    expect(read(`<urlset>${'<a>'.repeat(1_000_000)}`)).toEqual([
      expect.stringContaining('more than 32 deep'),
    ]);
    expect(read(`<urlset><url><loc>${'&amp;'.repeat(500_000)}</loc></url></urlset>`)).toEqual([
      'a <loc> of more than 8192 characters',
    ]);
    expect(read(`<urlset ${'a="b" '.repeat(300_000)}`)).toEqual(['it ends in the middle']);
    expect(read(`<urlset a="${'x'.repeat(2_000_000)}`)).toEqual(['it ends in the middle']);
    expect(read(`<urlset><!-- ${'-'.repeat(2_000_000)}`)).toEqual(['it ends in the middle']);
    expect(read(`<urlset><url><loc><![CDATA[${'<'.repeat(2_000_000)}`)).toEqual(['it ends in the middle']);
    expect(read(`<urlset>${'<url>'.repeat(5)}${'</url>'.repeat(1_000_000)}</urlset>`).length).toBeLessThan(
      10,
    );
  });
});
