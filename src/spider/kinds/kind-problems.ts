/** Detect members of a sitemap or feed spider that would silently have no effect, or a wrong one. */
import { messageOf, UsageError } from '../../errors.js';
import { matcher, type Patterns } from '../../http/url/url-patterns.js';
import { didYouMean } from '../../settings/nearest.js';
import { kindOf, methodProblem, replacesParse } from '../method-problem.js';
import type { Spider } from '../spider.js';
import { CSVFeedSpider } from './csv-feed-spider.js';
import { FeedSpider } from './feed-spider.js';
import { type SitemapRule, SitemapSpider } from './sitemap-spider.js';
import { XMLFeedSpider } from './xml-feed-spider.js';

/** A message about the first problem of a spider of these kinds; null when there is none. */
export function kindProblem(spider: Spider): string | null {
  if (spider instanceof SitemapSpider) return sitemapProblem(spider);
  if (spider instanceof XMLFeedSpider) return xmlProblem(spider);
  return spider instanceof CSVFeedSpider ? csvProblem(spider) : null;
}

/** Every field of a rule. The type makes a new field of `SitemapRule` appear here too. */
const ruleFields: Readonly<Record<keyof SitemapRule, true>> = { allow: true, callback: true, cbKwargs: true };

function sitemapProblem(spider: SitemapSpider): string | null {
  const { sitemapUrls, sitemapRules, sitemapFollow } = spider;
  // An undefined URL is an argument (-a) that is missing, which start() reports.
  if (!Array.isArray(sitemapUrls)) return `sitemapUrls is ${kindOf(sitemapUrls)}; give a list of URLs`;
  if (!Array.isArray(sitemapRules)) return `sitemapRules is ${kindOf(sitemapRules)}; give a list of rules`;
  for (const [at, rule] of sitemapRules.entries()) {
    const problem = ruleProblem(rule, `sitemapRules[${at}]`, spider);
    if (problem !== null) return problem;
  }
  return patternProblem(sitemapFollow, 'sitemapFollow');
}

function ruleProblem(rule: unknown, where: string, spider: Spider): string | null {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule) || rule instanceof RegExp) {
    return `${where} is ${kindOf(rule)}; give an object such as { allow: /\\/product\\//, callback: this.parseProduct }`;
  }
  const unknown = Object.keys(rule).find((name) => !Object.hasOwn(ruleFields, name));
  if (unknown !== undefined) {
    const names = Object.keys(ruleFields);
    return `${where} has the unknown field ${unknown}${didYouMean(unknown, names) || `; the fields are ${names.join(', ')}`}`;
  }
  const { allow = '' } = rule as SitemapRule;
  return (
    patternProblem(allow, `allow of ${where}`) ?? methodProblem('callback', rule, where, spider, 'for parse')
  );
}

function patternProblem(patterns: unknown, where: string): string | null {
  const list: unknown[] = Array.isArray(patterns) ? patterns : [patterns];
  const wrong = list.find((pattern) => typeof pattern !== 'string' && !(pattern instanceof RegExp));
  if (wrong !== undefined || list.includes(undefined)) {
    return `${where} holds a value ${kindOf(wrong)}; give a regular expression, its text, or a list of them`;
  }
  try {
    matcher(patterns as Patterns, where);
    return null;
  } catch (error) {
    if (error instanceof UsageError) return messageOf(error);
    throw error;
  }
}

const iterators: readonly unknown[] = ['iternodes', 'xml', 'html'] satisfies XMLFeedSpider['iterator'][];

function xmlProblem(spider: XMLFeedSpider): string | null {
  if (spider.parseNode === XMLFeedSpider.prototype.parseNode) {
    return 'it has no method parseNode(response, node), which is called with each element';
  }
  if (replacesParse(spider, FeedSpider.prototype.parse, ['parseNode'])) {
    return parseProblem(spider, 'parseNode');
  }
  const { itertag, iterator } = spider;
  if (typeof itertag !== 'string' || itertag === '')
    return 'itertag is no name of an element, such as "item"';
  if (!iterators.includes(iterator)) {
    return `iterator is ${JSON.stringify(iterator)}; it must be one of ${iterators.join(', ')}`;
  }
  return null;
}

function csvProblem(spider: CSVFeedSpider): string | null {
  if (spider.parseRow === CSVFeedSpider.prototype.parseRow) {
    return 'it has no method parseRow(response, row), which is called with each row';
  }
  if (replacesParse(spider, FeedSpider.prototype.parse, ['parseRow'])) {
    return parseProblem(spider, 'parseRow');
  }
  const { headers, delimiter, quotechar } = spider;
  if (headers !== null && !isListOfTexts(headers)) {
    return `headers is ${kindOf(headers)}; give a list of the names of the columns, or null for those of the first row`;
  }
  for (const [name, value] of Object.entries({ delimiter, quotechar })) {
    if (typeof value !== 'string' || value.length !== 1) return `${name} must be one character`;
  }
  return delimiter === quotechar ? 'delimiter and quotechar are the same character' : null;
}

/** `parse` of a feed spider reads the feed. */
function parseProblem({ constructor: { name } }: Spider, method: string): string {
  return `the class ${name} has a parse() of its own, so ${method}() is never called: give it another name, and name it as the callback of the requests that it is for`;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
