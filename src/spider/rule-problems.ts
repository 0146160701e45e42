/** Detect fields of a `Rule` that would silently have no effect, or a wrong one. */
import { didYouMean } from '../settings/nearest.js';
import { isMethodOf } from './callbacks.js';
import { CrawlSpider, type Rule } from './crawl-spider.js';
import type { Spider } from './spider.js';

/** Every field of a rule. The type makes a new field of `Rule` appear here too. */
const ruleFields: Readonly<Record<keyof Rule, true>> = {
  allow: true,
  deny: true,
  selector: true,
  denyExtensions: true,
  callback: true,
  follow: true,
};

/** Fields of Scrapy's rules and link extractors that have another name here, by their letters alone. */
const scrapyFields: Readonly<Record<string, string>> = {
  restrictcss: 'selector',
  linkextractor: 'the fields allow, deny, selector and denyExtensions of the rule itself',
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
  return null;
}

function problemOfRule(rule: unknown, where: string, spider: Spider): string | null {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule) || rule instanceof RegExp) {
    return `${where} is ${kindOf(rule)}; give an object such as { allow: /\\/item\\//, callback: this.parseItem }`;
  }
  return unknownField(rule, where) ?? callbackProblem(rule as Rule, where, spider);
}

function unknownField(rule: object, where: string): string | null {
  const name = Object.keys(rule).find((field) => !Object.hasOwn(ruleFields, field));
  if (name === undefined) return null;
  const instead = scrapyFields[name.replaceAll('_', '').toLowerCase()];
  const hint = instead === undefined ? didYouMean(name, Object.keys(ruleFields)) : `: use ${instead}`;
  return `${where} has the unknown field ${name}${hint || `; the fields are ${Object.keys(ruleFields).join(', ')}`}`;
}

/** Also detects a misspelt callback such as `this.parsItem`, which JavaScript evaluates to undefined. */
function callbackProblem(rule: Rule, where: string, spider: Spider): string | null {
  if (!('callback' in rule)) return null;
  const callback: unknown = rule.callback;
  if (callback === undefined) {
    return `the callback of ${where} is undefined: is its name misspelt? Leave callback out to only follow the links`;
  }
  if (typeof callback === 'function') return null;
  if (typeof callback !== 'string')
    return `the callback of ${where} is ${kindOf(callback)}; give a method or its name`;
  return isMethodOf(spider, callback)
    ? null
    : `the callback of ${where}, ${JSON.stringify(callback)}, is no method of the spider`;
}

/** Whether a field named `rules` of another spider holds rules, and not something of the author's own. */
function looksLikeRules(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.some((rule) => typeof rule === 'object' && rule !== null && ('allow' in rule || 'follow' in rule))
  );
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof RegExp) return 'a regular expression';
  return typeof value === 'object' ? 'an object' : `of type ${typeof value}`;
}
