/**
 * `crawlnode items S list|export`. `list` shows the items list. `export` with a file moves the list into the file. Without
 * one, it writes items that nodes of this machine committed for their own files but did not write before they died.
 */
import { statSync } from 'node:fs';
import os from 'node:os';
import { Argument, type Command } from 'commander';
import { exportItems } from '../../crawler/feeds/export-items.js';
import { type FeedTarget, feedTargets } from '../../crawler/feeds/feed-targets.js';
import type { FeedsOfCrawl } from '../../crawler/feeds/open-target.js';
import { isElsewhere, orphanOf, writeOrphanedFeed } from '../../crawler/feeds/orphaned-feeds.js';
import { userFeedRecords } from '../../crawler/feeds/user-feed-records.js';
import { type CrawlName, crawlName, refuseMissingJob } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { CrawlnodeError, RefusedError, UsageError } from '../../errors.js';
import { isPipelineOutbox } from '../../feed-outbox.js';
import { n } from '../../format-amounts.js';
import type { OutboxSnapshot } from '../../frontier/frontier.js';
import { silentLogger } from '../../log.js';
import type { Settings } from '../../settings/schema.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { atLeastOne } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import { printItems } from '../reports/items-list.js';
import { withLiveLine } from '../terminal/live-line.js';
import { oneLine } from '../terminal/printable.js';

const help = `
"list" prints the first items of the items list of the crawl (<spider>:items, filled by RedisPipeline), one line of JSON
each. They stay in the list.

"export" with -o or -O moves the items list into the file. Each item is in the file exactly once, even if this command is
killed: run it again with the same file, and it continues. Items that a running crawl adds during the export stay for the
next export. -o appends to the file. -O empties it first, unless it continues an interrupted export or the items list is empty (exit code 3). The extension sets the
format: .jsonl, .json, .csv or .xml.

"export" without -o or -O writes items of dead nodes: items that nodes of this machine committed for their -o files, but did
not write before they died. Each is written once to its own file. The items list does not change. Files whose writer is
live are skipped.

Examples:
  crawlnode items shop list --limit 3
  crawlnode items shop export -o shop.jsonl
  crawlnode items shop export -O today.csv --max 100000
  crawlnode items shop export`;

/** Items that `list` shows without `--limit`. */
const SHOWN = 10;

/** The outcome for the waiting items of one file. */
interface Export {
  readonly host: string;
  readonly path: string;
  /** In the file now. */
  readonly written: number;
  /** Still in the store. */
  readonly waiting: number;
  /** Why they still wait; null when none do. */
  readonly why: string | null;
  readonly failed: boolean;
}

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .addArgument(
        new Argument('<action>', 'list: show items; export: write committed items to a file')
          .choices(['list', 'export'])
          .argParser((word) => word),
      )
      .option('-o, --output <file>', 'append the items list to this file')
      .option('-O, --overwrite-output <file>', 'the same, but empty the file first')
      .option('--max <n>', 'move at most this many items from the list', atLeastOne)
      .option('--limit <n>', `show at most this many items (default: ${SHOWN})`, atLeastOne)
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', action = ''], options) => {
    refuseOtherAction(action, options);
    const { loaded } = await loadSpiderOrSettings(context, spider, settingTextsOf(options));
    const { settings } = loaded;
    const target = targetOf(context, spider, options, settings);
    const open = openOptions(settings, spider);
    return withFrontier(open, async (frontier) => {
      const crawl = { spider, job: settings.JOB };
      await refuseMissingJob(frontier, crawl);
      const files = { frontier, settings, records: userFeedRecords(context.env, open), log: silentLogger };
      if (action === 'list') {
        await printItems(context, crawl, frontier, (options.limit as number | undefined) ?? SHOWN);
        return 0;
      }
      if (target !== null) {
        await exportList(context, crawl, files, target, options.max as number | undefined);
        return 0;
      }
      const { outbox, items } = await frontier.snapshot();
      const exports: Export[] = [];
      for (const feed of outbox.filter(waitsForFile)) exports.push(await exportOne(feed, files));
      if (context.globals.json) {
        printJson(context, { ...crawl, files: exports.map(({ failed: _, ...rest }) => rest) });
      } else {
        show(context, crawlName(crawl), exports);
        if (items > 0)
          note(context, `${n(items)} items are in ${open.keys.items}; -o FILE moves them into a file`);
      }
      return exports.some(({ failed }) => failed) ? 1 : 0;
    });
  },
};

/** @throws UsageError for an option of the other action */
function refuseOtherAction(
  action: string,
  { output, overwriteOutput, max, limit }: Readonly<Record<string, unknown>>,
): void {
  const ofExport = { '-o': output, '-O': overwriteOutput, '--max': max };
  const [name] = Object.entries(ofExport).find(([, value]) => value !== undefined) ?? [];
  if (action === 'list' && name !== undefined) {
    throw new UsageError(`${name} goes with export; "--limit N" is how many items list shows`);
  }
  if (action === 'export' && limit !== undefined) {
    throw new UsageError('--limit goes with list; "--max N" is how many items export moves');
  }
}

