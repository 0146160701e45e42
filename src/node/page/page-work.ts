/** The types that the steps of a page share: what it is processed with, the page itself, and how it ends. */
import type { Downloader } from '../../downloader/downloader.js';
import type { Authorize } from '../../downloader/http-auth.js';
import type { Effects, Outcome } from '../../frontier/frontier.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';
import type { Logger } from '../../log.js';
import type { ItemPipelines } from '../../pipelines/item-pipeline.js';
import type { Spider } from '../../spider/spider.js';
import type { NodeStats } from '../../stats/stats.js';
import type { SessionCookies } from '../cookies/session-cookies.js';
import type { Signals } from '../extensions/signals.js';
import type { Counters } from '../links/filter-links.js';
import type { LinkDeps, PageLinks } from '../links/page-links.js';
import type { DelayLog } from '../membership/autothrottle-log.js';
import type { Middleware } from '../middleware/load-middleware.js';
import type { NodeOptions } from '../node-options.js';
import type { ConditionalRequests } from '../recrawl/conditional-requests.js';
import type { RobotsGate } from '../robots/robots-gate.js';
import type { Measures } from '../telemetry/measures.js';
import type { FailedStartPages } from './failed-start-pages.js';
import type { Flight } from './flight.js';
import type { HangingDomains } from './hanging-domains.js';

/** What every page of a crawl is processed with. */
export interface PageDeps extends LinkDeps {
  readonly spider: Spider;
  readonly downloader: Downloader;
  readonly pipelines: ItemPipelines;
  readonly middleware: Middleware | null;
  readonly options: NodeOptions;
  readonly authorize: Authorize;
  readonly delays: DelayLog;
  readonly failedStartPages: FailedStartPages;
  readonly hangingDomains: HangingDomains;
  readonly cookies: SessionCookies;
  readonly stats: NodeStats;
  /** Null without METRICS_PORT. */
  readonly measures: Measures | null;
  /** Null without extensions. */
  readonly signals: Signals | null;
  /** Null where no page of the crawl comes again. */
  readonly recrawl: ConditionalRequests | null;
  /** Null when robots.txt is not obeyed. */
  readonly robots: RobotsGate | null;
  readonly log: Logger;
  /** How many pages have ended so far. */
  endedPages(): number;
}

/** A page in progress: each step takes it and hands it on. */
export interface Work {
  readonly flight: Flight;
  readonly record: RequestRecord;
  readonly request: Request;
  readonly counters: Counters;
  /** Its Cookie header has been made, for middleware to see. */
  readonly hasCookies?: boolean;
  readonly deps: PageDeps;
}

/** How a page ends: the arguments of its settle. */
export interface PageEnding {
  readonly outcome: Outcome;
  readonly effects: Effects;
  /** Where the page yielded requests. */
  readonly links?: PageLinks;
}
