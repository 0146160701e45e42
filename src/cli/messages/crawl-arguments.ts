/** The command-line arguments that select a crawl: spider, job, and the options that locate its store. */
import type { CrawlName } from '../../crawler/project/crawls-in-store.js';
import { shellWord } from '../../crawler/project/shell-word.js';
import { maskSetting } from '../../settings/mask-secrets.js';
import type { Context } from '../context.js';

/** Settings that determine the store of a crawl, the names of its keys, and the identity of its requests. */
const locatesCrawl =
  /^(REDIS_.*|JOBDIR|SPIDER_MODULES|STATS_KEY|SCHEDULER_(QUEUE|DUPEFILTER)_KEY|SCHEDULER_(QUEUE_CLASS|PERSIST)|DUPEFILTER_.*|REQUEST_FINGERPRINTER|REQUEST_MODULE|SETTINGS_SCHEMA|DOMAIN_KEY)=/;

/** `shop`, `shop --job may`, `shop -c other.yaml -s JOBDIR=/data`: quoted for a shell, with secrets masked. */
export function crawlArguments(
  { globals, mask }: Pick<Context, 'globals' | 'mask'>,
  { spider, job }: CrawlName,
): string {
  return [
    spider,
    ...(job === null ? [] : ['--job', job]),
    ...(globals.config === undefined ? [] : ['-c', globals.config]),
    ...globals.set.filter((pair) => locatesCrawl.test(pair)).flatMap((pair) => ['-s', mask(masked(pair))]),
  ]
    .map(shellWord)
    .join(' ');
}

function masked(pair: string): string {
  const at = pair.indexOf('=');
  const name = pair.slice(0, at);
  return `${name}=${maskSetting(name, pair.slice(at + 1))}`;
}
