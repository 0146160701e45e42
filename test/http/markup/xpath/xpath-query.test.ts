/** XPath on pages: what it finds, and how it mixes with CSS. */
import { Request, Response } from 'crawlnode';
import { describe, expect, it, vi } from 'vitest';

function page(body: string, contentType = 'text/html; charset=utf-8'): Response {
  const url = 'https://example.org/list';
  const headers = { 'content-type': contentType };
  return new Response({ url, status: 200, headers, body: Buffer.from(body), request: new Request(url) });
}

const html = page(`<!doctype html><html><body>
  <div id="images" class="gallery wide">
    <a href="image1.html" title="one">Name: My image 1 <br><img src="image1_thumb.jpg"></a>
    <a href="image2.html">Name: My image 2 <br><img src="image2_thumb.jpg"></a>
  </div>
  <p>outside <b>bold</b> tail</p><!-- a note -->
</body></html>`);

function attributes(count: number): string {
  return Array.from({ length: count }, (_, n) => `a${n}=b`).join(' ');
}

/** A text within 500 elements, in parts. */
function deepText(length: number): string {
  return `<p></p>${'<div>a'.repeat(500)}${'y'.repeat(length)}`;
}

describe('xpath()', () => {
  it.each([
    ['//a/@href', ['image1.html', 'image2.html']],
    ['//a[2]/@href', ['image2.html']],
    ['//a[contains(@href, "image1")]/text()', ['Name: My image 1 ']],
    ['//p/b/text() | //a/@title', ['one', 'bold']],
    ['//p//text()', ['outside ', 'bold', ' tail']],
    ['string(//p)', ['outside bold tail']],
    ['normalize-space(//a[1])', ['Name: My image 1']],
    ['count(//img)', ['2']],
    ['boolean(//video)', ['0']],
    ['//img[last()]/@src', ['image1_thumb.jpg', 'image2_thumb.jpg']],
    ['(//img)[last()]/@src', ['image2_thumb.jpg']],
    ['//b/following-sibling::text()', [' tail']],
    ['//b/ancestor::*/local-name()', null],
    ['//div[has-class("wide", "gallery")]/@id', ['images']],
    ['//div[has-class("wid")]/@id', []],
    ['//a[re:test(@href, "image\\d\\.HTML$", "i")]/@href', ['image1.html', 'image2.html']],
    ['//comment()', ['<!-- a note -->']],
    ['//b', ['<b>bold</b>']],
    ['//DIV', []],
    ['id("images")/a[1]/@title', ['one']],
    ['id("image1.html")', []],
    ['body/p/b', ['<b>bold</b>']],
    ['local-name(.)', ['html']],
    ['html', []],
    ['//img/@src/../../@title', ['one']],
    ['//@id[ancestor::body]', ['images']],
    ['translate(//b, "bold", "BO")', ['BO']],
    ['//p[normalize-space()="outside bold tail"]/b/text()', ['bold']],
  ])('%s', (expression, expected) => {
    if (expected === null) expect(() => html.xpath(expression)).toThrow('is not valid');
    else expect(html.xpath(expression).getAll()).toEqual(expected);
  });

  it('takes values for its variables', () => {
    expect(html.xpath('//a[@href=$href]/@title', { href: 'image1.html' }).get()).toBe('one');
    expect(() => html.xpath('//a[@href=$href]')).toThrow('the variable $href has no value');
  });

  it('begins at an element within a list, and at the document with //, as in Scrapy', () => {
    const [first] = html.css('a');
    expect(first!.xpath('./img/@src').get()).toBe('image1_thumb.jpg');
    expect(first!.xpath('.//img/@src').getAll()).toEqual(['image1_thumb.jpg']);
    expect(first!.xpath('//img/@src').getAll()).toHaveLength(2);
    expect(html.xpath('//div').css('a::attr(href)').getAll()).toEqual(['image1.html', 'image2.html']);
  });

  it('knows languages', () => {
    const text = '<p xml:lang="en-GB">hello</p><p>hallo</p>';
    expect(page(text).xpath('//p[lang("en")]/text()').getAll()).toEqual(['hello']);
  });

  it('gives requests their links', () => {
    const urls = html.followAll(html.xpath('//div/a')).map(({ url }) => url);
    expect(urls).toEqual(['https://example.org/image1.html', 'https://example.org/image2.html']);
  });

  it('is empty on a body that is not markup', () => {
    expect(page('{"a": 1}', 'application/json').xpath('//a')).toHaveLength(0);
  });

  it.each(['//a[', '', '//a[unknown()]', '//x:a', '//a[@href=$missing]'])(
    'refuses %j by name',
    (expression) => {
      expect(() => html.xpath(expression)).toThrow(
        expect.objectContaining({
          code: 'usage',
          message: expect.stringContaining(JSON.stringify(expression)),
        }),
      );
    },
  );

  it.each([
    ['attributes of one element', `<p ${attributes(60_000)}>`, '//@*', 60_000],
    ['attributes of many elements', '<p a=b></p>'.repeat(60_000), '//p[@a]/@a', 60_000],
    ['a million spaces', `<p>${'x  '.repeat(500_000)}`, 'string-length(normalize-space(//p))', 1],
  ])('takes time linear in the number of %s', (_, body, expression, found) => {
    expect(page(body).xpath(expression).length).toBe(found);
  });

  it.each([
    ['the siblings of each element', '<p></p>'.repeat(10_000), '//p/preceding-sibling::p'],
    ['the ancestors of each element', '<div>'.repeat(500) + '<p></p>'.repeat(10_000), '//p[ancestor::x]'],
    ['a long text in each of the elements around it', deepText(10_000_000), '//div[contains(., "z")]'],
    ['attributes with each other', `<p ${attributes(10_000)}>`, '//@*[. = //@id]'],
    ['a million matches', `<p>${'x'.repeat(1_500_000)}`, 're:replace(//p, "x", "g", "yy")'],
  ])('stops an expression that looks at %s', (_, body, expression) => {
    const response = page(body);
    expect(() => response.xpath(expression)).toThrow(expect.objectContaining({ code: 'selector_cost' }));
    expect(response.xpath('count(//p)').get()).not.toBe('0');
  });

  it('looks for a class in millions of them without taking them apart', () => {
    const split = vi.spyOn(String.prototype, 'split');
    const response = page(`<p class="${'ab '.repeat(100_000)}c">x</p><p class="abc">y</p>`);
    expect(response.xpath('//p[has-class("c", "ab")]/text()').getAll()).toEqual(['x']);
    expect(response.xpath('//p[has-class("b")]')).toHaveLength(0);
    expect(split.mock.contexts.filter((text) => String(text).length > 100_000)).toEqual([]);
    split.mockRestore();
    const within = page(`<div class="${'ab '.repeat(1_000_000)}">${'<i></i>'.repeat(1_000)}</div>`);
    expect(() => within.xpath('//i[ancestor::div[has-class("b")]]')).toThrow(
      expect.objectContaining({ code: 'selector_cost' }),
    );
  });

  it('refuses the axes following:: and preceding::, with the way around', () => {
    expect(() => html.xpath('//h1/following::p')).toThrow('following-sibling::*/descendant-or-self::p');
    const instead = '//b/ancestor-or-self::*/preceding-sibling::*/descendant-or-self::img/@src';
    expect(html.xpath(instead).getAll()).toEqual(['image1_thumb.jpg', 'image2_thumb.jpg']);
    expect(html.xpath('//p[contains(., "following::")]')).toHaveLength(0);
  });

  it('stops an expression that a page makes too costly', () => {
    const wide = page('<p>x</p>'.repeat(3_000));
    expect(() => wide.xpath('//p[count(following-sibling::p) > 5]')).toThrow(
      expect.objectContaining({ code: 'selector_cost' }),
    );
    expect(wide.xpath('//p')).toHaveLength(3_000);
  });
});

describe('xpath() on XML', () => {
  const feed = page(
    `<?xml version="1.0"?><rss xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://example.org/rss"><channel>
     <item><title><![CDATA[One & only]]></title><media:content url="a.jpg"/></item></channel></rss>`,
    'application/rss+xml',
  );

  it.each([
    ['//item/title/text()', ['One & only']],
    ['//media:content/@url', ['a.jpg']],
    ['//content/@url', []],
  ])('%s', (expression, expected) => {
    expect(feed.xpath(expression).getAll()).toEqual(expected);
  });
});
