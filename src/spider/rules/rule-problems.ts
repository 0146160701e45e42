/** Detect fields of a `Rule` that would silently have no effect, or a wrong one. */
import { messageOf } from '../../errors.js';
import { cssQuery } from '../../http/markup/css/css-query.js';
import { didYouMean } from '../../settings/nearest.js';
import { kindOf, methodProblem, replacesParse } from '../method-problem.js';
import type { Spider } from '../spider.js';
import { CrawlSpider, extractorOf, type Rule } from './crawl-spider.js';
import { LinkExtractor } from './link-extractor.js';

/** Every field of a rule. The type makes a new field of `Rule` appear here too. */
const ruleFields: Readonly<Record<keyof Rule, true>> = {
  allow: true,
  deny: true,
  selector: true,
  denyExtensions: true,
  linkExtractor: true,
  processLinks: true,
  processRequest: true,
  errback: true,
  callback: true,
  cbKwargs: true,
  follow: true,
};

/** Fields of Scrapy's rules and link extractors that have another name here, by their letters alone. */
const scrapyFields: Readonly<Record<string, string>> = {
  restrictcss: 'selector',
};

/** A message about the first problem of a spider's `rules`; null when there is none. */
export function ruleProblem(spider: Spider): string | null {
  const rules: unknown = (spider as { rules?: unknown }).rules;
  if (!(spider instanceof CrawlSpider)) {
    return looksLikeRules(rules)
      ? 'its spider has rules, which only a CrawlSpider follows: extend CrawlSpider'
      : null;
  }
  if (!Array.isArray(rules)) return `rules is ${kindOf(rules)}; give a list of rules`;
  for (const [at, rule] of rules.entries()) {
    const problem = problemOfRule(rule, `rules[${at}]`, spider);
    if (problem !== null) return problem;
  }
  return rules.length === 0 ? null : parseProblem(spider);
}

/** `parse` applies the rules. */
function parseProblem(spider: CrawlSpider): string | null {
  if (!replacesParse(spider, CrawlSpider.prototype.parse)) return null;
  return 'it has rules and a parse() of its own, so the rules have no effect: call it parseStartUrl, or another name that a rule gives as its callback';
}

function problemOfRule(rule: unknown, where: string, spider: Spider): string | null {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule) || rule instanceof RegExp) {
    return `${where} is ${kindOf(rule)}; give an object such as { allow: /\\/item\\//, callback: this.parseItem }`;
  }
  if (rule instanceof LinkExtractor) {
    return `${where} is a LinkExtractor; give { linkExtractor: new LinkExtractor(…) }`;
  }
  return (
    unknownField(rule, where) ??
    extractorProblem(rule as Rule, where) ??
    methodProblem('callback', rule, where, spider, 'to only follow the links') ??
    methodProblem('errback', rule, where, spider)
  );
}

const ownFields = ['allow', 'deny', 'selector', 'denyExtensions'] as const;

function extractorProblem(rule: Rule, where: string): string | null {
  for (const name of ['processLinks', 'processRequest'] as const) {
    if (name in rule && typeof rule[name] !== 'function') return `${name} of ${where} is no function`;
  }
  const { cbKwargs, follow } = rule as { cbKwargs?: unknown; follow?: unknown };
  if (follow !== undefined && typeof follow !== 'boolean') {
    return `follow of ${where} is ${kindOf(follow)}; give true or false`;
  }
  if (
    cbKwargs !== undefined &&
    (typeof cbKwargs !== 'object' || cbKwargs === null || Array.isArray(cbKwargs))
  )
    return `cbKwargs of ${where} is ${kindOf(cbKwargs)}; give an object`;
  if (!('linkExtractor' in rule)) return patternProblem(rule, where);
  if (!(rule.linkExtractor instanceof LinkExtractor)) return `linkExtractor of ${where} is no LinkExtractor`;
  const both = ownFields.find((name) => name in rule);
  return both === undefined
    ? null
    : `${where} has linkExtractor and ${both}: give ${both} to the LinkExtractor`;
}

/** A pattern or a selector that cannot be read would fail every page. */
function patternProblem(rule: Rule, where: string): string | null {
  try {
    extractorOf(rule);
    if (rule.selector !== undefined) cssQuery(rule.selector, false);
    return null;
  } catch (error) {
    return `${where}: ${messageOf(error)}`;
  }
}

function unknownField(rule: object, where: string): string | null {
  const name = Object.keys(rule).find((field) => !Object.hasOwn(ruleFields, field));
  if (name === undefined) return null;
  const instead = scrapyFields[name.replaceAll('_', '').toLowerCase()];
  const hint = instead === undefined ? didYouMean(name, Object.keys(ruleFields)) : `: use ${instead}`;
  return `${where} has the unknown field ${name}${hint || `; the fields are ${Object.keys(ruleFields).join(', ')}`}`;
}

/** Whether a field named `rules` of another spider holds rules, and not something of the author's own. */
function looksLikeRules(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.some((rule) => typeof rule === 'object' && rule !== null && ('allow' in rule || 'follow' in rule))
  );
}
