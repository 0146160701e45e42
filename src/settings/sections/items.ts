/** Settings: where items go. */
import path from 'node:path';
import * as z from 'zod';
import { SettingsError } from '../../errors.js';
import {
  choice,
  decimal,
  flag,
  integer,
  map,
  moduleNumber,
  projectPath,
  text,
  withoutEffect,
} from '../kinds.js';

const GZIP_NAMES = ['GzipPlugin', 'scrapy.extensions.postprocessing.GzipPlugin'] as const;

/** Options of a feed, by Scrapy's names; `escape_formulas` is crawlnode's own. */
const feed = z.strictObject({
  format: z.enum(['jsonl', 'jsonlines', 'json', 'csv', 'xml']).optional(),
  overwrite: z.boolean().optional(),
  fields: z.union([z.array(z.string()).min(1), z.record(z.string(), z.string())]).nullish(),
  indent: z.int().min(0).max(16).nullish(),
  store_empty: z.boolean().optional(),
  batch_item_count: z.int().min(0).max(1_000_000_000).optional(),
  item_filter: z.string().min(1).nullish(),
  postprocessing: z.array(z.enum(GZIP_NAMES)).optional(),
  encoding: z.enum(['utf8', 'utf-8']).optional(),
  escape_formulas: z.boolean().optional(),
});

export const itemSettings = {
  /**
   * Pipelines that process every item, lowest number first. RedisPipeline appends the item to
   * REDIS_ITEMS_KEY. By default it is on only when no file takes the items (-o, -O or FEEDS). Other pipelines
   * are modules such as ./pipelines/clean.ts. Default: {"RedisPipeline":300}.
   */
  ITEM_PIPELINES: map(moduleNumber, {
    default: { RedisPipeline: 300 } as Record<string, number | null>,
    expects: 'a map of modules to numbers from 0 to 1000 (null switches one off)',
  }),
  /**
   * Extensions: modules such as ./extensions/alerts.ts that are called when something happens in the crawl,
   * lowest number first. Default: {}.
   */
  EXTENSIONS: map(moduleNumber, {
    default: {} as Record<string, number | null>,
    expects: 'a map of modules to numbers from 0 to 1000 (null switches one off)',
  }),
  /** Add node_id to every item in the items list. Default: false. */
  ITEM_NODE_ID: flag({ default: false }),
  /**
   * Files that items are written to: { out.jsonl: { format: jsonl, overwrite: false } }. Formats: jsonl,
   * json, csv, xml; without one, the extension decides, which .gz may follow. Names may contain %(name)s,
   * %(job)s and %(time)s. fields: a list, or a map of fields to names. indent: spaces, for json and xml.
   * store_empty: false removes a file without items. batch_item_count: begins a new file after so many items;
   * the name must contain %(batch_id)d. item_filter: a module such as ./filters/cheap.ts, whose default
   * export decides which items go to the file. stdout: in place of a file is standard output. postprocessing:
   * [GzipPlugin] compresses. escape_formulas: true puts an apostrophe before a CSV text that a spreadsheet
   * would run (=, +, - or "@"). Default: {}.
   */
  FEEDS: {
    ...map(feed, {
      default: {},
      expects:
        'a map of files to { format, overwrite, fields, indent, store_empty, batch_item_count, item_filter, postprocessing, escape_formulas } (instead of item_classes use item_filter; instead of uri_params %(name)s, %(job)s and %(time)s; files are UTF-8)',
    }),
    resolve: (feeds: Record<string, z.output<typeof feed>>, dir: string) => {
      const resolved = new Map<string, z.output<typeof feed>>();
      for (const [name, options] of Object.entries(feeds)) {
        const file = /^(?:[a-z][a-z0-9+.-]*:\/\/|stdout:)/i.test(name) ? name : projectPath(dir, name);
        if (resolved.has(file)) throw new SettingsError(`FEEDS names ${file} twice, once as ${name}`);
        const filter = options.item_filter;
        resolved.set(file, filter == null ? options : { ...options, item_filter: path.resolve(dir, filter) });
      }
      return Object.fromEntries(resolved);
    },
  },
  /**
   * How many committed items may wait for a file of FEEDS or -o that cannot be written, or for committed() of
   * an item pipeline. Above this limit the crawl pauses. Unit: items. Default: 10000.
   */
  FEED_OUTBOX_LIMIT: integer({ default: 10_000, unit: 'items' }),
  /** Key of the items list. %(spider)s is the spider's name. Default: "%(spider)s:items". */
  REDIS_ITEMS_KEY: text({ default: '%(spider)s:items' }),
  /** It has no effect: items are JSON. Default: "json". */
  REDIS_ITEMS_SERIALIZER: withoutEffect('json', 'items are JSON'),
  /**
   * What an error does to its page. fail: nothing of the page is committed, and it goes to the failed list.
   * keep, as in Scrapy: what a callback yielded before its error is committed, the page goes to the failed
   * list as kept, and "failed retry" skips it unless --kept is given; an error of a pipeline costs only its
   * item. Default: "fail".
   */
  CALLBACK_ERROR: choice({ of: ['fail', 'keep'], default: 'fail' }),
  /**
   * An asynchronous callback or errback that has not finished after this time fails its page as
   * callback_timeout, a processItem fails it as pipeline_error, and a method of a middleware as
   * middleware_error. A start() that gives nothing for this long is not given up: a warning says so. For code
   * that blocks the process see MAIN_LOOP_TIMEOUT. Unit: seconds. Default: 300.
   */
  CALLBACK_TIMEOUT: decimal({ default: 300, min: 0.1, max: 2_000_000, unit: 'seconds' }),
  /** A page that yields more items fails as too_many_items. Unit: items. Default: 10000. */
  MAX_ITEMS_PER_PAGE: integer({ default: 10_000, min: 1, max: 10_000, unit: 'items' }),
};
