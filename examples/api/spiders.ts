/** Spiders: examples of the API page (docs/reference/api.md). */
import {
  type CallbackName,
  type CallbackResults,
  type CbKwargs,
  CrawlSpider,
  CSVFeedSpider,
  type CSVRow,
  type FeedSpider,
  type Link,
  LinkExtractor,
  type LinkExtractorOptions,
  type Logger,
  type MadeRequests,
  number,
  type RefreshRule,
  Request,
  type Response,
  type Result,
  type Rule,
  type Selector,
  type SitemapEntry,
  type SitemapRule,
  SitemapSpider,
  Spider,
  type SpiderContext,
  type SpiderLogger,
  type StartRequests,
  type Stats,
  type StatValue,
  XMLFeedSpider,
  type XMLIterator,
  type Yielded,
} from 'crawlnode';

//#region Spider, StartRequests, SpiderLogger
export class Quotes extends Spider {
  override name = 'quotes';
  override allowedDomains = ['quotes.toscrape.com'];
  override customSettings = { DOWNLOAD_DELAY: 0.5 };

  override *start(): StartRequests {
    const tag = this.args.tag ?? 'humor'; // crawlnode crawl quotes -a tag=love
    yield `https://quotes.toscrape.com/tag/${tag}/`;
  }

  override *parse(response: Response) {
    this.warnIfEmpty(response, this.log);
    for (const quote of response.css('div.quote')) {
      yield { text: quote.css('span.text::text').get(), author: quote.css('small.author::text').get() };
    }
    yield* response.followAll('li.next a', this.parse);
  }

  warnIfEmpty(response: Response, log: SpiderLogger) {
    if (response.css('div.quote').length === 0) log.warn({ url: response.url }, 'a page without quotes');
  }
}
//#endregion

//#region MadeRequests
export class Products extends Spider {
  override name = 'products';

  // redis-cli rpush products:start_urls 4711
  override makeRequestFromData(data: string): MadeRequests {
    if (!/^\d+$/.test(data)) throw new Error('a seed is the number of a product');
    return new Request(`https://shop.example/product/${data}`);
  }

  override parse(response: Response) {
    return { url: response.url, name: response.css('h1::text').get() };
  }
}
//#endregion

//#region RefreshRule
export class News extends Spider {
  override name = 'news';
  override startUrls = ['https://news.example/latest'];
  // Lists are fetched again every hour, and articles only once.
  override refresh: RefreshRule[] = [{ allow: /\/latest/, every: 3600 }];

  override *parse(response: Response) {
    yield* response.followAll('a.article', this.parseArticle);
  }
  *parseArticle(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() };
  }
}
//#endregion

//#region CrawlSpider, Rule, Link
export class Books extends CrawlSpider {
  override name = 'books';
  override startUrls = ['https://books.toscrape.com/'];
  override rules: Rule<Books>[] = [
    {
      allow: /\/category\//,
      processLinks: (links: readonly Link[]) => links.filter(({ nofollow }) => !nofollow),
    },
    { allow: /\/catalogue\/[^/]+\/index\.html/, callback: 'parseBook' },
  ];

  *parseBook(response: Response) {
    yield { title: response.css('h1::text').get(), price: response.css('.price_color::text').get() };
  }
}
//#endregion

//#region LinkExtractor, LinkExtractorOptions
const inMainPart: LinkExtractorOptions = { restrictCss: 'main', denyDomains: ['ads.example'] };
const products = new LinkExtractor({ ...inMainPart, allow: /\/product\// });

export class Shop extends Spider {
  override name = 'shop';
  override startUrls = ['https://shop.example/'];

  override *parse(response: Response) {
    for (const { url, text } of products.extractLinks(response)) {
      yield response.follow(url, this.parseProduct, { cbKwargs: { text } });
    }
  }
  *parseProduct(response: Response, { text }: CbKwargs) {
    yield { url: response.url, linkText: text };
  }
}
//#endregion

//#region SitemapSpider, SitemapRule, SitemapEntry
export class ShopSitemap extends SitemapSpider {
  override name = 'shop-sitemap';
  override sitemapUrls = ['https://shop.example/robots.txt'];
  override sitemapRules: SitemapRule[] = [{ allow: /\/product\//, callback: this.parseProduct }];

  override *sitemapFilter(entries: Iterable<SitemapEntry>) {
    for (const entry of entries) if (entry.lastmod === null || entry.lastmod >= '2026') yield entry;
  }
  *parseProduct(response: Response) {
    yield { url: response.url, name: response.css('h1::text').get() };
  }
}
//#endregion

//#region XMLFeedSpider, XMLIterator
export class Headlines extends XMLFeedSpider {
  override name = 'headlines';
  override startUrls = ['https://news.example/rss.xml'];
  override itertag = 'item';
  override iterator: XMLIterator = 'iternodes';

  override parseNode(_response: Response, node: Selector) {
    return { title: node.css('title::text').get(), link: node.css('link::text').get() };
  }
}
//#endregion

//#region CSVFeedSpider, CSVRow
export class Stock extends CSVFeedSpider {
  override name = 'stock';
  override startUrls = ['https://shop.example/stock.csv'];
  override delimiter = ';';

  override parseRow(_response: Response, row: CSVRow) {
    return { id: row.id, pieces: number(row.pieces) };
  }
}
//#endregion

//#region FeedSpider
/** Leave out records without a result: `override processResults = nonEmpty`, in a spider of XML or CSV feeds. */
export const nonEmpty: FeedSpider['processResults'] = (_response, results) =>
  results.filter((result) => Object.keys(result as object).length > 0);
//#endregion

//#region CallbackResults, Yielded, Result
/** A helper of several spiders: the compiler refuses texts, promises, dates and selections here. */
export function* pageOf(response: Response): Generator<Yielded> {
  const product: Result = { url: response.url, name: response.css('h1::text').get() };
  yield product;
  yield response.followAll('.next a');
}

export class Outlet extends Spider {
  override name = 'outlet';
  override startUrls = ['https://outlet.example/'];

  override parse(response: Response): CallbackResults {
    return pageOf(response);
  }
}
//#endregion

//#region CallbackName
/** Any method of `Books` that can be a callback; a misspelt name does not compile. */
export const callback: CallbackName<Books> = 'parseBook';
//#endregion

//#region Stats, StatValue
export class Prices extends Spider {
  override name = 'prices';
  override startUrls = ['https://shop.example/sale'];

  override *parse(response: Response) {
    const prices = response.css('.price::text').getAll().map(Number);
    countPrices(this.stats, prices);
    for (const price of prices) yield { price };
  }
}

function countPrices(stats: Stats, prices: readonly number[]): void {
  const latest: StatValue = new Date().toISOString();
  stats.incValue('prices/found', prices.length);
  stats.maxValue('prices/highest', Math.max(...prices));
  stats.minValue('prices/lowest', Math.min(...prices));
  stats.setValue('prices/latest', latest);
}
//#endregion

//#region SpiderContext, Logger
/** `-a` arguments, as a spider reads them: `parsedArgs(this.args)`. */
export function parsedArgs(args: SpiderContext['args']): { readonly pages: number } {
  return { pages: Number(args.pages ?? '10') };
}

/** A logger of your own for `crawl()`, with pino's order: fields first, then the message. */
export const log: Logger = {
  debug() {},
  info() {},
  warn: (fields, message) => console.warn(message, fields),
  error: (fields, message) => console.error(message, fields),
};
//#endregion
