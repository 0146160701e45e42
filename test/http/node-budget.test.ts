/** What the body of a page may become: beyond DOWNLOAD_MAX_NODES it fails by name, in every reader. */
import { describe, expect, it } from 'vitest';
import { csvRows } from '../../src/http/csv-rows.js';
import { xmlElements } from '../../src/http/markup/xml-elements.js';
import { Request } from '../../src/http/message/request.js';
import { Response } from '../../src/http/message/response.js';
import { DEFAULT_MAX_NODES } from '../../src/http/node-budget.js';
import { readSitemap } from '../../src/http/sitemap/sitemap.js';
import { loadSettings } from '../../src/settings/sources/load-settings.js';

const page = (body: string, maxNodes: number, type = 'text/html') =>
  new Response({ url: 'http://a.example/', headers: { 'content-type': type }, body, maxNodes });

/** The code of the error; null for none. */
function codeOf(read: () => unknown): unknown {
  try {
    read();
    return null;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

it.each([
  ['plain', ''],
  ['odd', '<base href="/">'],
])('links are counted in %s HTML, two for a node, and the title is there all the same', (_, before) => {
  const html = (links: number) => `<title>t</title>${before}${'<a href=/x>'.repeat(links)}`;
  expect(page(html(8), 4).links()).toEqual(['http://a.example/x']);
  const response = page(html(9), 4);
  expect(codeOf(() => response.links())).toBe('too_complex');
  expect(response.css('title::text').get()).toBe('t');
  expect(page(html(9), 0).links()).toEqual(['http://a.example/x']);
});

it('a form of many megabytes is refused', () => {
  const form = (length: number) => `<form><input name=a value="${'x'.repeat(length)}">`;
  expect(codeOf(() => Request.fromForm(page(form(7_000_000), 10)))).toBeNull();
  expect(codeOf(() => Request.fromForm(page(form(8_000_000), 10)))).toBe('too_complex');
});

it('an XML attribute of many references is counted, two for a node', () => {
  const xml = (references: number) => `<r><p a="${'&amp;'.repeat(references)}"/></r>`;
  expect(codeOf(() => page(xml(10), 9, 'text/xml').css('p'))).toBeNull();
  expect(codeOf(() => page(xml(20), 9, 'text/xml').css('p'))).toBe('too_complex');
  expect(codeOf(() => [...xmlElements(xml(20), 'p', 9)])).toBe('too_complex');
});

it('character references of HTML are counted on a page that is long enough for too many, eight for a node', () => {
  const html = (references: number) => `<p>${'&lt;'.repeat(references)}${'x'.repeat(100)}`;
  expect(codeOf(() => page(html(64), 10).css('p'))).toBeNull();
  expect(codeOf(() => page(html(72), 10).css('p'))).toBe('too_complex');
});

it('the namespaces that XML declares are counted when xpath() looks at it', () => {
  const xml = (elements: number) => `<r>${'<a xmlns:b="c"/>'.repeat(elements)}</r>`;
  expect(codeOf(() => page(xml(10), 37, 'text/xml').xpath('//a'))).toBeNull();
  expect(codeOf(() => page(xml(11), 37, 'text/xml').xpath('//a'))).toBe('too_complex');
  expect(codeOf(() => page(xml(11), 37, 'text/xml').css('a'))).toBeNull();
});

it.each([
  ['texts', `<p>${'<'.repeat(2_100_000)}</p>`, 'text/html'],
  ['attributes', `<p a='${'"'.repeat(2_100_000)}'></p>`, 'text/html'],
  ['XML beyond ASCII', `<p>${'\u0434'.repeat(2_100_000)}</p>`, 'text/xml'],
])('the HTML of an element with too much to escape is not given: %s', (_, body, type) => {
  const response = page(body, 0, type);
  expect(codeOf(() => response.css('p').get())).toBe('selector_cost');
  expect(codeOf(() => response.css('p').re(/z/))).toBe('selector_cost');
  expect(codeOf(() => response.$('p').toString())).toBe('selector_cost');
  expect(codeOf(() => response.$.html())).toBe('selector_cost');
  const shorter = page(body.replaceAll(/(.)\1{9}/g, '$1'), 0, type);
  expect(codeOf(() => shorter.css('p').get())).toBeNull();
  expect(codeOf(() => shorter.$.html())).toBeNull();
});

it('the HTML of elements within each other is bounded, by re() too', () => {
  const response = page(`${'<div>'.repeat(100)}${'x'.repeat(1_000_000)}`, 1_000);
  expect(codeOf(() => response.css('div').getAll())).toBe('selector_cost');
  expect(codeOf(() => response.css('div').re(/z/))).toBe('selector_cost');
});

describe('the nodes of a page', () => {
  const html = 'text/html';
  const xml = 'application/xml';
  it.each([
    ['elements', '<b>'.repeat(10), html],
    ['attributes', `<p ${Array.from({ length: 9 }, (_, n) => `a${n}`).join(' ')}>`, html],
    ['texts', '<br>x'.repeat(5), html],
    ['parts of a text', `x${'</q>x'.repeat(9)}`, html],
    ['comments', '<!---->'.repeat(10), html],
    ['instructions', '<?x?>'.repeat(10), html],
    ['elements of XML', `<r>${'<b/>'.repeat(9)}</r>`, xml],
    ['attributes of XML', `<r ${Array.from({ length: 9 }, (_, n) => `a${n}=""`).join(' ')}/>`, xml],
    ['texts of XML', `<r>${'<b/>x'.repeat(4)}<c/></r>`, xml],
    ['comments of XML', `<r>${'<!--a-->'.repeat(9)}</r>`, xml],
    ['instructions of XML', `<r>${'<?a?>'.repeat(9)}</r>`, xml],
    ['CDATA of XML', `<r>${'<![CDATA[]]>'.repeat(4)}</r>`, xml],
  ])('are counted: %s', (_name, body, type) => {
    expect(codeOf(() => page(body, 10, type).css('x'))).toBeNull();
    expect(codeOf(() => page(body, 9, type).css('x'))).toBe('too_complex');
    expect(codeOf(() => page(body, 9, type).$('x'))).toBe('too_complex');
    expect(codeOf(() => page(body, 9, type).xpath('//x'))).toBe('too_complex');
    expect(codeOf(() => page(body, 0, type).css('x'))).toBeNull();
  });

  it('are shared by css() and xpath(), whose nodes count half, attributes only when they are looked at', () => {
    const body = '<p a b>'.repeat(10);
    const response = page(body, 40);
    expect(response.css('p').length).toBe(10);
    expect(response.xpath('//p').length).toBe(10);
    expect(codeOf(() => response.xpath('//p/@a'))).toBe('too_complex');
    expect(codeOf(() => page(body, 34).css('p').xpath('.//b'))).toBe('too_complex');
  });

  it('are counted for a form', () => {
    const response = page(`<form>${'<input name=a>'.repeat(10)}`, 10);
    expect(codeOf(() => Request.fromForm(response))).toBe('too_complex');
  });

  it('do not matter to links(), title::text and the text', () => {
    const response = page(`<title>T</title><base href=/x/>${'<a href=y>'.repeat(10)}`, 5);
    expect(codeOf(() => response.css('a'))).toBe('too_complex');
    expect(response.links()).toEqual(['http://a.example/x/y']);
    expect(response.css('title::text').get()).toBe('T');
    expect(response.urljoin('z')).toBe('http://a.example/x/z');
  });

  it('are by default as many as the setting says', () => {
    expect(loadSettings({ cwd: '/', env: {}, cli: {} }).settings.DOWNLOAD_MAX_NODES).toBe(DEFAULT_MAX_NODES);
    expect(page('', DEFAULT_MAX_NODES).maxNodes).toBe(new Response({ url: 'http://a.example/' }).maxNodes);
  });
});

describe('links() of a page that gives them a hard time', () => {
  it('finds them behind a million open elements, names and attributes', () => {
    const names = Array.from({ length: 200_000 }, (_, n) => `<x${n}>`).join('');
    const attributes = Array.from({ length: 200_000 }, (_, n) => `x${n}`).join(' ');
    for (const body of ['<b>'.repeat(1_000_000), names, `<p ${attributes}>`]) {
      expect(page(`<base href=/x/>${body}<a href=y>`, 1).links()).toEqual(['http://a.example/x/y']);
    }
  });
});

describe('texts of a page that gives them a hard time', () => {
  it('of millions of character references are decoded in parts, as they are at once', () => {
    const references = '&amp;&lt;x&#65;&copy&notin;'.repeat(30_000);
    const decoded = '&<xA\u00a9\u2209'.repeat(30_000);
    const response = page(`<title>${references}</title><p a="${references}">${references}`, 0);
    expect(response.css('title::text').get()).toBe(decoded);
    expect(response.css('p::text').get()).toBe(decoded);
    expect(response.css('p').attr('a')).toBe('&<xA\u00a9\u2209'.repeat(30_000));
  });

  it('of millions of line breaks and NUL are read in parts, as they are at once', () => {
    const lines = `x\r\n\r\0\n${'y'.repeat(7)}`.repeat(30_000);
    const response = page(`<p>${'x'.repeat(2_000)}${lines}`, 0);
    const expected = `${'x'.repeat(2_000)}${lines.replace(/\r\n?/g, '\n').replaceAll('\0', '')}`;
    expect(response.css('p::text').get()).toBe(expected);
  });

  it('are not given for elements within each other that are far longer than the page', () => {
    const response = page('<b>'.repeat(500) + 'x'.repeat(200_000), 0);
    expect(codeOf(() => response.css('b').getAll())).toBe('selector_cost');
    expect(response.css('b').get()?.length).toBe(200_000 + 500 * '<b></b>'.length);
  });

  it('within each other are not looked through once for each of them', () => {
    const response = page('<div>'.repeat(500) + '<i></i>'.repeat(100_000), 0);
    const each = (selector: string) =>
      codeOf(() => response.css('div').map((one) => one.css(selector).length));
    expect(each('b::text')).toBe('selector_cost');
    expect(each('i')).toBe('selector_cost');
    const { $ } = response;
    expect(codeOf(() => $('div').each((_, one) => void $(one).find('b')))).toBe('selector_cost');
    const flat = page('<i></i>'.repeat(100_000), 0);
    expect(flat.css('i').map((one) => one.css('i').length)).toHaveLength(100_000);
  });
});

describe('values', () => {
  it('of JSON are counted, but not what is within strings', () => {
    const json = (body: string) => page(body, 2, 'application/json').json();
    expect(json(`[{},1,2,3,${' '.repeat(20)}4]`)).toEqual([{}, 1, 2, 3, 4]);
    expect(codeOf(() => json(`[{},1,2,3,${' '.repeat(20)}4,5]`))).toBe('too_complex');
    expect(json(`[[[{}]]]${' '.repeat(20)}`)).toEqual([[[{}]]]);
    expect(codeOf(() => json(`[[[[[]]]]]${' '.repeat(20)}`))).toBe('too_complex');
    const text = '[[[[{,:"\\\\[[[,,,';
    expect(json(JSON.stringify([text, `${text}\\`, '\\'.repeat(20)]))).toHaveLength(3);
  });

  it('of JSON are names too, where each occurs only once, but not the many names of one object', () => {
    const json = (value: unknown, maxNodes: number) =>
      page(JSON.stringify(value), maxNodes, 'application/json').json();
    const rows = (nameOf: (row: number, column: string) => string) =>
      Array.from({ length: 100 }, (_, row) => ({ [nameOf(row, 'a')]: 1, [nameOf(row, 'b')]: 2 }));
    expect(
      json(
        rows((_, column) => column),
        200,
      ),
    ).toHaveLength(100);
    const own = rows((row, column) => `${column}\\"${row}`);
    expect(codeOf(() => json(own, 200))).toBe('too_complex');
    expect(json(own, 600)).toHaveLength(100);
    const table = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`id${n}`, n]));
    expect(json(table, 800)).toEqual(table);
  });

  it('of CSV are the fields', async () => {
    const read = async (text: string) => {
      const rows: string[][] = [];
      for await (const row of csvRows(text, { delimiter: ',', quotechar: '"' }, 2)) rows.push(row);
      return rows;
    };
    await expect(read('a,b\nc,d\ne,f\ng,h\n')).resolves.toHaveLength(4);
    await expect(read('a,b\nc,d\ne,f\ng,h\ni\n')).rejects.toMatchObject({ code: 'too_complex' });
  });

  it('of a sitemap are its tags, attributes and texts', () => {
    const sitemap = (urls: number) =>
      `<urlset>${'<url><loc>http://a.example/</loc></url>'.repeat(urls)}</urlset>`;
    expect([...readSitemap(sitemap(2), 2)]).toHaveLength(2);
    expect(codeOf(() => [...readSitemap(sitemap(3), 2)])).toBe('too_complex');
  });

  it('of a feed are its elements, with those around each, and one element has as many nodes as a page', () => {
    const feed = (items: number, inside = '') => `<a><b>${`<i>${inside}</i>`.repeat(items)}</b></a>`;
    const read = (text: string, maxNodes: number) => [...xmlElements(text, 'i', maxNodes)].length;
    expect(read(feed(10), 8)).toBe(10);
    expect(codeOf(() => read(feed(11), 8))).toBe('too_complex');
    expect(codeOf(() => read(feed(1, '<j/>'.repeat(8)), 8))).toBe('too_complex');
    expect(read(feed(2, '<j/>'.repeat(7)), 8)).toBe(2);
  });
});
