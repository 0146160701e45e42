/** `crawlnode reset`: delete the state of one spider and job, part by part, after saying how much it is. */
import type { Command } from 'commander';
import { RefusedError, UsageError } from '../../errors.js';
import {
  allParts,
  type Frontier,
  type NodeSnapshot,
  type Part,
  type PartCounts,
} from '../../frontier/frontier.js';
import type { OpenOptions } from '../../frontier/open.js';
import { namesSpider } from '../../settings/keys.js';
import { didYouMean } from '../../settings/nearest.js';
import type { Settings } from '../../settings/schema.js';
import type { CliCommand } from '../commands.js';
import { confirm } from '../confirm.js';
import { type Context, note, print, printJson } from '../context.js';
import { jobOption, textsOf } from '../job-option.js';
import { loadSpiderOrSettings, openOptions, withFrontier } from '../open-project.js';

/** Without `--only` or `--all`; never the items. */
const DEFAULT_PARTS: readonly Part[] = ['queue', 'dupefilter', 'start_urls', 'failed', 'stats'];

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>')
      .option('--only <parts>', `some of ${allParts.join(',')}`)
      .option('--all', 'everything, the items too')
      .option('--dry-run', 'only say what would be deleted')
      .option('--yes', 'do not ask')
      .option('--force', 'although nodes live, and keys that other spiders share')
      .addOption(jobOption()),
  run: async (context, [spider = ''], options) => {
    const force = options.force === true;
    const wanted = partsOf(options);
    const { loaded, missing } = await loadSpiderOrSettings(context, spider, textsOf(options));
    if (missing !== null) note(context, missing);
    const open = openOptions(loaded.settings, spider);
    const { parts, keys, kept } = force
      ? { parts: wanted, keys: open.keys, kept: [] }
      : withoutShared(wanted, loaded.settings, open);
    for (const key of kept)
      note(context, `${key} is shared with other spiders and stays; --force deletes it too`);
    return withFrontier({ ...open, keys, acceptForeignKeys: true }, async (frontier) => {
      const counts = await frontier.count();
      show(context, spider, parts, counts, options.dryRun === true);
      if (options.dryRun === true) return 0;
      if (!force) await refuseWhileCrawling(context, frontier, spider);
      if (options.yes !== true) await confirm(context, 'reset', `Delete this of ${spider}?`);
      await frontier.clear(parts, { force });
      if (!context.globals.json) print(context, `${spider}: deleted`);
      return 0;
    });
  },
};

function partsOf(options: Readonly<Record<string, unknown>>): readonly Part[] {
  if (options.all === true && options.only !== undefined) {
    throw new UsageError('--only and --all contradict each other');
  }
  if (options.all === true) return allParts;
  if (typeof options.only !== 'string') return DEFAULT_PARTS;
  const names = options.only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(allParts as readonly string[]).includes(name));
  if (unknown === undefined) return names as Part[];
  throw new UsageError(
    `--only: unknown part ${JSON.stringify(unknown)}${didYouMean(unknown, allParts) || `; the parts are ${allParts.join(', ')}`}`,
  );
}

/** A key whose template does not name the spider may be another's as well. */
function withoutShared(wanted: readonly Part[], settings: Settings, { keys }: OpenOptions) {
  const seeds = [settings.REDIS_START_URLS_KEY].flat();
  const startUrls = keys.startUrls.filter((_, n) => namesSpider(seeds[n]!));
  const templates: Partial<Record<Part, [template: string, key: string]>> = {
    queue: [settings.SCHEDULER_QUEUE_KEY, keys.requests],
    failed: [settings.SCHEDULER_QUEUE_KEY, keys.requests],
    dupefilter: [settings.SCHEDULER_DUPEFILTER_KEY, keys.dupefilter],
    items: [settings.REDIS_ITEMS_KEY, keys.items],
    stats: [settings.STATS_KEY, keys.stats],
  };
  const isShared = (part: Part) =>
    part === 'start_urls' ? startUrls.length === 0 : !namesSpider(templates[part]![0]);
  const kept = [
    ...wanted.filter((part) => part !== 'start_urls' && isShared(part)).map((part) => templates[part]![1]),
    ...(wanted.includes('start_urls') ? keys.startUrls.filter((key) => !startUrls.includes(key)) : []),
  ];
  return {
    parts: wanted.filter((part) => !isShared(part)),
    keys: { ...keys, startUrls },
    kept: [...new Set(kept)],
  };
}

function show(
  context: Context,
  spider: string,
  parts: readonly Part[],
  counts: PartCounts,
  dryRun: boolean,
): void {
  if (context.globals.json) {
    const deleted = Object.fromEntries(parts.map((part) => [part, counts[part]]));
    printJson(context, { spider, dryRun, parts: deleted });
    return;
  }
  print(context, `${spider}: ${dryRun ? 'would delete' : 'to be deleted'}`);
  for (const part of parts) print(context, `  ${part.padEnd(10)}  ${counts[part].toLocaleString('en')}`);
}

async function refuseWhileCrawling(context: Context, frontier: Frontier, spider: string): Promise<void> {
  const nodes = await nodesOf(context, frontier);
  if (nodes.length === 0) return;
  throw new RefusedError(
    `${nodes.length} ${nodes.length === 1 ? 'node is' : 'nodes are'} crawling ${spider} (${nodes.map(({ id }) => id).join(', ')}); stop them first ("crawlnode stop ${spider}"), or --force`,
    { code: 'live_nodes' },
  );
}

/** Who works on a crawl of another data format cannot be told. */
async function nodesOf(context: Context, frontier: Frontier): Promise<readonly NodeSnapshot[]> {
  try {
    return (await frontier.snapshot()).nodes;
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'format') {
      note(
        context,
        `${error.message}; its failed requests, and items not yet in their files, go with the queue`,
      );
      return [];
    }
    throw error;
  }
}
