/** How far a sitemap is followed, and where it may not lead. */
import { expect, it } from 'vitest';
import type { SeedText } from '../../../src/crawler/seeds/seed-text.js';
import { SitemapSeeds } from '../../../src/crawler/seeds/sitemap-seeds.js';
import { isPrivateHost } from '../../../src/http/url/private-hosts.js';

/** The site is a function, as no public address can be served here. */
async function read(
  files: (url: string) => string | Buffer,
  source = 'https://public.example/sitemap.xml',
  allowPrivate = false,
): Promise<{ taken: string[]; bad: string[]; unread: string[]; asked: string[] }> {
  const asked: string[] = [];
  const unread: string[] = [];
  const seeds = new SitemapSeeds({
    fetch: async (url, trust) => {
      asked.push(url);
      const leadsToPrivate = trust === 'trusted' && isPrivateHost(url);
      return { body: Buffer.from(files(url) as string), contentType: 'application/xml', leadsToPrivate };
    },
    sinceMs: null,
    allowPrivate,
    onsite: null,
    delayMs: 0,
    onUnread: (file, reason) => unread.push(`${file}: ${reason}`),
  });
  const lines: SeedText[] = [];
  for await (const line of seeds.lines(source, new AbortController().signal)) lines.push(line);
  const bad = lines.flatMap(({ problem }) => problem ?? []);
  return {
    taken: lines.filter(({ problem }) => problem === undefined).map(({ text }) => text),
    bad,
    unread,
    asked,
  };
}

const list = (tag: string, locs: readonly string[]) =>
  locs.map((loc) => `<${tag}><loc>${loc}</loc></${tag}>`).join('');
const urlset = (...locs: string[]) => `<urlset>${list('url', locs)}</urlset>`;
const index = (...locs: string[]) => `<sitemapindex>${list('sitemap', locs)}</sitemapindex>`;

const inside = [
  'http://169.254.169.254/latest/meta-data',
  'http://localhost:6379/',
  'http://[::ffff:10.0.0.1]/',
  'http://0x7f.1/',
];

it('a public sitemap leads to no private address, neither as a page nor as a further sitemap', async () => {
  const pages = await read(() => urlset(...inside, 'https://public.example/'));
  expect(pages.taken).toEqual(['https://public.example/']);
  expect(pages.bad).toHaveLength(inside.length);
  expect(pages.bad[0]).toContain('a private address, which a public site may not name');
  const sitemaps = await read((url) =>
    url.endsWith('sitemap.xml') ? index(...inside) : urlset('https://a.example/'),
  );
  expect(sitemaps).toMatchObject({ taken: [], asked: ['https://public.example/sitemap.xml'] });
  expect(sitemaps.bad).toHaveLength(inside.length);
});

it('one on a private address may, and so may any where ALLOW_PRIVATE_ADDRESSES says so', async () => {
  expect((await read(() => urlset(...inside), 'http://127.0.0.1/sitemap.xml')).taken).toEqual(inside);
  expect((await read(() => urlset(...inside), undefined, true)).taken).toEqual(inside);
});

it('indexes that name each other or nest for ever come to an end', async () => {
  const circle = await read((url) =>
    url.includes('b.xml')
      ? index('/sitemap.xml', '/c.xml')
      : url.includes('c.xml')
        ? urlset('/1')
        : index('/b.xml', '/b.xml'),
  );
  expect(circle).toMatchObject({ taken: ['https://public.example/1'], unread: [] });
  expect(circle.asked).toHaveLength(3);
  let n = 0;
  const deep = await read(() => index(`/${n++}.xml`));
  expect(deep.asked).toHaveLength(4);
  expect(deep.unread).toEqual([expect.stringContaining('an index within 3 others')]);
});

it('of a sitemap with far more entries than the protocol allows the first are taken', async () => {
  const { taken, unread } = await read(() => urlset(...Array.from({ length: 100_010 }, (_, i) => `/${i}`)));
  expect(taken).toHaveLength(100_000);
  expect(unread).toEqual([
    expect.stringContaining('more than 100000 entries (its first 100000 entries are taken)'),
  ]);
});

it('is read in the encoding it claims, by its mark or its declaration', async () => {
  const text = urlset('https://a.example/ü');
  for (const bytes of [
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`, 'latin1'),
    Buffer.from(text),
  ]) {
    expect((await read(() => bytes)).taken).toEqual(['https://a.example/ü']);
  }
  expect((await read(() => Buffer.from(text, 'latin1'))).bad).toEqual([
    'a <loc> that is not in the encoding the file claims',
  ]);
});
