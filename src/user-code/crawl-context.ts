/** What `open` of a pipeline, a middleware and an extension is called with. */
import type { SpiderLogger } from '../log.js';
import type { Settings } from '../settings/schema.js';
import type { Stats } from '../stats/stats.js';

/** The crawl that a pipeline, a middleware or an extension runs in. */
export interface CrawlContext {
  /** The id of the node (NODE_ID). */
  readonly nodeId: string;
  /** The name of the spider. */
  readonly spider: string;
  /** The name of the job; null for the unnamed job. */
  readonly job: string | null;
  /** All settings in effect, by name. */
  readonly settings: Settings;
  /** Changes in a method that is called for a page are committed with the page. */
  readonly stats: Stats;
  /** The log of the node. */
  readonly log: SpiderLogger;
}
