/** Members that a spider has under names of Scrapy count where their meaning is clear. */
import { describe, expect, it } from 'vitest';
import { SitemapSpider } from '../../../src/spider/kinds/sitemap-spider.js';
import { adoptScrapyMembers, memberSettings } from '../../../src/spider/loading/scrapy-members.js';
import { spiderProblem } from '../../../src/spider/loading/spider-problems.js';
import { CrawlSpider } from '../../../src/spider/rules/crawl-spider.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';

const spiderWith = (members: object, Base: SpiderClass = Spider) =>
  Object.assign(new Base(), { name: 'old' }, members);
const adopted = (members: object, Base?: SpiderClass) => {
  const spider = spiderWith(members, Base);
  expect(adoptScrapyMembers(spider)).toBeNull();
  return spider as unknown as Record<string, unknown>;
};

describe('a member of crawlnode', () => {
  it.each([
    ['start_urls', 'startUrls', ['http://a.example/']],
    ['startURLs', 'startUrls', ['http://a.example/']],
    ['allowed_domains', 'allowedDomains', ['a.example']],
    ['custom_settings', 'customSettings', { DOWNLOAD_DELAY: 1 }],
    ['http_user', 'httpUser', 'me'],
    ['http_pass', 'httpPass', 'secret'],
    ['http_auth_domain', 'httpAuthDomain', 'a.example'],
    ['httpAuthdomain', 'httpAuthDomain', null],
  ])('%s is %s', (name, member, value) => {
    expect(adopted({ [name]: value })[member]).toEqual(value);
  });

  it.each([
    ['start_requests', 'start'],
    ['startRequests', 'start'],
    ['make_request_from_data', 'makeRequestFromData'],
  ])('the method %s is %s, called on the spider', (name, member) => {
    const spider = adopted({
      page: 7,
      [name](this: { page: number }, data: unknown) {
        return [this.page, data];
      },
    });
    expect((spider[member] as (data: unknown) => unknown)('x')).toEqual([7, 'x']);
  });

  it('is found in classes and among static members', () => {
    class Old extends Spider {
      static allowed_domains = ['a.example'];
      *start_requests() {
        yield 'http://a.example/';
      }
    }
    const spider = new Old();
    expect(spiderProblem(spider)).toBeNull();
    expect(spider.allowedDomains).toEqual(['a.example']);
    expect([...(spider.start!() as Iterable<string>)]).toEqual(['http://a.example/']);
  });

  it('of one kind of spider counts for that kind', () => {
    expect(adopted({ parse_start_url: () => 'page' }, CrawlSpider).parseStartUrl).not.toBe(
      CrawlSpider.prototype.parseStartUrl,
    );
    expect(adopted({ sitemap_urls: ['http://a.example/s.xml'] }, SitemapSpider).sitemapUrls).toEqual([
      'http://a.example/s.xml',
    ]);
  });

  it.each([
    [{ startUrls: ['http://a.example/'], start_urls: [] }, 'startUrls and start_urls'],
    [{ start: () => [], startRequests: () => [] }, 'start and startRequests'],
    [{ userAgent: 'a', user_agent: 'b' }, 'userAgent and user_agent'],
    [
      { makeRequestFromData: () => null, make_request_from_data: () => null },
      'makeRequestFromData and make_request_from_data',
    ],
  ])('under two names is refused: %o', (members, both) => {
    expect(spiderProblem(spiderWith(members))).toBe(`its spider has ${both}, which are the same: keep one`);
  });

  it('is checked as under its own name', () => {
    expect(spiderProblem(spiderWith({ start_urls: 'http://a.example/' }))).toContain('startUrls is a text');
    expect(spiderProblem(spiderWith({ http_user: 'me' }))).toContain('no httpAuthDomain');
  });
});

describe('a setting', () => {
  it.each([
    ['download_delay', 'DOWNLOAD_DELAY', 0.5],
    ['downloadDelay', 'DOWNLOAD_DELAY', 0.5],
    ['download_timeout', 'DOWNLOAD_TIMEOUT', 10],
    ['download_maxsize', 'DOWNLOAD_MAXSIZE', 1000],
    ['download_warnsize', 'DOWNLOAD_WARNSIZE', 100],
    ['handle_httpstatus_list', 'HTTPERROR_ALLOWED_CODES', [404]],
    ['handleHttpStatusList', 'HTTPERROR_ALLOWED_CODES', [404]],
    ['max_concurrent_requests', 'CONCURRENT_REQUESTS_PER_DOMAIN', 2],
    ['max_idle_time', 'MAX_IDLE_TIME_BEFORE_CLOSE', 60],
    ['redis_batch_size', 'REDIS_START_URLS_BATCH_SIZE', 5],
    ['redis_key', 'REDIS_START_URLS_KEY', '%(name)s:seeds'],
    ['userAgent', 'USER_AGENT', 'my crawler'],
  ])('%s is %s', (name, setting, value) => {
    const spider = spiderWith({ [name]: value });
    expect(spiderProblem(spider)).toBeNull();
    expect(memberSettings(spider)).toEqual([{ name: setting, value, member: name }]);
  });

  it('is none where the member is undefined or null', () => {
    expect(memberSettings(spiderWith({ download_delay: undefined, user_agent: null }))).toEqual([]);
  });

  it('of a method is refused', () => {
    expect(spiderProblem(spiderWith({ download_delay: () => 1 }))).toBe(
      'download_delay is a method; give a value, as for the setting DOWNLOAD_DELAY',
    );
  });
});
