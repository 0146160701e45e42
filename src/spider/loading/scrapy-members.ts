/**
 * Members of spiders of Scrapy and Scrapy-Redis, in any spelling: `start_urls`, `startRequests`, `download_delay`. Where their meaning
 * is clear they count: as the member of crawlnode, or as a setting of the spider. The others are refused by name. Without this
 * they would silently have no effect.
 */
import { CSVFeedSpider } from '../kinds/csv-feed-spider.js';
import { SitemapSpider } from '../kinds/sitemap-spider.js';
import { XMLFeedSpider } from '../kinds/xml-feed-spider.js';
import { CrawlSpider } from '../rules/crawl-spider.js';
import { Spider } from '../spider.js';

/** The setting that a member stands for. */
const settingOf: Readonly<Record<string, string>> = {
  download_delay: 'DOWNLOAD_DELAY',
  download_timeout: 'DOWNLOAD_TIMEOUT',
  download_maxsize: 'DOWNLOAD_MAXSIZE',
  download_warnsize: 'DOWNLOAD_WARNSIZE',
  handle_httpstatus_list: 'HTTPERROR_ALLOWED_CODES',
  max_concurrent_requests: 'CONCURRENT_REQUESTS_PER_DOMAIN',
  max_idle_time: 'MAX_IDLE_TIME_BEFORE_CLOSE',
  redis_batch_size: 'REDIS_START_URLS_BATCH_SIZE',
  redis_key: 'REDIS_START_URLS_KEY',
  user_agent: 'USER_AGENT',
};

/** Scrapy's names of members that stand for settings. */
export const scrapySettings: readonly string[] = Object.keys(settingOf);

/** What a member is called here, where the name is another one. */
const memberOf: Readonly<Record<string, string>> = { start_requests: 'start' };

/** What to use instead of a member that has no clear meaning here. */
const insteadOf: Readonly<Record<string, string>> = {
  from_crawler: 'this.settings and this.args, which every spider has',
  handle_httpstatus_all:
    'customSettings = { HTTPERROR_ALLOW_ALL: true }, or meta.handle_httpstatus_all of a request',
  make_requests_from_url: 'start(), a generator of requests',
  request_handler: 'parse(response), or another method that is the callback of a request',
  parse_start_url: 'parseStartUrl of a CrawlSpider',
  process_results: 'an item pipeline, or the callback itself',
  redis_encoding: 'UTF-8, in which seeds are read',
  sitemap_urls: 'sitemapUrls of a SitemapSpider',
  spider_closed: 'closed(reason)',
  spider_idle: 'idle()',
  spider_opened: 'opened()',
  update_settings: 'customSettings, which may use this.args',
};

/** By the letters of a name, so that all its spellings are found. */
const byLetters = (names: Readonly<Record<string, string>>) =>
  new Map(Object.entries(names).map(([name, value]) => [lettersOf(name), value]));
const settingByLetters = byLetters(settingOf);
const memberByLetters = byLetters(memberOf);
const insteadByLetters = byLetters(insteadOf);

/** The members that every spider has. */
const ofEverySpider = new Set([
  ...Object.keys(new Spider()),
  ...Object.getOwnPropertyNames(Spider.prototype),
  ...['allowedDomains', 'refresh', 'item', 'fingerprint', 'start', 'idle'],
  ...['httpUser', 'httpPass', 'httpAuthDomain'],
]);
/** Names that are no other spelling of anything. A plain spider may have a callback of the name of a CrawlSpider's method. */
const known = new Set([
  ...ofEverySpider,
  ...Object.keys(new CrawlSpider()),
  ...Object.getOwnPropertyNames(CrawlSpider.prototype),
]);

/** The members that only these kinds of spiders have. */
const kinds = [CrawlSpider, SitemapSpider, XMLFeedSpider, CSVFeedSpider].map((Kind) => {
  const names = new Set(Object.keys(new Kind()));
  for (let owner = Kind.prototype; owner !== Spider.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) names.add(name);
  }
  return { Kind, names };
});

/** The classes whose static members are crawlnode's own. */
const ownClasses: ReadonlySet<unknown> = new Set([Spider, ...kinds.map(({ Kind }) => Kind)]);

/** The spelling of crawlnode by letters, for names of several words. A single word may be a name of the author's own. */
function spellingsOf(names: ReadonlySet<string>): ReadonlyMap<string, string> {
  return new Map([...names].filter((name) => /[a-z][A-Z]/.test(name)).map((name) => [lettersOf(name), name]));
}

/** A member under a name of Scrapy, and what it is here. */
interface ForeignMember {
  readonly name: string;
  readonly value: unknown;
  readonly is: { readonly member: string } | { readonly setting: string } | { readonly instead: string };
}

/** A setting that a member of a spider stands for. */
export interface MemberSetting {
  readonly name: string;
  readonly value: unknown;
  /** As the spider spells it. */
  readonly member: string;
}

/**
 * Give a spider the members of crawlnode that it has under names of Scrapy: `startUrls` for `start_urls`.
 * @returns a message about the first member that is refused; null when there is none
 */
