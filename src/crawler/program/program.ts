/**
 * The functions for programs. They print nothing, never end the process, and throw the exported errors. Their
 * parts are loaded on the first call, since every spider module imports this file with the rest of the API.
 */
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Spider } from '../../spider/spider.js';
import type { FailedPage } from '../requests/failed-requests.js';
import type {
  CrawlOptions,
  CrawlResult,
  CrawlStats,
  ItemsOf,
  ProgramOptions,
  RunSpiderOptions,
  SeedOptions,
  SeedResult,
  SpiderChoice,
  SpiderOutput,
} from './options.js';

/**
 * Crawl with one node in this process. Other processes may crawl with it, as with `crawlnode crawl`.
 * ```ts
 * const { pages, items } = await crawl(Quotes, { settings: { DOWNLOAD_DELAY: 1 }, onItem: (item) => save(item) });
 * ```
 * @param spider its class, or the name of a spider of the project
 * @throws SettingsError, SpiderLoadError; RefusedError when the store refuses, or this process runs the same crawl already;
 *   FrontierUnavailableError; CrawlnodeError when the crawl ends with an error, such as `feed_unwritable`, or no page of it
 *   succeeded (`nothing_succeeded`). A budget or `signal` that ends it is no error: look at `reason`
 */
export async function crawl(spider: SpiderChoice, options: CrawlOptions = {}): Promise<CrawlResult> {
  return (await import('./crawl.js')).crawl(spider, options);
}

/**
 * Add seeds to a crawl: URLs, JSON objects with the fields of a request as texts, or Requests.
 * ```ts
 * await seed(Quotes, ['https://quotes.toscrape.com/tag/love/']);
 * ```
 * @throws SettingsError, SpiderLoadError, RefusedError, FrontierUnavailableError; what the seeds throw
 */
export async function seed(
  spider: SpiderChoice,
  seeds: Iterable<string | Request> | AsyncIterable<string | Request>,
  options: SeedOptions = {},
): Promise<SeedResult> {
  return (await import('./seed.js')).seed(spider, seeds, options);
}

/**
 * A crawl as its store has it: what `crawlnode stats SPIDER --json` prints.
 * @throws SettingsError, SpiderLoadError, RefusedError, FrontierUnavailableError
 */
export async function stats(spider: SpiderChoice, options: ProgramOptions = {}): Promise<CrawlStats> {
  return (await import('./stats.js')).stats(spider, options);
}

/**
 * The items in the items list of a crawl (`<spider>:items`), in order. They stay in the list. Items of a crawl with feeds are
 * in its files. Of a class with a schema `item` they have the type that the schema gives.
 * ```ts
 * for await (const item of items(Quotes)) console.log(item.text);
 * ```
 * @throws SettingsError, SpiderLoadError, RefusedError, FrontierUnavailableError
 */
export async function* items<S extends SpiderChoice>(
  spider: S,
  options: ProgramOptions = {},
): AsyncGenerator<ItemsOf<S>, void, undefined> {
  // What the schema gave was stored as JSON.
  yield* (await import('./read-back.js')).items(spider, options) as AsyncGenerator<ItemsOf<S>>;
}

/**
 * The requests of a crawl that failed, the oldest first.
 * ```ts
 * for await (const { url, reason } of failed(Quotes)) console.log(url, reason);
 * ```
 * @throws SettingsError, SpiderLoadError, RefusedError, FrontierUnavailableError
 */
export async function* failed(
  spider: SpiderChoice,
  options: ProgramOptions = {},
): AsyncGenerator<FailedPage, void, undefined> {
  yield* (await import('./read-back.js')).failed(spider, options);
}

/**
 * Run one callback on a response, offline, for tests of a spider.
 * ```ts
 * const { items, requests } = await runSpider(Quotes, Response.fromFile('test/quotes.html', { url: 'https://quotes.toscrape.com/' }));
 * ```
 * @throws what the callback throws, as a CrawlnodeError that names spider, callback and URL
 */
export async function runSpider<S extends Spider = Spider>(
  SpiderClass: new () => S,
  response: Response,
  options: RunSpiderOptions<S> = {},
): Promise<SpiderOutput> {
  // The name of a callback is checked again there, for programs in JavaScript.
  const plain = options as unknown as RunSpiderOptions;
  return (await import('./run-spider.js')).runSpider(SpiderClass, response, plain);
}
