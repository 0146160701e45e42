/** Members of a spider that would silently have no effect are refused by name, in any spelling. */
import { describe, expect, it } from 'vitest';
import { Request } from '../../../src/http/message/request.js';
import { spiderProblem, withoutParse } from '../../../src/spider/loading/spider-problems.js';
import { CrawlSpider, type Rule } from '../../../src/spider/rules/crawl-spider.js';
import { LinkExtractor } from '../../../src/spider/rules/link-extractor.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';

const problemWith = (members: object, Base: SpiderClass = Spider) =>
  spiderProblem(Object.assign(new Base(), { name: 'old' }, members));

describe("a spider with members of Scrapy's", () => {
  it.each([
    ['process_results', 'use an item pipeline'],
    ['processResults', 'use an item pipeline'],
    ['from_crawler', 'use this.settings'],
    ['handle_httpstatus_all', 'HTTPERROR_ALLOW_ALL'],
    ['parse_start_url', 'use parseStartUrl of a CrawlSpider'],
    ['make_requests_from_url', 'use start()'],
    ['spiderOpened', 'use opened()'],
    ['spider_idle', 'use idle()'],
    ['sitemap_urls', 'of a SitemapSpider'],
    ['updateSettings', 'use customSettings'],
    ['redis_encoding', 'use UTF-8'],
  ])('that have no clear meaning is refused: %s', (name, instead) => {
    const problem = problemWith({ [name]: [] });
    expect(problem).toContain(`has ${name}, which has no effect`);
    expect(problem).toContain(instead);
  });

  it('is refused also where they are methods or static members of a class', () => {
    class Methods extends Spider {
      *spiderOpened() {}
    }
    class Statics extends Spider {
      static from_crawler() {}
    }
    expect(spiderProblem(new Methods())).toContain('has spiderOpened');
    expect(spiderProblem(new Statics())).toContain('has from_crawler');
  });

  it('may have fields of its own', () => {
    expect(problemWith({ _start_urls: [], pages: 3, userName: 'x', delay: 1 })).toBeNull();
  });

  it('is refused where startUrls is a text', () => {
    expect(problemWith({ startUrls: 'http://a.example/' })).toContain(
      'startUrls is a text; give a list: startUrls = ["http://a.example/"]',
    );
  });
});

describe('a rule', () => {
  const withRules = (...rules: unknown[]) => problemWith({ rules: rules as Rule[] }, CrawlSpider);

  it('with an unknown field is refused, with the field that was meant', () => {
    expect(withRules({ restrictCss: 'nav' })).toBe(
      'rules[0] has the unknown field restrictCss: use selector',
    );
    expect(withRules({ allow: /a/ }, { restrict_css: 'nav' })).toContain(
      'rules[1] has the unknown field restrict_css',
    );
    expect(withRules({ alow: /a/ })).toContain('did you mean allow?');
    expect(withRules({ linkExtractor: {} })).toContain('linkExtractor of rules[0] is no LinkExtractor');
    expect(withRules({ linkExtractor: new LinkExtractor(), allow: /a/ })).toContain(
      'has linkExtractor and allow',
    );
    expect(withRules({ errback: 'parseErors' })).toContain(
      'the errback of rules[0], "parseErors", is not a method',
    );
    expect(withRules({ processLinks: 'tidy' })).toContain('processLinks of rules[0] is no function');
    expect(withRules({ tags: 'x' })).toContain('the fields are allow, deny, selector');
  });

  it('whose callback is no method is refused at once, not page by page', () => {
    expect(withRules({ callback: 'parsItem' })).toContain('"parsItem", is not a method of the spider');
    expect(withRules({ callback: undefined })).toContain('is undefined: is its name misspelt?');
    expect(withRules({ callback: 3 })).toContain('is of type number');
    expect(withRules({ callback: 'parse' }, { callback: () => [] }, { allow: /a/, follow: true })).toBeNull();
  });

  it('of a spider that follows no rules is refused', () => {
    expect(problemWith({ rules: [{ allow: /a/ }] })).toContain('extend CrawlSpider');
    expect(problemWith({ rules: ['my own', 'rules'] })).toBeNull();
    expect(problemWith({ rules: { allow: /a/ } }, CrawlSpider)).toBe(
      'rules is an object; give a list of rules',
    );
    expect(withRules(/a/)).toContain('rules[0] is a regular expression');
  });
});

describe('fingerprint() of a spider', () => {
  it('is refused where it is async, with what to do', () => {
    expect(problemWith({ fingerprint: async () => 'a' })).toMatch(
      /^fingerprint\(\) is async, but its value is needed at once: .*node:crypto/,
    );
    expect(problemWith({ *fingerprint() {} })).toMatch(/^fingerprint\(\) is a generator/);
    expect(problemWith({ fingerprint: () => 'a' })).toBeNull();
  });
});

describe('a spider without parse', () => {
  const sentence = 'the spider shop has no method parse, which seeds need that name no other callback';

  it('is pointed out where seeds would need it', () => {
    class Seeds extends Spider {
      override name = 'shop';
    }
    class Own extends Seeds {
      override makeRequestFromData(url: string) {
        return new Request(url, { callback: 'parsePage' });
      }
    }
    expect(withoutParse(new Seeds())).toEqual([sentence]);
    expect(withoutParse(new Own())).toEqual([]);
  });
});