export function adoptScrapyMembers(spider: Spider): string | null {
  const adopted = new Map<string, string>();
  for (const { name, value, is } of foreignMembers(spider)) {
    if ('instead' in is) return `its spider has ${name}, which has no effect: use ${is.instead}`;
    const same = 'member' in is ? is.member : is.setting;
    const before = adopted.get(same) ?? ('member' in is && isSetByAuthor(spider, same) ? same : undefined);
    if (before !== undefined) return `its spider has ${before} and ${name}, which are the same: keep one`;
    adopted.set(same, name);
    if ('setting' in is) {
      if (typeof value === 'function') return `${name} is a method; give a value, as for the setting ${same}`;
      continue;
    }
    setMember(spider, same, value);
  }
  return adoptStaticMembers(spider);
}

/** Members that every spider gets from crawlnode. */
const given: ReadonlySet<string> = new Set(['args', 'log', 'settings', 'stats', 'constructor']);

/**
 * Give a spider the static members of its classes: `static startUrls` is what a class attribute is in Scrapy. Those of a
 * derived class come first.
 * @returns a message about the first member that the spider also has as a field; null when there is none
 */
function adoptStaticMembers(spider: Spider): string | null {
  const names = namesFor(spider);
  const adopted = new Set<string>();
  for (let Class = spider.constructor; !ownClasses.has(Class); Class = Object.getPrototypeOf(Class)) {
    for (const [name, { value, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(Class))) {
      // The name that every class has is not enumerable; a static field `name` is.
      if (enumerable !== true && typeof value !== 'function') continue;
      if (!names.has(name) || given.has(name) || adopted.has(name)) continue;
      if (isSetByAuthor(spider, name)) {
        return `its spider has ${name} and static ${name}, which are the same: keep one`;
      }
      adopted.add(name);
      setMember(spider, name, value);
    }
  }
  return null;
}

function setMember(spider: Spider, name: string, value: unknown): void {
  const member = typeof value === 'function' ? value.bind(spider) : value;
  Object.defineProperty(spider, name, {
    value: member,
    writable: true,
    configurable: true,
    enumerable: true,
  });
}

/** The settings that members of a spider stand for, as in Scrapy. A member that is undefined or null counts as absent. */
export function memberSettings(spider: Spider): MemberSetting[] {
  return foreignMembers(spider).flatMap(({ name, value, is }) =>
    'setting' in is && value !== undefined && value !== null
      ? [
          {
            name: is.setting,
            value: isDefaultKey(value, spider) ? '%(name)s:start_urls' : value,
            member: name,
          },
        ]
      : [],
  );
}

/** Such as `redis_key = `${this.name}:start_urls``. Written with the name, the key would count as one that other spiders share. */
function isDefaultKey(value: unknown, { name }: Spider): boolean {
  return value === `${name}:start_urls`;
}

/** The members of crawlnode that a spider of this kind has. */
export function namesFor(spider: Spider): ReadonlySet<string> {
  const own = kinds.filter(({ Kind }) => spider instanceof Kind).flatMap(({ names }) => [...names]);
  return new Set([...ofEverySpider, ...own]);
}

function foreignMembers(spider: Spider): ForeignMember[] {
  const names = namesFor(spider);
  const spellings = spellingsOf(names);
  const members: ForeignMember[] = [];
  for (const [name, owner] of membersOf(spider)) {
    if (known.has(name) || names.has(name)) continue;
    const letters = lettersOf(name);
    const member = spellings.get(letters) ?? memberByLetters.get(letters);
    const setting = settingByLetters.get(letters);
    const instead = insteadByLetters.get(letters);
    const of = (is: ForeignMember['is']) => members.push({ name, value: owner[name], is });
    if (member !== undefined) of({ member });
    else if (setting !== undefined) of({ setting });
    else if (instead !== undefined) of({ instead });
  }
  return members;
}

/** Whether a spider has a member of crawlnode with another value than its base class gives it. */
export function isSetByAuthor(spider: Spider, name: string): boolean {
  const Base = kinds.find(({ Kind }) => spider instanceof Kind)?.Kind ?? Spider;
  const base = new Base();
  const [its, given] = [base, spider].map((each) => (each as unknown as Record<string, unknown>)[name]);
  if (typeof its === 'function' || typeof given === 'function') return its !== given;
  return JSON.stringify(its) !== JSON.stringify(given);
}

/** The owner of each field and method by its name, those of its classes included. A getter is not called. */
export function membersOf(spider: Spider): Map<string, Record<string, unknown>> {
  const members = new Map<string, Record<string, unknown>>();
  const add = (name: string, owner: unknown) => {
    if (!members.has(name)) members.set(name, owner as Record<string, unknown>);
  };
  for (let owner: object = spider; owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) add(name, spider);
    // Scrapy's class methods and class attributes are static members here.
    if (owner !== spider && owner !== Spider.prototype && owner !== CrawlSpider.prototype) {
      for (const name of Object.getOwnPropertyNames(owner.constructor)) {
        if (!(name in Function)) add(name, owner.constructor);
      }
    }
  }
  return members;
}

/** `startUrls`, `start_urls` and `START_URLS` have the same letters. A leading underscore marks a private member. */
export function lettersOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])_(?=[a-z0-9])/gi, '').toLowerCase();
}
