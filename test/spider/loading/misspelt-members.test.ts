/** A member whose name is nearly that of a known one is pointed out, and no other. */
import { describe, expect, it } from 'vitest';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { CSVFeedSpider } from '../../../src/spider/kinds/csv-feed-spider.js';
import { misspeltMembers } from '../../../src/spider/loading/misspelt-members.js';
import { CrawlSpider } from '../../../src/spider/rules/crawl-spider.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';

const hints = (members: object, Base: SpiderClass = Spider) =>
  misspeltMembers(Object.assign(new Base(), { name: 'shop' }, members));
const method = () => {};

describe('a misspelt member', () => {
  it.each([
    ['alowedDomains', [], 'allowedDomains'],
    ['allowed_domain', [], 'allowedDomains'],
    ['custumSettings', {}, 'customSettings'],
    ['startUrl', 'http://a.example/', 'startUrls'],
    ['download_dealy', 2, 'download_delay'],
    ['strat', method, 'start'],
    ['clossed', method, 'closed'],
    ['makeRequestsFromData', method, 'makeRequestFromData'],
  ])('%s is pointed out', (name, value, meant) => {
    expect(hints({ [name]: value })).toEqual([
      `the spider shop has ${name}, which has no effect; did you mean ${meant}?`,
    ]);
  });

  it('is found among static members, and among those of one kind of spider', () => {
    class Shop extends Spider {
      static alowedDomains = [];
    }
    expect(misspeltMembers(new Shop())).toHaveLength(1);
    expect(hints({ delimeter: ';' }, CSVFeedSpider)).toHaveLength(1);
    expect(hints({ delimeter: ';' })).toEqual([]);
  });
});

it('a member of a purpose of its own is not', () => {
  const fields = { items: [], started: 1, stat: 1, pages: 1, close: true, _startUrl: 'x', loop: 1 };
  const methods = { parser: method, parseList: method, parseStartPage: method, isIdle: method };
  for (const Base of [Spider, CrawlSpider]) expect(hints({ ...fields, ...methods }, Base)).toEqual([]);
  // The author knows the member that the name is near to.
  expect(hints({ startUrl: 'http://a.example/', startUrls: ['http://a.example/'] })).toEqual([]);
  // These names of Scrapy count.
  expect(hints({ start_urls: [], download_delay: 1, allowed_domains: [] })).toEqual([]);
});

describe('a method that only another kind of spider calls', () => {
  class Plain extends Spider {
    override name = 'shop';
    parseStartUrl() {}
  }
  class Uses extends Spider {
    override name = 'shop';
    override *start() {
      yield new Request('http://a.example/', { callback: this.parseStartUrl });
    }
    parseStartUrl() {}
  }
  class UsesByName extends Spider {
    override name = 'shop';
    override *parse(response: Response) {
      yield response.follow('/a', 'parseStartUrl');
    }
    parseStartUrl() {}
  }

  it.each([
    ['parseStartUrl', Spider, 'CrawlSpider'],
    ['parseStartUrl', CSVFeedSpider, 'CrawlSpider'],
    ['parseNode', Spider, 'XMLFeedSpider'],
    ['parseRow', CrawlSpider, 'CSVFeedSpider'],
  ])('%s is pointed out', (name, Base, kind) => {
    expect(hints({ [name]: method }, Base)).toEqual([
      `the spider shop has ${name}, which only a ${kind} calls: extend ${kind}, or name ${name} as the callback of a request`,
    ]);
  });

  it('is pointed out in a class, unless the class names it elsewhere, as a callback', () => {
    expect(misspeltMembers(new Plain())).toHaveLength(1);
    expect(misspeltMembers(new Uses())).toEqual([]);
    expect(misspeltMembers(new UsesByName())).toEqual([]);
    expect(misspeltMembers(Object.assign(new CrawlSpider(), { parseStartUrl: method }))).toEqual([]);
  });
});

it('startRequest is taken for start', () => {
  expect(hints({ startRequest: method })).toContain(
    'the spider shop has startRequest, which has no effect; did you mean start?',
  );
});
