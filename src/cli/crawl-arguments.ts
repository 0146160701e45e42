/** A crawl in a command to be typed: with its job, and with the options by which the user's own command found it. */

import type { CrawlName } from '../crawler/project/crawls-in-store.js';
import { maskSetting } from '../settings/mask.js';
import type { Context } from './context.js';
import { shellWord } from './terminal/format-values.js';

/** Settings that say where a crawl lies, what it is called there, and how its requests are told apart. */
const findsCrawl =
  /^(REDIS_.*|JOBDIR|SPIDER_MODULES|STATS_KEY|SCHEDULER_(QUEUE|DUPEFILTER)_KEY|SCHEDULER_QUEUE_CLASS|SCHEDULER_PERSIST|DUPEFILTER_.*|REQUEST_FINGERPRINTER|DOMAIN_KEY)=/;

/** `shop`, `shop --job may`, `shop -c other.yaml -s JOBDIR=/data`: a shell takes it as it stands, but for secrets. */
export function crawlArguments(
  { globals, mask }: Pick<Context, 'globals' | 'mask'>,
  { spider, job }: CrawlName,
): string {
  return [
    spider,
    ...(job === null ? [] : ['--job', job]),
    ...(globals.config === undefined ? [] : ['-c', globals.config]),
    ...globals.set.filter((pair) => findsCrawl.test(pair)).flatMap((pair) => ['-s', mask(masked(pair))]),
  ]
    .map(shellWord)
    .join(' ');
}

function masked(pair: string): string {
  const at = pair.indexOf('=');
  const name = pair.slice(0, at);
  return `${name}=${maskSetting(name, pair.slice(at + 1))}`;
}
