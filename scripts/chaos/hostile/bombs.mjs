/**
 * The bombs: their text, who reads it, and the reason under which the page fails; without one it is crawled. `noise` cannot be
 * compressed, and keeps the ratio below the limit of the downloader.
 */

const SIZE = 60_000_000;

const html = (part, first = '') => ({
  type: 'text/html',
  make: (noise) => `<!--${noise}-->${first}${repeated(part)}`,
});
const xml = (part, [open, close]) => ({
  type: 'application/xml',
  make: (noise) => `<?xml version="1.0"?><!--${noise}-->${open}${repeated(part)}${close}`,
});
const json = (part, last) => ({
  type: 'application/json',
  make: (noise) => `["${noise}",${repeated(part)}${last}`,
});
const csv = (part) => ({ isFeed: true, type: 'text/csv', make: (noise) => `a,${noise}\n${repeated(part)}` });

/** @param part a text, or what makes the nth one */
function repeated(part) {
  if (typeof part === 'string') return part.repeat(Math.ceil(SIZE / part.length));
  const parts = [];
  for (let n = 0, length = 0; length < SIZE; n++) {
    parts.push(part(n));
    length += parts[n].length;
  }
  return parts.join('');
}

/** Elements within 500 others: the HTML of all is a hundred times the page. */
const deep = (part, count) => ({
  type: 'text/html',
  make: (noise) => `<!--${noise}-->${'<div>'.repeat(500)}${part.repeat(count)}`,
});
const selectorCost = { expected: 'selector_cost' };

const feed = ['<rss><channel>', '</channel></rss>'];
const urlset = ['<urlset>', '</urlset>'];
const tooComplex = { expected: 'too_complex' };

export const bombs = [
  { name: '<b> nested', by: 'css', argument: 'h1::text', ...html('<b>'), ...tooComplex },
  { name: '<b> nested', by: 'xpath', argument: '//h1', ...html('<b>'), ...tooComplex },
  { name: '<b> nested', by: '$', argument: 'h1', ...html('<b>'), ...tooComplex },
  { name: '<b> nested', by: 'links', ...html('<b>') },
  { name: '<b> nested', by: 'links', ...html('<b>', '<base href=/>') },
  { name: '<i>x</i>', by: 'css', argument: 'i', ...html('<i>x</i>'), ...tooComplex },
  { name: '<p a b c>', by: 'xpath', argument: '//h1', ...html('<p a b c>'), ...tooComplex },
  { name: 'names of attributes', by: 'css', argument: 'p', ...html((n) => `<p a${n}>`), ...tooComplex },
  { name: 'attributes of one tag', by: 'css', argument: 'p', ...html((n) => `a${n} `, '<p ') },
  { name: 'names of elements', by: 'css', argument: 'p', ...html((n) => `<x${n}>`), ...tooComplex },
  { name: 'names of elements', by: 'links', ...html((n) => `<x${n}>`, '<base href=/>') },
  { name: '<!---->', by: 'css', argument: 'p', ...html('<!---->'), ...tooComplex },
  { name: '<?x?>', by: 'css', argument: 'p', ...html('<?x?>'), ...tooComplex },
  { name: 'text runs', by: 'css', argument: 'p', ...html('x</q>'), ...tooComplex },
  { name: 'links', by: 'links', ...html((n) => `<a href=${n}>`), ...tooComplex },
  {
    name: 'links after a base',
    by: 'links',
    ...html((n) => `<a href=${n}>`, '<base href=/>'),
    ...tooComplex,
  },
  { name: 'attributes', by: 'xpath', argument: '//p[@a]/@a', ...deep('<p a=b></p>', 240_000) },
  { name: 'nested', by: 'css', argument: 'div', ...deep('<p>x</p>', 120_000), ...selectorCost },
  {
    name: 'nested in many places',
    by: 'css',
    argument: 'div',
    ...deep(`${'</div>'.repeat(500)}${'<div>'.repeat(500)}x`, 700),
    ...selectorCost,
  },
  {
    name: 'nested',
    by: 'xpath',
    argument: '//div[contains(., "z")]',
    ...deep('xy<b></b>', 200_000),
    ...selectorCost,
  },
  { name: '&nbsp;', by: 'css', argument: 'p::text', ...html('&nbsp;', '<p>'), ...tooComplex },
  { name: '&lt;', by: 'html', argument: 'textarea', ...html('&lt;', '<textarea>'), ...tooComplex },
  { name: '&lt;', by: 'html', argument: 'p', ...html('&lt;', '<p>'), ...tooComplex },
  { name: '<', by: 'html', argument: 'p', ...html('< ', '<p>'), ...selectorCost },
  { name: '<', by: '$ html', argument: 'p', ...html('< ', '<p>'), ...selectorCost },
  { name: 'fields', by: 'form', ...html('<input name=a>', '<form>'), ...tooComplex },
  {
    name: 'options',
    by: 'form',
    ...html('<option selected>', '<form><select name=a multiple>'),
    ...tooComplex,
  },
  { name: '{},', by: 'json', ...json('{},', '0]'), ...tooComplex },
  { name: '[[[[', by: 'json', ...json('[', ''), ...tooComplex },
  { name: '{"a":{"a":', by: 'json', ...json('{"a":', ''), ...tooComplex },
  {
    name: 'just few enough deep lists',
    by: 'json',
    ...json(() => `${'['.repeat(1_499_000)}${']'.repeat(1_499_000)}${' '.repeat(SIZE)}`, ']'),
  },
  { name: 'names', by: 'json', ...json((n) => `${n === 0 ? '{' : ','}"a${n}":1`, '}]'), ...tooComplex },
  { name: 'a,', by: 'csv', ...csv('a,a,a,a\n'), ...tooComplex },
  { name: 'rows', by: 'csv', ...csv('a,b\n'), ...tooComplex },
  { name: 'empty rows', by: 'csv', ...csv('\n') },
  { name: 'items', by: 'feed', isFeed: true, ...xml('<item/>', feed), ...tooComplex },
  {
    name: 'deep items',
    by: 'feed',
    ...xml('<item/>', ['<a>'.repeat(500), '</a>'.repeat(500)]),
    ...tooComplex,
  },
  {
    name: 'one item',
    by: 'feed',
    isFeed: true,
    ...xml('<a/>', ['<rss><item>', '</item></rss>']),
    ...tooComplex,
  },
  {
    name: 'attributes of an item',
    by: 'feed',
    ...xml((n) => `a${n}="" `, ['<rss><item ', '/></rss>']),
    ...tooComplex,
  },
  { name: 'XML', by: 'css', argument: 'p', ...xml('<a>x</a>', feed), ...tooComplex },
  {
    name: 'namespaces',
    by: 'xpath',
    argument: '//a',
    ...xml((n) => `<a xmlns:b${n}="c"/>`, feed),
    ...tooComplex,
  },
  {
    name: 'just few enough namespaces',
    by: 'xpath',
    argument: '//a',
    ...xml(() => `${'<a xmlns:b="c"/>'.repeat(210_000)}${' '.repeat(SIZE)}`, feed),
  },
  { name: 'references of XML', by: 'css', argument: 'p', ...xml('&amp;', feed), ...tooComplex },
  {
    name: 'references of an attribute',
    by: 'css',
    argument: 'p',
    ...xml('&amp;', ['<p a="', '"/>']),
    ...tooComplex,
  },
  { name: 'other tags', by: 'sitemap', ...xml('<a/>', urlset), ...tooComplex },
  { name: 'attributes', by: 'sitemap', ...xml((n) => `a${n}="" `, ['<urlset ', '/>']), ...tooComplex },
];
