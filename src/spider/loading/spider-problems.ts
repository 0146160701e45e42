/** Detect members of a spider that would silently have no effect, or a wrong one. */
import { types } from 'node:util';
import { Request } from '../../http/message/request.js';
import { kindProblem } from '../kinds/kind-problems.js';
import { kindOf } from '../method-problem.js';
import { CrawlSpider } from '../rules/crawl-spider.js';
import { ruleProblem } from '../rules/rule-problems.js';
import { Spider } from '../spider.js';
import { adoptScrapyMembers } from './scrapy-members.js';

/**
 * A message about the first problem of a spider, without its file; null when there is none. It gets the members that it has under
 * names of Scrapy first.
 */
export function spiderProblem(spider: Spider): string | null {
  return (
    adoptScrapyMembers(spider) ??
    listProblem(spider) ??
    domainProblem(spider) ??
    startProblem(spider) ??
    parseProblem(spider) ??
    hookProblem(spider) ??
    fingerprintProblem(spider) ??
    schemaProblem(spider) ??
    authProblem(spider) ??
    ruleProblem(spider) ??
    kindProblem(spider)
  );
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

/** An entry that is no host name would match no link, so that nothing is followed. */
function domainProblem({ allowedDomains = [] }: Spider): string | null {
  for (const domain of allowedDomains as readonly unknown[]) {
    if (typeof domain === 'string' && /^[^\s/@?#*]+$/.test(domain)) continue;
    return `allowedDomains has ${JSON.stringify(domain)}, which no link matches; give host names such as "shop.example", which include their subdomains`;
  }
  return null;
}

/** Only a method is called. */
function hookProblem(spider: Spider): string | null {
  const hooks = ['parse', 'opened', 'closed', 'idle', 'makeRequestFromData', 'fingerprint'] as const;
  const name = hooks.find((hook) => spider[hook] !== undefined && typeof spider[hook] !== 'function');
  if (name !== undefined) return `${name} is ${kindOf(spider[name])}; make it a method`;
  const takesSelf = /^[^(]*\(\s*self\b/.test(Function.prototype.toString.call(spider.parse));
  return takesSelf ? 'parse takes self, as in Python: write *parse(response), and this for the spider' : null;
}

/** A promise or a generator in place of the text would fail each page that has a link. */
function fingerprintProblem({ fingerprint }: Spider): string | null {
  if (types.isAsyncFunction(fingerprint)) {
    return `fingerprint() is async, but ${AT_ONCE}`;
  }
  return types.isGeneratorFunction(fingerprint) ? `fingerprint() is a generator; ${AT_ONCE}` : null;
}

const AT_ONCE =
  'its value is needed at once: return a text of 40 hex digits, for example by createHash of node:crypto, and load what it needs in opened()';

function schemaProblem({ item }: Spider): string | null {
  const schema = item as { readonly '~standard'?: { readonly validate?: unknown } } | null | undefined;
  if (schema === undefined || typeof schema?.['~standard']?.validate === 'function') return null;
  if (typeof item === 'function')
    return 'item is a method, and a spider keeps the schema of its items under this name: rename the method, for example to parseItem';
  return `item is ${kindOf(item)} and no schema; give a schema of zod or of another library that implements Standard Schema`;
}

/** A list or a URL in a field `start` would be taken for the generator. */
function startProblem(spider: Spider): string | null {
  const start: unknown = spider.start;
  if (start === undefined || typeof start === 'function') return null;
  return 'start is not a method; make it a generator of requests, *start() { yield new Request(url); }, or use startUrls';
}

/** Without a `parse` each start URL would fail at its page. Requests may name another callback, and `start` may make such ones. */
function parseProblem(spider: Spider): string | null {
  if (spider.parse !== Spider.prototype.parse || spider.start !== undefined) return null;
  const needsParse = (start: unknown) => !(start instanceof Request) || start.callback === null;
  if (!spider.startUrls.some(needsParse)) return null;
  return 'it has no method parse, which its startUrls need: add *parse(response) { … }, or give Requests with a callback';
}

/** A sentence where seeds would need the `parse` that is missing. Whether they name callbacks is not known, so this is no problem. */
export function withoutParse(spider: Spider): string[] {
  const { parse, start, makeRequestFromData } = Spider.prototype;
  if (spider.parse !== parse || spider.start !== start || spider.startUrls.length > 0) return [];
  if (spider.makeRequestFromData !== makeRequestFromData) return [];
  return [`the spider ${spider.name} has no method parse, which seeds need that name no other callback`];
}

/** A sentence for a CrawlSpider that would follow nothing and call nothing. */
export function withoutRules(spider: Spider): string[] {
  if (!(spider instanceof CrawlSpider) || spider.rules.length > 0) return [];
  const { parse, parseStartUrl } = CrawlSpider.prototype;
  if (spider.parse !== parse || spider.parseStartUrl !== parseStartUrl) return [];
  return [
    `the spider ${spider.name} is a CrawlSpider without rules, so it follows no link and gives no item`,
  ];
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
