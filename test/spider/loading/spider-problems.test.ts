/** Members of a spider that would silently have no effect are refused by name, in any spelling. */
import { describe, expect, it } from 'vitest';
import { spiderProblem } from '../../../src/spider/loading/spider-problems.js';
import { CrawlSpider, type Rule } from '../../../src/spider/rules/crawl-spider.js';
import { LinkExtractor } from '../../../src/spider/rules/link-extractor.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';

const problemWith = (members: object, Base: SpiderClass = Spider) =>
  spiderProblem(Object.assign(new Base(), { name: 'old' }, members));

describe("a spider with members of Scrapy's", () => {
  it.each([
    ['start_requests', 'use start()'],
    ['startRequests', 'use start()'],
    ['start_urls', 'use startUrls'],
    ['startURLs', 'use startUrls'],
    ['allowed_domains', 'use allowedDomains'],
    ['handle_httpstatus_list', 'HTTPERROR_ALLOWED_CODES'],
    ['handleHttpstatusList', 'HTTPERROR_ALLOWED_CODES'],
    ['handleHttpStatusList', 'HTTPERROR_ALLOWED_CODES'],
    ['download_delay', 'DOWNLOAD_DELAY'],
    ['downloadDelay', 'DOWNLOAD_DELAY'],
    ['download_timeout', 'DOWNLOAD_TIMEOUT'],
    ['userAgent', 'USER_AGENT'],
    ['user_agent', 'USER_AGENT'],
    ['redisKey', 'REDIS_START_URLS_KEY'],
    ['redis_key', 'REDIS_START_URLS_KEY'],
    ['http_user', 'use httpUser'],
    ['http_pass', 'use httpPass'],
    ['httpAuthdomain', 'use httpAuthDomain'],
    ['make_request_from_data', 'use makeRequestFromData'],
    ['parse_start_url', 'use parseStartUrl'],
  ])('is refused: %s', (name, instead) => {
    const problem = problemWith({ [name]: [] });
    expect(problem).toContain(`has ${name}, which has no effect`);
    expect(problem).toContain(instead);
  });

  it('is refused also where they are methods or static members of a class', () => {
    class Methods extends Spider {
      *startRequests() {}
    }
    class Statics extends Spider {
      static custom_settings = {};
    }
    expect(spiderProblem(new Methods())).toContain('has startRequests');
    expect(spiderProblem(new Statics())).toContain('has custom_settings');
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
