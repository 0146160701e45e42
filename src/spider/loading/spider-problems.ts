/** Members of a spider that would have no effect, or not the one that was meant, without a word. */
import { CrawlSpider } from '../crawl-spider.js';
import type { Spider } from '../spider.js';

/** Members as Scrapy and Scrapy-Redis name them, in their spelling and in camel case, and what does the same here. */
const foreign: Readonly<Record<string, string>> = {
  start_urls: 'startUrls',
  start: 'startUrls, which takes Requests too',
  start_requests: 'startUrls, which takes Requests too',
  allowed_domains: 'allowedDomains',
  custom_settings: 'customSettings',
  parse_start_url: 'parseStartUrl',
  make_request_from_data: 'makeRequestFromData',
  redis_key: 'the setting REDIS_START_URLS_KEY',
  redis_batch_size: 'the setting REDIS_START_URLS_BATCH_SIZE',
  max_idle_time: 'the setting MAX_IDLE_TIME_BEFORE_CLOSE',
};

/** What is wrong with a spider, in a sentence without its file; null when nothing is. */
export function spiderProblem(spider: Spider): string | null {
  return foreignMember(spider) ?? notAList(spider) ?? ruleWithoutCallback(spider);
}

function foreignMember(spider: Spider): string | null {
  for (const [name, instead] of Object.entries(foreign)) {
    const found = [name, camelCase(name)].find((each) => each !== instead && isMeant(spider, each));
    if (found !== undefined) return `its spider has ${found}, which has no effect: use ${instead}`;
  }
  return null;
}

/** `start` may well be a field that holds a URL: Scrapy's is a method. */
function isMeant(spider: Spider, name: string): boolean {
  const value = (spider as unknown as Record<string, unknown>)[name];
  return name === 'start' ? typeof value === 'function' : name in spider;
}

function notAList(spider: Spider): string | null {
  for (const name of ['startUrls', 'allowedDomains'] as const) {
    const value: unknown = spider[name];
    if (value === undefined || Array.isArray(value)) continue;
    if (typeof value === 'string') {
      return `${name} is a text; give a list: ${name} = [${JSON.stringify(value)}]`;
    }
    return `${name} is ${value === null ? 'null' : `of type ${typeof value}`}; give a list`;
  }
  return null;
}

/** `callback: this.parsItem` is undefined: JavaScript does not refuse a misspelt name. */
function ruleWithoutCallback(spider: Spider): string | null {
  if (!(spider instanceof CrawlSpider)) return null;
  const at = spider.rules.findIndex((rule) => 'callback' in rule && rule.callback === undefined);
  if (at === -1) return null;
  return `the callback of rules[${at}] is undefined: is its name misspelt? Leave callback out to only follow the links`;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
