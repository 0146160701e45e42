/** `crawlnode reset`: delete the state of one spider and job, part by part, after saying how much it is. */

import path from 'node:path';
import type { Command } from 'commander';
import { shapeOf } from '../../crawler/project/engine-settings.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { RefusedError, UsageError } from '../../errors.js';
import { duration } from '../../frontier/amounts.js';
import {
  allParts,
  type Frontier,
  type NodeSnapshot,
  type Part,
  type PartCounts,
} from '../../frontier/frontier.js';
import { backUp } from '../backup/back-up.js';
import { refuseExisting, type WrittenBackup } from '../backup/write-backup.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { crawlArguments } from '../crawl-arguments.js';
import { atLeastOne } from '../options/at-least-one.js';
import { spiderWords } from '../options/crawl-argument.js';
import { parseDuration } from '../options/duration.js';
import { jobOption, textsOf } from '../options/job-option.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import { judge, type Verdict } from '../reset/clean-policy.js';
import { namedParts, ownParts } from '../reset/reset-parts.js';
import { confirm } from '../terminal/confirm.js';
import { crawlName, howMany, n } from '../terminal/format-values.js';
import { oneLine } from '../terminal/printable.js';

/** Without `--only` or `--all`; never the items. */
const DEFAULT_PARTS: readonly Part[] = ['queue', 'dupefilter', 'start_urls', 'failed', 'stats'];

const help = `
Without --only or --all: queue, dupefilter, start_urls, failed and stats; never the items. Other spiders and jobs are
not touched. The queue holds requests and all that nodes share; a committed item that waits for its file stays.

--backup writes what will be deleted to a file first (JSON lines; compressed when its name ends in .gz), and deletes
nothing unless that file is whole and on the disk. "crawlnode restore SPIDER FILE" brings it back.

--older-than and --if-larger-than make a reset that can be run every night: it happens when the crawl, or its
dupefilter, began longer ago, or when the dupefilter holds more fingerprints; otherwise it says why nothing was done,
and exits 0.

Examples:
  crawlnode reset shop --dry-run
  crawlnode reset shop --only dupefilter --yes
  crawlnode reset shop --older-than 7d --if-larger-than 10000000 --backup shop-$(date +%F).jsonl.gz --yes`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .option('--only <parts>', `some of ${allParts.join(',')}`)
      .option('--all', 'everything, the items too')
      .option('--backup <file>', 'write what is deleted to this file first')
      .option(
        '--older-than <duration>',
        'only a crawl that began longer ago: 90s, 15m, 12h, 7d, 2w',
        parseDuration,
      )
      .option('--if-larger-than <n>', 'only a dupefilter of more fingerprints', atLeastOne)
      .option('--dry-run', 'only say what would be deleted')
      .option('--yes', 'do not ask')
      .option('--force', 'although nodes live, keys that other spiders share, and a backup of the same name')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = ''], options) => {
    const force = options.force === true;
    const wanted = partsOf(options);
    const { loaded } = await loadSpiderOrSettings(context, spider, textsOf(options));
    const { settings } = loaded;
    const crawl = { spider, job: settings.JOB };
    const open = openOptions(settings, spider);
    const { parts, keys, kept } = ownParts(wanted, settings, open, force);
    for (const key of kept)
      note(context, `${key} is shared with other spiders and stays; --force deletes it too`);
    const file = options.backup as string | undefined;
    if (file !== undefined) refuseExisting(path.resolve(context.cwd, file), force);
    // What somebody else left can be deleted, but a backup of it cannot be made.
    return withFrontier({ ...open, keys, acceptForeignKeys: file === undefined }, async (frontier) => {
      const verdict = await verdictOn(frontier, parts, options);
      if (verdict !== null && !verdict.isDue) {
        if (context.globals.json) printJson(context, { spider, dryRun: false, parts: {}, ...dueOf(verdict) });
        else print(context, `${crawlName(crawl)}: nothing to do: ${verdict.why}`);
        return 0;
      }
      const counts = await frontier.count();
      const found: Found = { ...crawl, parts, counts, verdict, dryRun: options.dryRun === true };
      if (!context.globals.json) show(context, found, file);
      if (!found.dryRun) {
        if (!force) await refuseWhileCrawling(context, frontier, crawl, settings.HEARTBEAT_INTERVAL * 2_000);
        if (options.yes !== true)
          await confirm(context, 'reset', `Delete these parts of ${crawlName(crawl)}?`);
      }
      const shape = shapeOf(settings);
      const backup =
        file === undefined || found.dryRun
          ? null
          : await backUp(context, frontier, { file, spider, job: settings.JOB, shape, parts, counts, force });
      if (!found.dryRun) await frontier.clear(parts, { force });
      if (context.globals.json) printJson(context, jsonOf(found, backup));
      else if (!found.dryRun) tell(context, crawl, backup);
      return 0;
    });
  },
};

