/** Mistakes in sitemap and feed spiders are refused by name before the crawl. */
import { describe, expect, it } from 'vitest';
import type { Response } from '../../../src/http/message/response.js';
import { CSVFeedSpider } from '../../../src/spider/kinds/csv-feed-spider.js';
import { SitemapSpider } from '../../../src/spider/kinds/sitemap-spider.js';
import { XMLFeedSpider } from '../../../src/spider/kinds/xml-feed-spider.js';
import { spiderProblem } from '../../../src/spider/loading/spider-problems.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';

class Xml extends XMLFeedSpider {
  override parseNode() {}
}
class Csv extends CSVFeedSpider {
  override parseRow() {}
}

const problemOf = (Kind: SpiderClass, members: object = {}) =>
  spiderProblem(Object.assign(new Kind(), { name: 'kind' }, members));

describe('a sitemap or feed spider', () => {
  it.each<[SpiderClass, object, RegExp | null]>([
    [SitemapSpider, {}, null],
    [SitemapSpider, { sitemapRules: [{ allow: [/a/, 'b'], callback: 'parse' }], sitemapFollow: /x/ }, null],
    [SitemapSpider, { sitemapUrls: 'https://a.example/s.xml' }, /^sitemapUrls is of type string/],
    [
      SitemapSpider,
      { sitemapRules: [[/a/, 'parse']] },
      /^sitemapRules\[0\] is a list; give an object such as/,
    ],
    [SitemapSpider, { sitemapRules: [{ alow: /a/ }] }, /has the unknown field alow; did you mean allow\?/],
    [
      SitemapSpider,
      { sitemapRules: [{ callback: 'parsProduct' }] },
      /"parsProduct", is not a method of the spider/,
    ],
    [
      SitemapSpider,
      { sitemapRules: [{ callback: undefined }] },
      /is undefined: .* Leave callback out for parse/,
    ],
    [
      SitemapSpider,
      { sitemapRules: [{ allow: '(' }] },
      /^allow of sitemapRules\[0\]: Invalid regular expression/,
    ],
    [SitemapSpider, { sitemapFollow: [1] }, /^sitemapFollow holds a value of type number/],
    [SitemapSpider, { sitemap_rules: [] }, null],
    [SitemapSpider, { sitemap_rules: [{ alow: /a/ }] }, /^sitemapRules\[0\] has the unknown field alow/],
    [Spider, { sitemap_urls: [] }, /use sitemapUrls of a SitemapSpider/],
    [Xml, { processResults: () => [] }, null],
    [Spider, { processResults: () => [] }, /has processResults, which has no effect/],
    [XMLFeedSpider, {}, /^it has no method parseNode/],
    [Xml, { iterator: 'lxml' }, /^iterator is "lxml"; it must be one of iternodes, xml, html/],
    [Xml, { itertag: '' }, /^itertag is no name/],
    [Xml, { parse_node: () => {} }, /has parseNode and parse_node, which are the same/],
    [Csv, { headers: ['a'], delimiter: '\t' }, null],
    [CSVFeedSpider, {}, /^it has no method parseRow/],
    [Csv, { headers: 'a,b' }, /^headers is of type string; give a list/],
    [Csv, { delimiter: ', ' }, /^delimiter must be one character/],
    [Csv, { delimiter: '"' }, /^delimiter and quotechar are the same/],
  ])('%# %o', (Kind, members, problem) => {
    const found = problemOf(Kind, members);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });
});

describe('a feed spider with a parse() of its own', () => {
  class OwnXml extends Xml {
    override async *parse() {}
  }
  class OwnCsv extends Csv {
    override async *parse() {}
  }
  class Extended extends Xml {
    override async *parse(response: Response) {
      yield* super.parse(response);
    }
  }
  class Calls extends Xml {
    override async *parse() {
      yield this.parseNode();
    }
  }

  it.each([
    [OwnXml, 'the class OwnXml has a parse() of its own, so parseNode() is never called'],
    [OwnCsv, 'the class OwnCsv has a parse() of its own, so parseRow() is never called'],
  ])('is refused, with what to write: %o', (Kind, problem) => {
    expect(problemOf(Kind)).toContain(problem);
    expect(problemOf(Kind)).toContain('give it another name');
  });

  it('is accepted where parse() calls that of the base class, or the method for one record', () => {
    expect(problemOf(Extended)).toBeNull();
    expect(problemOf(Calls)).toBeNull();
  });
});
