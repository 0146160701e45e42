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
  /**
   * The settings that a null for this middleware stands for. Empty when crawlnode has no such feature. A text when it cannot
   * be switched off: what to do instead.
   */
  readonly off: Readonly<Record<string, unknown>> | string;
}

type Row = readonly [module: string, name: string, number: number, off: BuiltIn['off']];

/** Source: Scrapy's DOWNLOADER_MIDDLEWARES_BASE and SPIDER_MIDDLEWARES_BASE. */
const downloader: readonly Row[] = [
  ['offsite', 'OffsiteMiddleware', 50, 'remove allowedDomains from the spider'],
  ['robotstxt', 'RobotsTxtMiddleware', 100, { ROBOTSTXT_OBEY: false }],
  ['httpauth', 'HttpAuthMiddleware', 300, 'remove httpUser and httpPass from the spider'],
  ['downloadtimeout', 'DownloadTimeoutMiddleware', 350, 'set DOWNLOAD_TIMEOUT'],
  ['defaultheaders', 'DefaultHeadersMiddleware', DEFAULT_HEADERS, { DEFAULT_REQUEST_HEADERS: {} }],
  ['useragent', 'UserAgentMiddleware', USER_AGENT, { USER_AGENT: '' }],
  ['retry', 'RetryMiddleware', RETRY, { RETRY_ENABLED: false }],
  ['ajaxcrawl', 'AjaxCrawlMiddleware', 560, {}],
  ['redirect', 'MetaRefreshMiddleware', 580, { METAREFRESH_ENABLED: false }],
  [
    ...(['httpcompression', 'HttpCompressionMiddleware', 590] as const),
    'to get bodies unencoded, set the header Accept-Encoding to identity',
  ],
  ['redirect', 'RedirectMiddleware', REDIRECT, { REDIRECT_ENABLED: false }],
  ['cookies', 'CookiesMiddleware', COOKIES, { COOKIES_ENABLED: false }],
  ['httpproxy', 'HttpProxyMiddleware', 750, { HTTPPROXY_ENABLED: false }],
  ['stats', 'DownloaderStats', 850, 'crawlnode always counts them'],
  ['httpcache', 'HttpCacheMiddleware', 900, { HTTPCACHE_ENABLED: false }],
];
const spider: readonly Row[] = [
  ['start', 'StartSpiderMiddleware', 25, {}],
  ['httperror', 'HttpErrorMiddleware', 50, { HTTPERROR_ALLOW_ALL: true }],
  ['offsite', 'OffsiteMiddleware', 500, 'remove allowedDomains from the spider'],
  ['referer', 'RefererMiddleware', 700, {}],
  ['urllength', 'UrlLengthMiddleware', 800, { URLLENGTH_LIMIT: 0 }],
  ['depth', 'DepthMiddleware', 900, { DEPTH_LIMIT: 0, DEPTH_PRIORITY: 0 }],
];

const builtIns = (folder: string, rows: readonly Row[]): BuiltIn[] =>
  rows.map(([module, name, number, off]) => ({
    name,
    number,
    off,
    path: `scrapy.${folder}.${module}.${name}`,
  }));

/** In the order of their numbers. What each does stands in docs/guide/middleware.md. */
export const builtInMiddleware: Readonly<Record<MiddlewareSetting, readonly BuiltIn[]>> = {
  DOWNLOADER_MIDDLEWARES: builtIns('downloadermiddlewares', downloader),
  SPIDER_MIDDLEWARES: builtIns('spidermiddlewares', spider),
};

/** The item pipelines that ITEM_PIPELINES may name beside modules. */
export const builtInPipelines: readonly string[] = ['RedisPipeline', 'FilesPipeline', 'ImagesPipeline'];

/** Whether a setting means a module by this name, not something that is built in. */
export function isModulePath(name: string): boolean {
  return /\.[cm]?[jt]s$/.test(name);
}

/** The built-in of a name or dotted path; undefined for anything else. */
export function builtInOf(setting: MiddlewareSetting, name: string): BuiltIn | undefined {
  return builtInMiddleware[setting].find((each) => each.name === name || each.path === name);
}
