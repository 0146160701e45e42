/** The public API of crawlnode; everything else is internal. */
export type {
  CrawlOptions,
  CrawlResult,
  CrawlStats,
  ProgramOptions,
  RunSpiderOptions,
  SeedOptions,
  SeedResult,
  SpiderChoice,
  SpiderOutput,
} from './crawler/program/options.js';
export { crawl, failed, items, runSpider, seed, stats } from './crawler/program/program.js';
export type { FailedPage } from './crawler/requests/failed-requests.js';
export {
  CloseSpider,
  CrawlnodeError,
  DropItem,
  FrontierUnavailableError,
  IgnoreRequest,
  InvalidRequestError,
  RefusedError,
  SettingsError,
  SpiderLoadError,
  UsageError,
} from './errors.js';
export { decodeBody } from './http/charset/decode-body.js';
export { baseUrl } from './http/markup/base-url.js';
export type { LinkOptions } from './http/markup/links.js';
export { metaRefresh } from './http/markup/meta-refresh.js';
export { type Selector, SelectorList } from './http/markup/selector.js';
export type { XPathVariables } from './http/markup/xpath/xpath-query.js';
export { fingerprint } from './http/message/fingerprint.js';
export type { FormData } from './http/message/form/form-data.js';
export type { FormRequestOptions } from './http/message/form/form-request.js';
export type { Headers, HeadersInput } from './http/message/headers.js';
export type { OutgoingRequest } from './http/message/outgoing-request.js';
export type { FileResult, JsonObject, JsonValue } from './http/message/record/request-record.js';
export {
  type Callback,
  type CallbackResults,
  type CbKwargs,
  type Meta,
  Request,
  type RequestOptions,
  type Result,
  type Yielded,
} from './http/message/request.js';
export type { CookieInput, RequestCookie, RequestCookies } from './http/message/request-cookies.js';
export type { RequestModule } from './http/message/request-module.js';
export { type FollowOptions, Response, type ResponseParts, type SavedPage } from './http/message/response.js';
export type { SitemapEntry } from './http/sitemap/sitemap.js';
export { canonicalizeUrl } from './http/url/canonicalize-url.js';
export { glob, type Patterns } from './http/url/url-patterns.js';
export type { Logger, SpiderLogger } from './log.js';
export type {
  Extension,
  ExtensionEvents,
  IdleRequests,
} from './node/extensions/extension.js';
export type { DownloaderMiddleware } from './node/middleware/downloader-middleware.js';
export type { SpiderMiddleware, SpiderResult } from './node/middleware/spider-middleware.js';
export type { CommittedItem } from './pipelines/committed/committed-item.js';
export { type FilePathInput, FilesPipeline, ImagesPipeline } from './pipelines/files/media-pipeline.js';
export type { ItemPipeline, PipelineInput } from './pipelines/load-pipelines.js';
export { parseRobots, type Robots } from './robots/parse-robots.js';
export { defineSettings } from './settings/define-settings.js';
export type { ProjectTypes } from './settings/own/project-types.js';
export type { Settings, SettingsInput } from './settings/schema.js';
export type { ItemOf, ItemSchema } from './spider/item.js';
export { type Field, field, type LoadedItem, loadItem, type Selectable } from './spider/item-loader.js';
export {
  absoluteUrl,
  decimalComma,
  each,
  first,
  join,
  number,
  orElse,
  type Processor,
  trim,
} from './spider/item-processors.js';
export { CSVFeedSpider, type CSVRow } from './spider/kinds/csv-feed-spider.js';
export type { FeedSpider } from './spider/kinds/feed-spider.js';
export { type SitemapRule, SitemapSpider } from './spider/kinds/sitemap-spider.js';
export { XMLFeedSpider, type XMLIterator } from './spider/kinds/xml-feed-spider.js';
export type { RefreshRule } from './spider/refresh.js';
export { CrawlSpider, type Rule } from './spider/rules/crawl-spider.js';
export { type Link, LinkExtractor, type LinkExtractorOptions } from './spider/rules/link-extractor.js';
export type { Failure } from './spider/run-callback.js';
export {
  type CallbackName,
  type MadeRequests,
  Spider,
  type SpiderContext,
  type StartRequests,
} from './spider/spider.js';
export type { StatValue } from './stats/stat-change.js';
export type { Stats } from './stats/stats.js';
export type { CrawlContext } from './user-code/crawl-context.js';
