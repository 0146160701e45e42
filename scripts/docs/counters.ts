/** What each counter counts, and which counters the source has: docs/reference/stats-and-counters.md is made of both. */
import { readdirSync, readFileSync } from 'node:fs';

/** By name; `*` stands for a part that varies. */
export const counterMeanings: Readonly<Record<string, string>> = {
  'downloader/request_count': 'downloads started; a retry and a redirect hop count again',
  'downloader/request_method_count/*': 'the same, by HTTP method',
  'downloader/response_count': 'answers received, with any status',
  'downloader/response_status_count/*': 'the same, by HTTP status',
  'downloader/response_bytes': 'bytes of response bodies as they came over the network',
  'downloader/exception_count': 'downloads that ended without a response',
  'downloader/exception_type_count/*':
    'the same, by [reason](../guide/failures-and-retries.md#reasons-of-a-failure)',
  'httpcache/hit': 'pages that came from the HTTP cache',
  'httpcache/store': 'pages that were stored in the HTTP cache',
  'proxies/failed': 'proxies that failed before they reached the site; a page may try three',
  'proxies/ignored_in_seed': 'seeds whose `meta.proxy` was ignored, since `PROXY_FROM_SEEDS` is false',
  'downloader/exception_type_count/IgnoreRequest':
    'pages that a downloader middleware dropped; they are done',
  response_received_count: 'answers that were not retried and not a redirect',
  'scheduler/seeds_trimmed': 'seeds lost, since their stream was trimmed before nodes had read them',
  'retry/count': 'attempts that ended in a retry',
  'retry/reason_count/*': 'the same, by HTTP status or reason',
  'retry/reason_count/middleware': 'requests that a middleware returned to be tried again',
  'retry/max_reached': 'requests that failed because their retries were used up',
  'redirect/count':
    'redirects that were followed, and requests that a middleware returned in place of another',
  'redirect/bad_location': 'redirects to something that is not an http or https URL',
  'redirect/max_times_reached': 'requests that failed because of `REDIRECT_MAX_TIMES`',
  'httperror/response_ignored_count':
    'answers with a status that no callback gets, such as 404; the request is done',
  'httperror/response_ignored_status_count/*': 'the same, by HTTP status',
  'page/final_status_count/*':
    'pages that ended, by the HTTP status of their last answer, or `none` without one; retries and redirect hops count only with their last answer',
  'page/failed_reason_count/*':
    'requests that failed, by [reason](../guide/failures-and-retries.md#reasons-of-a-failure); those with the reason `crashed` are in `crashed/count`',
  'robotstxt/request_count': 'fetches of a robots.txt; not among the downloads',
  'robotstxt/response_count': 'answers to them, with any status, after redirects',
  'robotstxt/response_status_count/*': 'the same, by HTTP status',
  'robotstxt/exception_count/*': 'fetches without a response, by reason',
  'robotstxt/forbidden': 'pages that a robots.txt forbids; the request is done',
  'robotstxt/unreachable': 'requests that failed because the robots.txt of their site could not be fetched',
  item_scraped_count: 'items committed',
  item_dropped_count: 'items that a pipeline dropped with `DropItem`',
  'item_dropped_count/*': 'the same, by pipeline, as `ITEM_PIPELINES` names it',
  item_error_count: 'pages that failed because a pipeline threw another error',
  'spider_exceptions/count': 'pages that failed because of an error in spider code',
  'spider_exceptions/*': 'the same, by the class of the error',
  'spider_exceptions/IgnoreRequest': 'pages that a spider middleware dropped; they are done',
  'scheduler/enqueued': 'requests accepted into the queue',
  'scheduler/dropped': 'links dropped because the queue was twice as long as `SCHEDULER_QUEUE_LIMIT`',
  'cookies/dropped': 'cookies dropped beyond the [limits](../guide/cookies.md#how-long-cookies-are-kept)',
  'extension_exceptions/count':
    'errors of [extensions](../guide/stats-and-extensions.md#extensions) in methods that hear of pages',
  'custom_stats/dropped':
    'changes of [stats of your own](../guide/stats-and-extensions.md#stats-of-your-own) beyond 10,000 names',
  'dupefilter/filtered': 'links not accepted because they were seen before',
  'offsite/filtered': "links dropped because they leave the spider's `allowedDomains`",
  'request_depth/request_ignored_count': 'links dropped because of `DEPTH_LIMIT`',
  'urllength/request_ignored_count': 'links dropped because of `URLLENGTH_LIMIT`',
  'request_module/request_ignored_count': 'links for which the module of `REQUEST_MODULE` failed',
  'trap/path_depth': 'links dropped because of `URL_PATH_DEPTH_LIMIT`',
  'trap/repeated_segments': 'links dropped because of `URL_REPEATED_SEGMENTS_LIMIT`',
  'trap/domain_pages': 'links dropped because of `URL_PAGES_PER_DOMAIN_LIMIT`',
  'recrawl/not_modified': 'pages that have not changed since their last download (304); they are done',
  'store/unreadable':
    'values of the store that somebody else has written over, and that were removed or made anew',
  'crashed/count': 'requests that failed because three nodes died while processing them',
  'nodes/died': 'nodes that counted as dead, because no heartbeat came for `NODE_TIMEOUT`',
};

const src = new URL('../../src/', import.meta.url);

const groups =
  'custom_stats|page|extension_exceptions|downloader|retry|redirect|httperror|scheduler|dupefilter|offsite|urllength|request_depth|request_module|spider_exceptions|crashed|robotstxt|cookies|proxies|httpcache|privateaddress|trap|recrawl|store|nodes';
const name = `(?:${groups})/[A-Za-z_]+(?:/[A-Za-z_]+)*|item_[a-z]+_count|response_received_count`;
/** A counter's name in quotes; behind `/${` stands a part that varies. */
const quoted = new RegExp(`['"\`](${name}|spider_exceptions)(/\\$\\{[^'"\`]*)?['"\`]`, 'g');

/** The names of counters that stand in the source, with `*` for a part that varies. */
export function countersInSource(): string[] {
  const found = new Set<string>();
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|lua)$/.test(file)) continue;
    const text = readFileSync(new URL(file, src), 'utf8');
    for (const [, base = '', varying] of text.matchAll(quoted)) {
      if (varying !== undefined) found.add(`${base}/*`);
      else if (base !== 'spider_exceptions') found.add(base);
    }
  }
  return [...found].sort();
}
