// The demo's site as pure functions: a few bookshops that link to each other, the same on every run.
//
// A shop has `pages` pages: its home page, then `/book?n=…&shop=…`. Every page links to two further ones of its shop,
// so that all can be reached; the other links go to pages that are linked elsewhere too, in other shops as well, with
// the query in another order, twice, or with a fragment: work for the dupefilter.

const adjectives = [
  'Quiet',
  'Northern',
  'Lost',
  'Electric',
  'Paper',
  'Hidden',
  'Salt',
  'Distant',
  'Copper',
  'Slow',
];
const nouns = [
  'Harbour',
  'Machine',
  'Garden',
  'Winter',
  'Letter',
  'River',
  'Atlas',
  'Orchard',
  'Signal',
  'Weaver',
];
const extraLinks = 12;

/** What page `n` of a shop is about. */
export function book(shop, n) {
  const seed = shop * 101 + n * 7;
  return {
    title: `The ${adjectives[seed % 10]} ${nouns[Math.floor(seed / 10) % 10]}, volume ${n}`,
    price: (5 + ((seed * 37) % 4_000) / 100).toFixed(2),
  };
}

/** The canonical URL of a page: the home page is 0. */
export function pageUrl(origins, shop, n) {
  return n === 0 ? `${origins[shop]}/` : `${origins[shop]}/book?n=${n}&shop=${shop}`;
}

/** Which page a request is for: its number, or null when the site has no such page. */
export function pageOf(requestUrl, pages) {
  const url = new URL(requestUrl, 'http://site/');
  if (url.pathname === '/') return 0;
  const n = Number(url.searchParams.get('n'));
  return url.pathname === '/book' && Number.isInteger(n) && n > 0 && n < pages ? n : null;
}

/** The links of a page as they stand in its HTML. */
export function links(origins, shop, n, pages) {
  const children = [2 * n + 1, 2 * n + 2]
    .filter((child) => child < pages)
    .map((child) => pageUrl(origins, shop, child));
  const others = Array.from({ length: extraLinks }, (_, i) => {
    const target = (n * 13 + i * i * 7 + 3 * i + 1) % pages;
    const elsewhere = (shop + i) % origins.length;
    if (target === 0) return `${origins[elsewhere]}/#top`;
    return i % 3 === 0
      ? `${origins[elsewhere]}/book?shop=${elsewhere}&n=${target}#reviews`
      : pageUrl(origins, elsewhere, target);
  });
  return [...children, ...others];
}

/** The HTML of a page. */
export function html(origins, shop, n, pages) {
  const { title, price } = book(shop, n);
  const list = links(origins, shop, n, pages).map(
    (url) => `<li><a href="${url.replaceAll('&', '&amp;')}">see also</a></li>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body id="top">
<h1>${title}</h1>
<p>Shop ${shop + 1} sells it for <span class="price">${price}</span>.</p>
<ul>
${list.join('\n')}
</ul>
</body></html>
`;
}
