/** Crawls in a program: examples of the API page (docs/reference/api.md). */
import {
  CrawlnodeError,
  type CrawlOptions,
  type CrawlResult,
  type CrawlStats,
  crawl,
  type FailedPage,
  FrontierUnavailableError,
  failed,
  InvalidRequestError,
  items,
  type ProgramOptions,
  RefusedError,
  Request,
  Response,
  type RunSpiderOptions,
  runSpider,
  type SeedOptions,
  type SeedResult,
  SettingsError,
  Spider,
  type SpiderChoice,
  SpiderLoadError,
  type SpiderOutput,
  seed,
  stats,
  UsageError,
} from 'crawlnode';

class Authors extends Spider {
  override name = 'authors';
  override startUrls = ['https://quotes.toscrape.com/'];
  override *parse(response: Response) {
    for (const author of response.css('small.author::text').getAll()) yield { author };
  }
}

//#region crawl, CrawlOptions, CrawlResult
export async function authorsOf(signal: AbortSignal): Promise<string[]> {
  const authors = new Set<string>();
  const options: CrawlOptions = {
    signal,
    maxPages: 100,
    onItem: ({ author }) => authors.add(String(author)),
  };
  const { reason, pages }: CrawlResult = await crawl(Authors, options);
  if (reason !== 'finished') throw new Error(`stopped after ${pages} pages: ${reason}`);
  return [...authors];
}
//#endregion

//#region seed, SeedOptions, SeedResult
export async function seedAll(urls: AsyncIterable<string | Request>): Promise<number> {
  const options: SeedOptions = { job: 'monday' };
  const { accepted, bad, badSeeds }: SeedResult = await seed('shop', urls, options);
  if (bad > 0) console.warn(badSeeds);
  return accepted;
}
//#endregion

//#region stats, CrawlStats, ProgramOptions, SpiderChoice
export async function waiting(spider: SpiderChoice, options: ProgramOptions = {}): Promise<number> {
  const { pending, delayed }: CrawlStats = await stats(spider, options);
  return pending + delayed;
}
//#endregion

//#region items, failed, FailedPage
/** What a crawl left in its store: its items list, and what it could not fetch. */
export async function report(spider: SpiderChoice): Promise<string> {
  const names: string[] = [];
  for await (const { name } of items(spider)) names.push(String(name));
  const reasons = new Map<string, number>();
  const count = ({ reason }: FailedPage) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  for await (const page of failed(spider)) count(page);
  return `${names.length} items; failed: ${[...reasons].join('; ') || 'none'}`;
}
//#endregion

//#region runSpider, RunSpiderOptions, SpiderOutput
/** One callback on a saved page, without a store and without the network: for tests. */
export async function itemsOf(file: string): Promise<SpiderOutput['items']> {
  const options: RunSpiderOptions<Authors> = { callback: 'parse', args: { tag: 'love' } };
  const { items }: SpiderOutput = await runSpider(Authors, Response.fromFile(file), options);
  return items;
}
//#endregion

//#region CrawlnodeError, UsageError, SettingsError, SpiderLoadError, RefusedError, FrontierUnavailableError
/** What a program may do when `crawl()`, `seed()` or `stats()` throws. */
export function advice(error: unknown): string {
  if (error instanceof FrontierUnavailableError) return 'start Redis, and try again';
  if (error instanceof RefusedError) return `another crawl is in the way: ${error.message}`;
  if (error instanceof SettingsError) return 'correct the settings';
  if (error instanceof SpiderLoadError) return 'correct the spider';
  if (error instanceof UsageError) return 'correct the call';
  return error instanceof CrawlnodeError ? error.code : 'a bug';
}
//#endregion

//#region InvalidRequestError
/** A request to a text that may be no URL. */
export function requestOf(text: string): Request | null {
  try {
    return new Request(text);
  } catch (error) {
    if (error instanceof InvalidRequestError) return null;
    throw error;
  }
}
//#endregion
