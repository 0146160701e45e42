/** Options of the functions for programs, and the results that they give. */
import type { JsonObject } from '../../http/message/record/request-record.js';
import type { Callback, Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Logger } from '../../log.js';
import type { SettingsInput } from '../../settings/schema.js';
import type { ItemSchema } from '../../spider/item.js';
import type { CallbackName, Spider } from '../../spider/spider.js';
import type { CrawlStats } from '../stats/crawl-stats.js';

/** A spider: its class, or the name of a spider of the project. */
export type SpiderChoice = (new () => Spider) | string;

/** The items of a spider: what its schema `item` gives; any JSON object where it has none, or is given by name. */
export type ItemsOf<S extends SpiderChoice> = S extends new () => { item: infer Schema extends ItemSchema }
  ? NonNullable<Schema['~standard']['types']>['output']
  : JsonObject;

/** Options of `stats`, and those that all functions for programs share. */
export interface ProgramOptions {
  /**
   * The settings file; by default that of the project around `cwd`, as on the command line. With `false` neither a file nor
   * the environment is read.
   */
  readonly config?: string | false;
  /** The folder to look for the project in, and the base of relative paths without one; default: the working folder. */
  readonly cwd?: string;
  /** Settings that override all others, as `-s` does on the command line. */
  readonly settings?: SettingsInput;
  /** Arguments of the spider, as `-a` gives them. Values are texts. */
  readonly args?: Readonly<Record<string, string>>;
  /** The name of an isolated crawl of the spider, as `--job`. */
  readonly job?: string;
}

/** Options of `crawl`. */
export interface CrawlOptions extends ProgramOptions {
  /** End when nothing is left to crawl on any node; default true. With false the crawl waits for seeds until `signal`. */
  readonly exitWhenDone?: boolean;
  /** End the run after this many page downloads of all nodes. */
  readonly maxPages?: number;
  /** Abort it to finish the pages in progress and leave. What is pending stays for the next crawl. */
  readonly signal?: AbortSignal;
  /**
   * Called with each item after its page was committed, in the order of the page, with the page's response (null for an
   * item of an errback without one, and for an item that waited for files). Best effort: an item is not repeated if the process dies before the call. Errors are
   * logged, and a promise is not waited for.
   */
  onItem?(item: JsonObject, response: Response | null): unknown;
  /** Gets the log of the node; nothing is printed without it. */
  readonly log?: Logger;
}

/** How a crawl ended. */
export interface CrawlResult {
  /** Scrapy's closing reason: `finished`, `shutdown` after `signal`, `closespider_pagecount`, `stopped` … */
  readonly reason: string;
  /** A sentence when the reason alone is not clear, such as why nothing was crawled; else null. */
  readonly message: string | null;
  /** Pages, items and failed requests of this call, without those of other nodes. */
  readonly pages: number;
  /** Items that these pages gave. */
  readonly items: number;
  /** Requests that were given up. */
  readonly failed: number;
  /** The whole crawl as its store has it, with the counters: what `stats()` gives. */
  readonly stats: CrawlStats;
  /** How long the call took, in ms. */
  readonly elapsedMs: number;
}

/** Options of `seed`. */
export interface SeedOptions extends ProgramOptions {
  /** Abort it to stop reading. Seeds that were read already are still pushed. */
  readonly signal?: AbortSignal;
}

/** What became of seeds. */
export interface SeedResult {
  /** New requests in the frontier. */
  readonly accepted: number;
  /** They wait already, or `SEEDS_FILTERED` is set and they were seen. */
  readonly duplicates: number;
  /** Seeds that are no request. */
  readonly bad: number;
  /** Why seeds were bad; the first hundred. */
  readonly badSeeds: readonly { readonly seed: string; readonly reason: string }[];
}

/** Options of `runSpider`. */
export interface RunSpiderOptions<S extends Spider = Spider> {
  /** A method of the spider or its name; default `parse`. */
  readonly callback?: CallbackName<S> | Callback;
  /** Arguments of the spider, as `-a` gives them. */
  readonly args?: Readonly<Record<string, string>>;
  /** Settings beside the spider's customSettings. No file and no environment is read. */
  readonly settings?: SettingsInput;
}

/** What a callback yielded. */
export interface SpiderOutput {
  /** Items after the item schema, in order. */
  readonly items: JsonObject[];
  /** Requests in order. Their callbacks and errbacks are names of methods; null for `parse` and for none. */
  readonly requests: Request[];
  /** Links that were followed, but that no client can fetch, such as `mailto:`. */
  readonly unfetchable: string[];
}

export type { CrawlStats } from '../stats/crawl-stats.js';
