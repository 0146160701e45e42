/**
 * Members of spiders of Scrapy and Scrapy-Redis that crawlnode has under another name, or not at all. Without this check
 * they would silently have no effect.
 */
import { CSVFeedSpider } from '../kinds/csv-feed-spider.js';
import { SitemapSpider } from '../kinds/sitemap-spider.js';
import { XMLFeedSpider } from '../kinds/xml-feed-spider.js';
import { CrawlSpider } from '../rules/crawl-spider.js';
import { Spider } from '../spider.js';

const inCustomSettings = (setting: string) => `customSettings = { ${setting}: … }`;
const asSetting = (setting: string) => `the setting ${setting}`;

/** What to use instead, by the name in Scrapy's spelling. Every other spelling of the name is detected too. */
const insteadOf: Readonly<Record<string, string>> = {
  start_urls: 'startUrls',
  start_requests: 'start(), a generator of requests, or startUrls',
  allowed_domains: 'allowedDomains',
  custom_settings: 'customSettings',
  parse_start_url: 'parseStartUrl',
  make_request_from_data: 'makeRequestFromData',
  make_requests_from_url: 'start(), a generator of requests',
  process_results: 'an item pipeline, or the callback itself',
  sitemap_urls: 'sitemapUrls of a SitemapSpider',
  handle_httpstatus_list: `${inCustomSettings('HTTPERROR_ALLOWED_CODES')}, or meta.handle_httpstatus_list of a request`,
  handle_httpstatus_all: `${inCustomSettings('HTTPERROR_ALLOW_ALL')}, or meta.handle_httpstatus_all of a request`,
  download_delay: inCustomSettings('DOWNLOAD_DELAY'),
  download_timeout: inCustomSettings('DOWNLOAD_TIMEOUT'),
  download_maxsize: inCustomSettings('DOWNLOAD_MAXSIZE'),
  download_warnsize: inCustomSettings('DOWNLOAD_WARNSIZE'),
  max_concurrent_requests: inCustomSettings('CONCURRENT_REQUESTS_PER_DOMAIN'),
  user_agent: inCustomSettings('USER_AGENT'),
  http_user: 'httpUser',
  http_pass: 'httpPass',
  http_auth_domain: 'httpAuthDomain',
  redis_key: asSetting('REDIS_START_URLS_KEY'),
  redis_batch_size: asSetting('REDIS_START_URLS_BATCH_SIZE'),
  redis_encoding: 'UTF-8, in which seeds are read',
  max_idle_time: asSetting('MAX_IDLE_TIME_BEFORE_CLOSE'),
  from_crawler: 'this.settings and this.args, which every spider has',
  update_settings: 'customSettings, which may use this.args',
  spider_opened: 'opened()',
  spider_closed: 'closed(reason)',
  spider_idle: 'idle()',
};

/** By the letters of a name, so that all its spellings are found. */
const byLetters = new Map(Object.entries(insteadOf).map(([name, instead]) => [lettersOf(name), instead]));

/** The members that a spider has, with their exact spelling. */
const known = new Set([
  ...Object.keys(new CrawlSpider()),
  ...Object.getOwnPropertyNames(Spider.prototype),
  ...Object.getOwnPropertyNames(CrawlSpider.prototype),
  ...['allowedDomains', 'refresh', 'item', 'fingerprint', 'start', 'idle'],
  ...['httpUser', 'httpPass', 'httpAuthDomain'],
]);

/** The members that only these kinds of spiders have. */
const kinds = [SitemapSpider, XMLFeedSpider, CSVFeedSpider].map((Kind) => {
  const names = new Set(Object.keys(new Kind()));
  for (let owner = Kind.prototype; owner !== Spider.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) names.add(name);
  }
  return { Kind, names };
});

/** The correct spelling by letters, for names of several words. A single word may be a name of the author's own. */
function spellingsOf(names: ReadonlySet<string>): ReadonlyMap<string, string> {
  return new Map([...names].filter((name) => /[a-z][A-Z]/.test(name)).map((name) => [lettersOf(name), name]));
}

/** A message about the first member that has no effect; null when there is none. */
export function scrapyMemberProblem(spider: Spider): string | null {
  const own = kinds.filter(({ Kind }) => spider instanceof Kind).flatMap(({ names }) => [...names]);
  const having = new Set([...known, ...own]);
  const spellings = spellingsOf(having);
  for (const name of memberNames(spider)) {
    if (having.has(name)) continue;
    const letters = lettersOf(name);
    const instead = spellings.get(letters) ?? byLetters.get(letters);
    if (instead !== undefined) return `its spider has ${name}, which has no effect: use ${instead}`;
  }
  return null;
}

/** The names of all fields and methods, those of its classes included. */
function memberNames(spider: Spider): Set<string> {
  const names = new Set<string>();
  for (let owner: object = spider; owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) names.add(name);
    // Scrapy's class methods and class attributes are static members here.
    if (owner !== spider && owner !== Spider.prototype && owner !== CrawlSpider.prototype) {
      for (const name of Object.getOwnPropertyNames(owner.constructor)) names.add(name);
    }
  }
  return names;
}

/** `startUrls`, `start_urls` and `START_URLS` have the same letters. A leading underscore marks a private member. */
function lettersOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])_(?=[a-z0-9])/gi, '').toLowerCase();
}
