/** The public API of crawlnode; everything else is internal. */
export {
  CrawlnodeError,
  DropItem,
  FrontierUnavailableError,
  InvalidRequestError,
  RefusedError,
  SettingsError,
  SpiderLoadError,
  UsageError,
} from './errors.js';
export { baseUrl, metaRefresh } from './http/base-url.js';
export { canonicalizeUrl } from './http/canonicalize-url.js';
export { decodeBody } from './http/decode-body.js';
export { fingerprint } from './http/fingerprint.js';
export type { FormData } from './http/form-data.js';
export type { Headers } from './http/headers.js';
export type { LinkOptions } from './http/links.js';
export type { Patterns } from './http/patterns.js';
export { type Callback, type Meta, Request, type RequestOptions } from './http/request.js';
export type { JsonObject, JsonValue } from './http/request-record.js';
export { type FollowOptions, Response, type ResponseParts } from './http/response.js';
export { type Selector, SelectorList } from './http/selector.js';
export type { Logger } from './log.js';
export type { ItemPipeline, PipelineContext, PipelineInput } from './pipelines/load-pipelines.js';
export { defineSettings } from './settings/define-settings.js';
export type { Settings, SettingsInput } from './settings/schema.js';
export { CrawlSpider, type Rule } from './spider/crawl-spider.js';
export type { Failure } from './spider/failure.js';
export type { RefreshRule } from './spider/refresh.js';
export { type MadeRequests, Spider } from './spider/spider.js';
