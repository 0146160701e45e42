/** Checks the arguments of `crawl()`, `seed()` and the like. A program in JavaScript has no types for this. */
import { existsSync } from 'node:fs';
import { SpiderLoadError, UsageError } from '../../errors.js';
import { didYouMean } from '../../settings/nearest.js';
import { Spider } from '../../spider/spider.js';
import { isNamedValues } from '../project/load-spider.js';
import type { ProgramOptions } from './options.js';

/** Options of `crawl()`, `seed()` and `stats()`: a program may give all three the same ones. */
const crawlOptions = [
  ...['config', 'cwd', 'settings', 'args', 'job'],
  ...['exitWhenDone', 'maxPages', 'signal', 'onItem', 'log'],
];
const runSpiderOptions = ['callback', 'args', 'settings'];

/** The type of each option that no setting checks. */
const kinds: Readonly<Record<string, readonly [is: (value: unknown) => boolean, what: string]>> = {
  settings: [isNamedValues, 'an object of settings'],
  args: [isNamedValues, 'an object of texts, such as { tag: "love" }'],
  exitWhenDone: [(value) => typeof value === 'boolean', 'true or false'],
  maxPages: [(value) => Number.isSafeInteger(value) && Number(value) > 0, 'a whole number of at least 1'],
  config: [(value) => typeof value === 'string' || value === false, 'the path of a settings file, or false'],
  cwd: [(value) => typeof value === 'string', 'the path of a folder'],
  signal: [(value) => value instanceof AbortSignal, 'an AbortSignal'],
  onItem: [(value) => typeof value === 'function', 'a function'],
};

/**
 * @param options as the program gave them
 * @throws SpiderLoadError for what is no spider; UsageError for an option or value that would have no effect
 */
export function checkCall(
  called: 'crawl' | 'seed' | 'stats' | 'items' | 'failed' | 'runSpider',
  spider: unknown,
  options: Pick<ProgramOptions, 'args' | 'cwd'>,
): void {
  checkSpider(called, spider);
  if (!isNamedValues(options))
    throw new UsageError(`the options of ${called}() are ${describe(options)}, not an object`);
  const names = called === 'runSpider' ? runSpiderOptions : crawlOptions;
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const hint = didYouMean(name, names) || `; there are ${names.join(', ')}`;
    throw new UsageError(`${called}() has no option ${name}${hint}`);
  }
  for (const [name, value] of Object.entries(options)) {
    const [is, what] = kinds[name] ?? [];
    if (value === undefined || is === undefined || is(value)) continue;
    throw new UsageError(
      `${name} of ${called}() must be ${what}, not ${typeof value === 'number' ? value : describe(value)}`,
    );
  }
  for (const [name, value] of Object.entries(options.args ?? {})) {
    if (typeof value === 'string') continue;
    throw new UsageError(
      `args.${name} of ${called}() must be a text, as -a gives it, not ${describe(value)}`,
    );
  }
  const { cwd } = options;
  if (cwd !== undefined && !existsSync(cwd))
    throw new UsageError(`cwd of ${called}(): there is no folder ${cwd}`);
}

function checkSpider(called: string, spider: unknown): void {
  if (typeof spider === 'string' && called !== 'runSpider') return;
  if (typeof spider === 'function' && spider.prototype instanceof Spider) return;
  const is =
    typeof spider === 'function'
      ? `${spider.name || 'a function'}, which does not extend Spider`
      : describe(spider);
  throw new SpiderLoadError(
    `${called}() takes a class that extends Spider${called === 'runSpider' ? '' : ', or the name of a spider'}, not ${is}`,
  );
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value instanceof Spider) return 'a spider that was made already: give its class';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Map || value instanceof Set) return `a ${value.constructor.name}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