interface Crawl {
  readonly spider: string;
  readonly job: string | null;
}

/** What a reset is about. */
interface Found extends Crawl {
  readonly parts: readonly Part[];
  readonly counts: PartCounts;
  readonly verdict: Verdict | null;
  readonly dryRun: boolean;
}

function partsOf(options: Readonly<Record<string, unknown>>): readonly Part[] {
  if (options.all === true && options.only !== undefined) {
    throw new UsageError('--only and --all contradict each other');
  }
  if (options.all === true) return allParts;
  return typeof options.only === 'string' ? namedParts(options.only) : DEFAULT_PARTS;
}

async function verdictOn(
  frontier: Frontier,
  parts: readonly Part[],
  { olderThan, ifLargerThan }: Readonly<Record<string, unknown>>,
): Promise<Verdict | null> {
  if (olderThan === undefined && ifLargerThan === undefined) return null;
  const policy = {
    ...(olderThan === undefined ? {} : { olderThanMs: olderThan as number }),
    ...(ifLargerThan === undefined ? {} : { largerThan: ifLargerThan as number }),
  };
  return judge(policy, await frontier.snapshot(), parts, Date.now());
}

function dueOf({ isDue, why }: Verdict): object {
  return { due: isDue, why };
}

function jsonOf({ spider, parts, counts, verdict, dryRun }: Found, backup: WrittenBackup | null): object {
  return {
    ...{ spider, dryRun },
    parts: Object.fromEntries(parts.map((part) => [part, counts[part]])),
    ...(verdict === null ? {} : dueOf(verdict)),
    ...(backup === null ? {} : { backup }),
  };
}

function show(context: Context, found: Found, file: string | undefined): void {
  const { parts, counts, verdict, dryRun } = found;
  const name = crawlName(found);
  if (verdict !== null) print(context, `${name}: ${verdict.why}`);
  print(context, `${name}: ${dryRun ? 'would delete' : 'to be deleted'}`);
  for (const part of parts) print(context, `  ${part.padEnd(10)}  ${counts[part].toLocaleString('en')}`);
  if (dryRun && file !== undefined) print(context, oneLine(`after a backup to ${file}`));
}

function tell(context: Context, crawl: Crawl, backup: WrittenBackup | null): void {
  const saved = backup === null ? '' : `; a backup of ${n(backup.bytes)} bytes is in ${backup.file}`;
  print(context, oneLine(`${crawlName(crawl)}: deleted${saved}`));
}

/** @param silentMs a node that lives is heard more often than that. */
async function refuseWhileCrawling(
  context: Context,
  frontier: Frontier,
  crawl: Crawl,
  silentMs: number,
): Promise<void> {
  const nodes = await nodesOf(context, frontier);
  if (nodes.length === 0) return;
  const who = `${howMany(nodes.length, 'node')} ${nodes.length === 1 ? 'is' : 'are'} crawling ${crawlName(crawl)}`;
  const which = nodes.map(({ id, heartbeatAgeMs }) =>
    heartbeatAgeMs < silentMs ? id : `${id}, not heard for ${duration(heartbeatAgeMs)}`,
  );
  const silent = nodes.some(({ heartbeatAgeMs }) => heartbeatAgeMs >= silentMs)
    ? '; one that was killed counts as dead after NODE_TIMEOUT'
    : '';
  const how = `stop them first ("crawlnode stop ${crawlArguments(context, crawl)}"), or --force`;
  throw new RefusedError(`${who} (${which.join('; ')}); ${how}${silent}`, { code: 'live_nodes' });
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
