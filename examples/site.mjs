/**
 * A small site for the examples: quotes on numbered pages, a login, a JSON API, a shop with a sitemap, news that grow.
 *
 *     node site.mjs 8000
 */
import { once } from 'node:events';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const authors = [
  { name: 'Ada Byron', born: 'London' },
  { name: 'Lu Xun', born: 'Shaoxing' },
  { name: 'Mary Shelley', born: 'London' },
];
const quotes = Array.from({ length: 9 }, (_, n) => ({
  text: `“Thought number ${n + 1} & more”`,
  author: authors[n % 3].name,
  tags: n % 2 === 0 ? ['life', 'work'] : ['love'],
}));
const products = Array.from({ length: 12 }, (_, n) => ({
  id: n + 1,
  name: `Lamp ${n + 1}`,
  price: 10 + n,
  category: ['desk', 'floor', 'wall'][n % 3],
}));
const PER_PAGE = 3;
const CSRF = 'token-1';

/** @returns the site's URL without a slash, a way to let its news grow, and a way to stop it. */
export async function startExampleSite(port = 0) {
  let news = 3;
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, origin);
    const answer = pageOf(url, request, await bodyOf(request), { origin, news });
    const { status = 200, type = 'text/html; charset=utf-8', headers = {}, body = '' } = answer;
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    addNews: (count) => {
      news += count;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function pageOf(url, request, body, { origin, news }) {
  const { pathname: path, searchParams } = url;
  const isKnown = /session=me/.test(request.headers.cookie ?? '');
  const page = Number(/^\/page\/(\d+)\/$/.exec(path)?.[1] ?? (path === '/' ? 1 : 0));
  if (page > 0) return html(quotesPage(page, isKnown));
  if (path === '/login') return login(request.method, new URLSearchParams(body));
  if (path === '/account') return isKnown ? html('<p class="secret">42</p>') : { status: 403 };
  const author = authors.find(({ name }) => path === `/author/${slug(name)}`);
  if (author) return html(`<h3>${author.name}</h3><span class="born">${author.born}</span>`);
  if (path === '/api/quotes') return json(slice(quotes, Number(searchParams.get('page') ?? 1), 'quotes'));
  if (path === '/api/search' && request.method === 'POST') return json(search(JSON.parse(body)));
  if (path === '/products') return html(productsPage(Number(searchParams.get('page') ?? 1)));
  const product = products.find(({ id }) => path === `/product/${id}`);
  if (product) return html(`<h1>${product.name}</h1><p class="price">£${product.price}.00</p>`);
  if (path === '/shop')
    return html(['desk', 'floor', 'wall'].map((name) => link(`/category/${name}`, name)).join(' '));
  const inCategory = products.filter(({ category }) => path === `/category/${category}`);
  if (inCategory.length > 0)
    return html(inCategory.map(({ id, name }) => link(`/product/${id}`, name)).join(' '));
  if (path === '/links') return html(['/product/1', '/gone', '/broken'].map((to) => link(to, to)).join(' '));
  if (path === '/gone') return { status: 404, body: '<h1>Gone</h1>' };
  if (path === '/broken') return { status: 500 };
  if (path === '/news/')
    return html(Array.from({ length: news }, (_, n) => link(`/news/${n + 1}`, `News ${n + 1}`)).join(' '));
  if (/^\/news\/\d+$/.test(path)) return html(`<h1>News ${path.slice(6)}</h1>`);
  return sitemaps(path, origin) ?? { status: 404 };
}

function quotesPage(page, isKnown) {
  const { quotes: shown, has_next: hasNext } = slice(quotes, page, 'quotes');
  const blocks = shown.map(
    ({ text, author, tags }) => `<div class="quote"><span class="text">${escaped(text)}</span>
      <small class="author">${author}</small> ${link(`/author/${slug(author)}`, '(about)', 'about')}
      ${tags.map((tag) => `<a class="tag" href="/tag/${tag}/">${tag}</a>`).join(' ')}</div>`,
  );
  const next = hasNext ? `<ul><li class="next">${link(`/page/${page + 1}/`, 'Next')}</li></ul>` : '';
  return `${isKnown ? link('/account', 'Account', 'account') : link('/login', 'Login')}${blocks.join('')}${next}`;
}

function login(method, form) {
  if (method !== 'POST') {
    return html(`<form action="/login" method="post"><input type="hidden" name="csrf_token" value="${CSRF}">
      <input name="username"><input type="password" name="password"><input type="submit" value="Login"></form>`);
  }
  const isRight = form.get('csrf_token') === CSRF && form.get('password') === 'secret';
  const headers = isRight ? { location: '/', 'set-cookie': 'session=me; Path=/' } : { location: '/login' };
  return { status: 302, headers };
}

function productsPage(page) {
  const shown = products.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const rows = shown.map(
    ({ id, name, category }) =>
      `<li class="product" data-category="${category}">${link(`/product/${id}`, name)}</li>`,
  );
  return `<p class="pages">Page ${page} of ${Math.ceil(products.length / PER_PAGE)}</p><ul>${rows.join('')}</ul>`;
}

function search({ query, page = 1 }) {
  const found = products.filter(({ category }) => category === query);
  return slice(found, page, 'results');
}

function sitemaps(path, origin) {
  const xml = (root, entry, urls) =>
    `<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls
      .map(([url, date]) => `<${entry}><loc>${origin}${url}</loc><lastmod>${date}</lastmod></${entry}>`)
      .join('')}</${root}>`;
  const type = 'application/xml';
  if (path === '/robots.txt') {
    return {
      type: 'text/plain',
      body: `User-agent: *\nDisallow: /private\nSitemap: ${origin}/sitemap.xml\n`,
    };
  }
  if (path === '/sitemap.xml') {
    const body = xml('sitemapindex', 'sitemap', [
      ['/sitemap-products.xml.gz', '2026-11-01'],
      ['/sitemap-pages.xml', '2026-11-01'],
    ]);
    return { type, body };
  }
  if (path === '/sitemap-products.xml.gz') {
    const urls = products.map(({ id }) => [`/product/${id}`, id > 4 ? '2026-10-01' : '2020-01-01']);
    return { type: 'application/gzip', body: gzipSync(xml('urlset', 'url', urls)) };
  }
  if (path === '/sitemap-pages.xml')
    return {
      type,
      body: xml('urlset', 'url', [
        ['/', '2026-11-01'],
        ['/shop', '2026-11-01'],
      ]),
    };
  return null;
}

function slice(list, page, name) {
  return {
    [name]: list.slice((page - 1) * PER_PAGE, page * PER_PAGE),
    has_next: page * PER_PAGE < list.length,
    page,
  };
}

const html = (body) => ({ body: `<html><body>${body}</body></html>` });
const json = (value) => ({ type: 'application/json', body: JSON.stringify(value) });
const link = (href, text, name = '') => `<a${name && ` class="${name}"`} href="${href}">${text}</a>`;
const escaped = (text) => text.replaceAll('&', '&amp;');
const slug = (name) => name.replaceAll(' ', '-');

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 8000);
  try {
    console.log((await startExampleSite(port)).origin);
  } catch (error) {
    console.error(`the site cannot listen on port ${port}: ${error.message}; give another port`);
    process.exitCode = 1;
  }
}