/** @throws UsageError for both options at once, or `--max` without either. */
function targetOf(
  { cwd }: Context,
  spider: string,
  { output, overwriteOutput, max }: Readonly<Record<string, unknown>>,
  settings: Settings,
): FeedTarget | null {
  if (output !== undefined && overwriteOutput !== undefined)
    throw new UsageError('-o and -O contradict each other');
  if (output === undefined && overwriteOutput === undefined) {
    if (max !== undefined) throw new UsageError('--max goes with -o or -O');
    return null;
  }
  const list = (file: unknown) => (file === undefined ? [] : [String(file)]);
  const names = { name: spider, job: settings.JOB, time: new Date() };
  return feedTargets(cwd, list(output), list(overwriteOutput), settings, names)[0]!;
}

async function exportList(
  context: Context,
  crawl: CrawlName,
  files: FeedsOfCrawl,
  target: FeedTarget,
  max = Number.POSITIVE_INFINITY,
): Promise<void> {
  await refuseToEmpty(crawl, files, target);
  const startedAt = performance.now();
  const rate = (written: number) =>
    n(Math.round((written * 1000) / Math.max(1, performance.now() - startedAt)));
  const exported = await withLiveLine(
    context,
    (written) => `${n(written)} items written · ${rate(written)}/s`,
    (onProgress) => exportItems({ ...files, target, max, onProgress }),
  );
  const { items, outbox } = await files.frontier.snapshot();
  if (exported.resumed) note(context, `${target.path}: went on with an export that was cut off`);
  if (exported.foreign > 0) {
    note(context, `${n(exported.foreign)} of them are no JSON objects: they stand under "value"`);
  }
  for (const { path, waiting } of outbox.filter(waitsForFile)) {
    note(
      context,
      `${n(waiting)} items wait for ${path}: "crawlnode items ${crawlArguments(context, crawl)} export" without a file writes them`,
    );
  }
  if (context.globals.json) {
    printJson(context, {
      ...{ ...crawl, file: target.path },
      ...{ written: exported.written, inFile: exported.inFile, left: items },
    });
  } else {
    const left = items === 0 ? '' : `; ${n(items)} are in the list`;
    print(context, oneLine(`${target.path}: ${n(exported.written)} items written${left}`));
  }
}

/** @throws RefusedError where -O would only delete what the file has, such as the items of the last export */
async function refuseToEmpty(
  crawl: CrawlName,
  { frontier }: FeedsOfCrawl,
  { id, path, overwrite }: FeedTarget,
): Promise<void> {
  if (!overwrite || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const { items, outbox } = await frontier.snapshot();
  if (items > 0 || outbox.some(({ feed, waiting }) => feed === id && waiting > 0)) return;
  throw new RefusedError(
    `the items list of ${crawlName(crawl)} is empty, and -O would only delete the content of ${path}: the file stays as it is`,
  );
}

/** What waits for a pipeline is passed on by the nodes of the crawl alone. */
const waitsForFile = ({ feed, waiting }: OutboxSnapshot) => waiting > 0 && !isPipelineOutbox(feed);

async function exportOne(feed: OutboxSnapshot, how: FeedsOfCrawl): Promise<Export> {
  const { host, waiting } = feed;
  const orphan = orphanOf(feed, how);
  // The store's word, unless this user knows better.
  const path = orphan?.file.path ?? (feed.path || 'a file that the store does not name any more');
  const stays = (why: string, failed: boolean) => ({ host, path, written: 0, waiting, why, failed });
  if (host !== os.hostname() && host !== '')
    return stays(`the file is on ${host}: run this command there`, false);
  if (orphan === null) {
    return stays(
      'neither FEEDS nor a record of this user says that this is a file of the crawl: if it is, start the crawl again with -o and its name',
      true,
    );
  }
  if (isElsewhere(orphan, how)) {
    return stays('the file is not there: run this where it is (another container?)', true);
  }
  try {
    const written = await writeOrphanedFeed(orphan, how);
    return { host, path, written, waiting: 0, why: null, failed: false };
  } catch (error) {
    if (!(error instanceof CrawlnodeError)) throw error;
    return stays(error.message, !(error instanceof RefusedError));
  }
}

function show(context: Context, name: string, exports: readonly Export[]): void {
  if (exports.length === 0) print(context, `${name}: no items wait for a file`);
  for (const { path, written, waiting, why } of exports) {
    print(
      context,
      oneLine(
        why === null ? `${path}: ${n(written)} items written` : `${path}: ${n(waiting)} items wait: ${why}`,
      ),
    );
  }
}
