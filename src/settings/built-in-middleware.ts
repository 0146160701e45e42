/**
 * Scrapy's own middleware, by the names and numbers that Scrapy gives it. crawlnode has the same features built in, so that
 * modules of a project can be placed between them. A built-in stays at its number; null switches it off.
 */

export type MiddlewareSetting = 'DOWNLOADER_MIDDLEWARES' | 'SPIDER_MIDDLEWARES';

/** The numbers of the built-ins that the node acts on. */
export const DEFAULT_HEADERS = 400;
export const USER_AGENT = 500;
export const RETRY = 550;
export const REDIRECT = 600;
export const COOKIES = 700;

export interface BuiltIn {
  readonly name: string;
  /** The dotted path in Scrapy. */
  readonly path: string;
  readonly number: number;
  /** What it does, for the docs. */
  readonly does: string;
  /**
   * The settings that a null for this middleware stands for. Empty when crawlnode has no such feature. Null when it cannot
   * be switched off.
   */
  readonly off: Readonly<Record<string, unknown>> | null;
  /** What to do in place of switching it off. */
  readonly instead?: string;
}

const makerOf =
  (modulePath: string) =>
  (
    module: string,
    name: string,
    number: number,
    does: string,
    off: BuiltIn['off'],
    instead?: string,
  ): BuiltIn => ({
    ...{ name, number, does, off, path: `scrapy.${modulePath}.${module}.${name}` },
    ...(instead === undefined ? {} : { instead }),
  });

const downloader = makerOf('downloadermiddlewares');
const spider = makerOf('spidermiddlewares');

/** In the order of their numbers. Source: Scrapy's DOWNLOADER_MIDDLEWARES_BASE and SPIDER_MIDDLEWARES_BASE. */
export const builtInMiddleware: Readonly<Record<MiddlewareSetting, readonly BuiltIn[]>> = {
  DOWNLOADER_MIDDLEWARES: [
    downloader(
      ...(['offsite', 'OffsiteMiddleware', 50] as const),
      'drops links outside `allowedDomains`, when they are found',
      null,
      'remove allowedDomains from the spider',
    ),
    downloader('robotstxt', 'RobotsTxtMiddleware', 100, 'obeys robots.txt, before any module', {
      ROBOTSTXT_OBEY: false,
    }),
    downloader(
      ...(['httpauth', 'HttpAuthMiddleware', 300] as const),
      'adds the user name and password of the spider, after all modules',
      null,
      'remove httpUser and httpPass from the spider',
    ),
    downloader(
      ...(['downloadtimeout', 'DownloadTimeoutMiddleware', 350] as const),
      'limits the time of a download',
      null,
      'set DOWNLOAD_TIMEOUT',
    ),
    downloader('defaultheaders', 'DefaultHeadersMiddleware', 400, 'adds `DEFAULT_REQUEST_HEADERS`', {
      DEFAULT_REQUEST_HEADERS: {},
    }),
    downloader('useragent', 'UserAgentMiddleware', 500, 'adds `USER_AGENT`', { USER_AGENT: '' }),
    downloader(
      'retry',
      'RetryMiddleware',
      550,
      'retries failed requests; modules with lower numbers do not see them',
      {
        RETRY_ENABLED: false,
      },
    ),
    downloader(
      'ajaxcrawl',
      'AjaxCrawlMiddleware',
      560,
      'requests the static copy of AJAX pages; not in crawlnode',
      {},
    ),
    downloader('redirect', 'MetaRefreshMiddleware', 580, 'follows `<meta http-equiv="refresh">`', {
      METAREFRESH_ENABLED: false,
    }),
    downloader(
      ...(['httpcompression', 'HttpCompressionMiddleware', 590] as const),
      'decodes bodies, before any module',
      null,
      'to get bodies unencoded, set the header Accept-Encoding to identity',
    ),
    downloader(
      'redirect',
      'RedirectMiddleware',
      600,
      'follows redirects; modules with lower numbers do not see them',
      {
        REDIRECT_ENABLED: false,
      },
    ),
    downloader('cookies', 'CookiesMiddleware', 700, 'stores and sends [cookies](cookies.md)', {
      COOKIES_ENABLED: false,
    }),
    downloader('httpproxy', 'HttpProxyMiddleware', 750, 'chooses the [proxy](proxies.md)', {
      HTTPPROXY_ENABLED: false,
    }),
    downloader('stats', 'DownloaderStats', 850, 'counts downloads', null, 'crawlnode always counts them'),
    downloader(
      'httpcache',
      'HttpCacheMiddleware',
      900,
      'answers from the [HTTP cache](recipes.md#develop-without-downloading-pages-again) where `HTTPCACHE_ENABLED` is set',
      { HTTPCACHE_ENABLED: false },
    ),
  ],
  SPIDER_MIDDLEWARES: [
    spider('start', 'StartSpiderMiddleware', 25, 'marks start requests; not in crawlnode', {}),
    spider('httperror', 'HttpErrorMiddleware', 50, 'does not pass statuses other than 2xx to the callback', {
      HTTPERROR_ALLOW_ALL: true,
    }),
    spider(
      ...(['offsite', 'OffsiteMiddleware', 500] as const),
      'drops links outside `allowedDomains`',
      null,
      'remove allowedDomains from the spider',
    ),
    spider(
      'referer',
      'RefererMiddleware',
      700,
      'sends the URL of the page with the link as `Referer`; here the setting `REFERER_ENABLED` does',
      {},
    ),
    spider('urllength', 'UrlLengthMiddleware', 800, 'drops links that are too long', { URLLENGTH_LIMIT: 0 }),
    spider('depth', 'DepthMiddleware', 900, 'drops links that are too deep, and lowers their priority', {
      DEPTH_LIMIT: 0,
      DEPTH_PRIORITY: 0,
    }),
  ],
};

/** The built-in of a name or dotted path; undefined for anything else. */
export function builtInOf(setting: MiddlewareSetting, name: string): BuiltIn | undefined {
  return builtInMiddleware[setting].find((each) => each.name === name || each.path === name);
}
