/** Settings: where items go. */
import path from 'node:path';
import { z } from 'zod';
import { feedPlaceProblem } from '../feed-place.js';
import { choice, flag, integer, map, text } from '../kinds.js';

const feed = z.strictObject({
  format: z.enum(['jsonl', 'jsonlines', 'json', 'csv']).optional(),
  overwrite: z.boolean().optional(),
  escape_formulas: z.boolean().optional(),
});

const feeds = map(feed, {
  default: {},
  expects: 'a map of files to { format, overwrite, escape_formulas }',
  text: 'Files items are written to: { out.jsonl: { format: jsonl, overwrite: false } }. Formats: jsonl, json, csv; without one, by the extension. escape_formulas: true puts an apostrophe before a CSV text that a spreadsheet would run (=, +, -, @).',
});

export const itemSettings = {
  ITEM_PIPELINES: map(z.union([z.int().min(0).max(1000), z.null()]), {
    default: { RedisPipeline: 300 } as Record<string, number | null>,
    expects: 'a map of modules to numbers from 0 to 1000 (null switches one off)',
    text: 'Pipelines that process every item, lowest number first. RedisPipeline appends the item to REDIS_ITEMS_KEY. By default it is on only when no file takes the items (-o, -O or FEEDS). Other pipelines are modules such as ./pipelines/clean.ts.',
  }),
  ITEM_NODE_ID: flag({ default: false, text: 'Add node_id to every item in the items list.' }),
  FEEDS: {
    ...feeds,
    zod: feeds.zod.superRefine((places, context) => {
      for (const place of Object.keys(places)) {
        const message = feedPlaceProblem(place);
        if (message !== null) context.addIssue({ code: 'custom', path: [place], message });
      }
    }),
    resolve: (feeds: Record<string, z.output<typeof feed>>, dir: string) =>
      Object.fromEntries(Object.entries(feeds).map(([file, options]) => [path.resolve(dir, file), options])),
  },
  FEED_OUTBOX_LIMIT: integer({
    default: 10_000,
    unit: 'items',
    text: 'How many committed items may wait for a file of FEEDS or -o that cannot be written, or for committed() of an item pipeline. Above this limit the crawl pauses.',
  }),
  REDIS_ITEMS_KEY: text({
    default: '%(spider)s:items',
    text: "Key of the items list. %(spider)s is the spider's name.",
  }),
  REDIS_ITEMS_SERIALIZER: text({
    default: 'json',
    ignored: 'items are JSON',
    text: 'Scrapy-Redis; without effect.',
  }),
  CALLBACK_ERROR: choice({
    of: ['fail', 'keep'],
    default: 'fail',
    text: 'What an error does to its page. fail: nothing of the page is committed, and it goes to the failed list. keep, as in Scrapy: what a callback yielded before its error is committed, the page goes to the failed list as kept, and "failed retry" skips it unless --kept is given; an error of a pipeline costs only its item.',
  }),
  MAX_ITEMS_PER_PAGE: integer({
    default: 10_000,
    min: 1,
    max: 10_000,
    unit: 'items',
    text: 'A page that yields more items fails as too_many_items.',
  }),
};
