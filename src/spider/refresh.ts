/**
 * The `refresh` rules of a spider: which of its pages may be fetched again, and how often. A period is a run, or an interval
 * in seconds. The fingerprint of a request that matches a rule includes its period, so the request is new to every
 * dupefilter, on all nodes, in the next period. Each period adds fingerprints to the dupefilter.
 */
import { createHash } from 'node:crypto';
import { SpiderLoadError, UsageError } from '../errors.js';
import { matcher, type Patterns } from '../http/url/url-patterns.js';
import { didYouMean } from '../settings/nearest.js';

/** Pages that may be fetched again: once in each run, or with `every` at most once in each period. */
export interface RefreshRule {
  /** Patterns that may match anywhere in the absolute URL. */
  readonly allow: Patterns;
  /** Length of a period in seconds. Periods are counted from 1970, so they are the same on all nodes. */
  readonly every?: number;
}

/** The compiled refresh rules of a spider. */
export class Refresh {
  readonly #rules: readonly { readonly matches: (url: string) => boolean; readonly everyMs: number | null }[];

  /** @param spider its name, for messages. @throws SpiderLoadError for an invalid list of rules. */
  constructor(rules: unknown, spider: string) {
    const where = `refresh of the spider "${spider}"`;
    if (!Array.isArray(rules)) {
      throw new SpiderLoadError(
        `${where} must be a list of rules such as { allow: /\\/list\\//, every: 3600 }, not ${kindOf(rules)}`,
      );
    }
    this.#rules = rules.map((rule: unknown, at) =>
      readRule(rule, `refresh[${at}] of the spider "${spider}"`),
    );
  }

  matches(url: string): boolean {
    return this.#rules.some((rule) => rule.matches(url));
  }

  /**
   * The current period of the first rule that matches, as text; null where none matches.
   * @param run id of the current run, for rules without `every`.
   */
  periodOf(url: string, run: string, nowMs: number): string | null {
    const rule = this.#rules.find(({ matches }) => matches(url));
    if (rule === undefined) return null;
    const { everyMs } = rule;
    if (everyMs === null) return `run ${run}`;
    return `${everyMs / 1000} s from ${new Date(nowMs - (nowMs % everyMs)).toISOString()}`;
  }

  /** The fingerprint of a URL in the current period; unchanged where no rule matches. */
  inPeriod(fingerprint: string, url: string, run: string, nowMs: number): string {
    const period = this.periodOf(url, run, nowMs);
    return period === null
      ? fingerprint
      : createHash('sha1').update(`${fingerprint} ${period}`).digest('hex');
  }
}

/** The refresh rules of a spider; null when it has none. @throws SpiderLoadError */
export function refreshOf(spider: { readonly name?: string; readonly refresh?: unknown }): Refresh | null {
  return spider.refresh === undefined ? null : new Refresh(spider.refresh, spider.name ?? '');
}

const ruleFields = ['allow', 'every'];

function readRule(rule: unknown, where: string) {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule) || rule instanceof RegExp) {
    throw new SpiderLoadError(
      `${where} must be an object such as { allow: /\\/list\\// }, not ${kindOf(rule)}`,
    );
  }
  const unknown = Object.keys(rule).find((name) => !ruleFields.includes(name));
  if (unknown !== undefined) {
    throw new SpiderLoadError(`${where} has no field "${unknown}"${didYouMean(unknown, ruleFields)}`);
  }
  const { allow, every } = rule as { allow?: unknown; every?: unknown };
  const list = Array.isArray(allow) ? allow : [allow];
  if (
    list.length === 0 ||
    !list.every((pattern) => pattern instanceof RegExp || typeof pattern === 'string')
  ) {
    throw new SpiderLoadError(`${where}: allow must be a regular expression, a text, or a list of them`);
  }
  if (every !== undefined && !(typeof every === 'number' && Number.isFinite(every) && every > 0)) {
    throw new SpiderLoadError(`${where}: every must be a number of seconds above 0, not ${String(every)}`);
  }
  try {
    return {
      matches: matcher(allow as Patterns, `${where}: allow`),
      everyMs: every === undefined ? null : Math.max(1, Math.round((every as number) * 1000)),
    };
  } catch (error) {
    if (error instanceof UsageError) throw new SpiderLoadError(error.message, { cause: error });
    throw error;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return value instanceof RegExp ? 'a regular expression' : `a ${typeof value}`;
}
