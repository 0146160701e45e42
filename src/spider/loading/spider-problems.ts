/** Detect members of a spider that would silently have no effect, or a wrong one. */
import { CrawlSpider } from '../crawl-spider.js';
import type { Spider } from '../spider.js';

/** Members of spiders of Scrapy and Scrapy-Redis, with their equivalents. The camel-case spellings are detected too. */
const scrapyMembers: Readonly<Record<string, string>> = {
  start_urls: 'startUrls',
  start: 'startUrls, which takes Requests too',
  start_requests: 'startUrls, which takes Requests too',
  allowed_domains: 'allowedDomains',
  custom_settings: 'customSettings',
  parse_start_url: 'parseStartUrl',
  make_request_from_data: 'makeRequestFromData',
  http_user: 'httpUser',
  http_pass: 'httpPass',
  http_auth_domain: 'httpAuthDomain',
  redis_key: 'the setting REDIS_START_URLS_KEY',
  redis_batch_size: 'the setting REDIS_START_URLS_BATCH_SIZE',
  max_idle_time: 'the setting MAX_IDLE_TIME_BEFORE_CLOSE',
};

/** A message about the first problem of a spider, without its file; null when there is none. */
export function spiderProblem(spider: Spider): string | null {
  return scrapyMemberProblem(spider) ?? listProblem(spider) ?? authProblem(spider) ?? ruleProblem(spider);
}

function scrapyMemberProblem(spider: Spider): string | null {
  for (const [name, instead] of Object.entries(scrapyMembers)) {
    const found = [name, camelCase(name)].find(
      (spelling) => spelling !== instead && isScrapyMember(spider, spelling),
    );
    if (found !== undefined) return `its spider has ${found}, which has no effect: use ${instead}`;
  }
  return null;
}

/** Only a method `start` is Scrapy's. A field of that name may hold a URL. */
function isScrapyMember(spider: Spider, name: string): boolean {
  const value = (spider as unknown as Record<string, unknown>)[name];
  return name === 'start' ? typeof value === 'function' : name in spider;
}

function listProblem(spider: Spider): string | null {
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

/** As in Scrapy since 2.5.1: without a domain the credentials would be sent to any site. */
function authProblem({ httpUser, httpPass, httpAuthDomain }: Spider): string | null {
  for (const [name, value] of Object.entries({ httpUser, httpPass })) {
    if (value !== undefined && typeof value !== 'string')
      return `${name} is of type ${typeof value}; give a text`;
  }
  if (!httpUser && !httpPass) return null;
  if (httpAuthDomain === null || (typeof httpAuthDomain === 'string' && httpAuthDomain !== '')) return null;
  return 'it has httpUser or httpPass, and no httpAuthDomain: give the domain that they are for, such as httpAuthDomain = "example.com", or null to send them to every site';
}

/** Detects a misspelt callback such as `this.parsItem`, which JavaScript evaluates to undefined. */
function ruleProblem(spider: Spider): string | null {
  if (!(spider instanceof CrawlSpider)) return null;
  const at = spider.rules.findIndex((rule) => 'callback' in rule && rule.callback === undefined);
  if (at === -1) return null;
  return `the callback of rules[${at}] is undefined: is its name misspelt? Leave callback out to only follow the links`;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
