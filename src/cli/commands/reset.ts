/** `crawlnode reset`: prints how much state a spider and job have, then deletes the selected parts. */
import path from 'node:path';
import type { Command } from 'commander';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { shapeOf } from '../../crawler/project/settings-to-options.js';
import { UsageError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import { noteBackup } from '../../frontier/choose-engine.js';
import { allParts, type Part } from '../../frontier/frontier.js';
import { createBackup } from '../backup/create-backup.js';
import { refuseExisting, type WrittenBackup } from '../backup/write-backup.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { parseDuration } from '../options/duration.js';
import { atLeastOne, commaList } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import type { CleanPolicy } from '../reset/clean-policy.js';
import { refuseWhileCrawling } from '../reset/live-nodes.js';
import { type AllJobsOptions, resetAllJobs } from '../reset/reset-all-jobs.js';
import { namedParts, ownParts } from '../reset/reset-parts.js';
import { noSuchCrawl, planJson, planReset, type ResetCrawl, showPlan } from '../reset/reset-plan.js';
import { confirm } from '../terminal/confirm.js';
import { oneLine } from '../terminal/printable.js';

/** The parts without `--only` or `--all`. They do not include the items. */
const DEFAULT_PARTS: readonly Part[] = ['queue', 'dupefilter', 'start_urls', 'failed', 'stats'];

const help = `
Without --only or --all it deletes queue, dupefilter, start_urls, failed and stats, but not the items. Other spiders and
jobs do not change. The part "queue" contains the requests and the shared state of the nodes. Committed items that are not
yet written to their output file are kept.

--backup first writes everything that will be deleted to a file (JSON lines; compressed when its name ends in .gz).
Nothing is deleted until the file is complete and on disk. "crawlnode restore SPIDER FILE" restores it.

--older-than and --if-larger-than are for resets that run regularly, for example every night. With --older-than the crawl
is reset if it or its dupefilter is older than that. With --if-larger-than it is reset if the dupefilter holds more
fingerprints. With both options, one condition is enough. Otherwise the command prints why nothing was done, and exits with
0. With --all-jobs each job is checked separately.

A spider or --job without data in the store is refused (exit code 2), because the folder, store or name is probably
wrong. A spider of this project that has no crawl yet is not an error.

Examples:
  crawlnode reset shop --dry-run
  crawlnode reset shop --only dupefilter --yes
  crawlnode reset shop --all-jobs --older-than 7d --all --yes
  crawlnode reset shop --older-than 7d --if-larger-than 10000000 --backup shop.jsonl.gz --yes`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .option('--only <parts>', `some of ${allParts.join(',')}`, commaList)
      .option('--all', 'everything, including the items')
      .option('--backup <file>', 'write what is deleted to this file first')
      .option(
        '--older-than <duration>',
        'only if the crawl began longer ago: 90s, 15m, 12h, 7d, 2w',
        parseDuration,
      )
      .option('--if-larger-than <n>', 'only if the dupefilter holds more fingerprints', atLeastOne)
      .option('--dry-run', 'only print what would be deleted')
      .option('--yes', 'do not ask')
      .option(
        '--force',
        'reset even if nodes are live; also delete keys shared with other spiders; overwrite the backup',
      )
      .addOption(jobOption())
      .option(
        '--all-jobs',
        'every job of the spider, and the crawl without a job; jobs with live nodes are skipped',
      )
      .addHelpText('after', help),
  run: async (context, [spider = ''], options) => {
    const wanted = partsOf(options);
    const how = {
      policy: policyOf(options),
      force: options.force === true,
      dryRun: options.dryRun === true,
      yes: options.yes === true,
    };
    refuseContradictions(options);
    const { loaded, create } = await loadSpiderOrSettings(context, spider, settingTextsOf(options), {
      mayBeNew: true,
    });
    const crawl = { spider, job: loaded.settings.JOB, settings: loaded.settings };
    if (options.allJobs === true) return resetAllJobs(context, crawl, { ...how, wanted });
    const isKnownCrawl = create !== null && options.job === undefined;
    return resetOne(context, crawl, {
      ...how,
      wanted,
      isKnownCrawl,
      file: options.backup as string | undefined,
    });
  },
};

interface ResetOptions extends AllJobsOptions {
  /** The project has this spider, so the name is not a typing error, and an empty store is not an error either. */
  readonly isKnownCrawl: boolean;
  readonly file: string | undefined;
}

/** @throws UsageError when the store holds nothing of a crawl whose name may be mistyped. */
async function resetOne(
  context: Context,
  crawl: ResetCrawl,
  { wanted, policy, force, dryRun, yes, isKnownCrawl, file }: ResetOptions,
): Promise<number> {
  const { spider, job, settings } = crawl;
  const open = openOptions(settings, spider);
  const { parts, keys, skippedKeys } = ownParts(wanted, settings, open, force);
  for (const key of skippedKeys)
    note(context, `${key} is shared with other spiders and stays; --force deletes it too`);
  if (file !== undefined) refuseExisting(path.resolve(context.cwd, file), force);
  // Keys of other programs can be deleted but not backed up.
  return withFrontier({ ...open, keys, acceptForeignKeys: file === undefined }, async (frontier) => {
    const plan = await planReset(frontier, crawl, parts, policy);
    if (!plan.existsInStore && !isKnownCrawl) throw noSuchCrawl(crawl);
    const { counts } = plan;
    if (counts !== null && !dryRun && !force) await refuseWhileCrawling(context, frontier, crawl);
    if (!context.globals.json) showPlan(context, plan, { dryRun, backupFile: file });
    if (counts === null || dryRun) {
      if (context.globals.json) printJson(context, planJson(plan, dryRun));
      return 0;
    }
    if (!yes) await confirm(context, 'reset', `Delete these parts of ${crawlName(crawl)}?`);
    const shape = shapeOf(settings);
    const backup =
      file === undefined
        ? null
        : await createBackup(context, frontier, { file, spider, job, shape, parts, counts, force });
    if (backup !== null) await noteBackup(open, backup.file);
    await frontier.clear(parts, { force });
    if (context.globals.json) {
      printJson(context, { ...planJson(plan, dryRun), ...(backup === null ? {} : { backup }) });
    } else tell(context, crawl, backup);
    return 0;
  });
}

/** @throws UsageError */
function refuseContradictions({ allJobs, job, backup }: Readonly<Record<string, unknown>>): void {
  if (allJobs !== true) return;
  if (job !== undefined) throw new UsageError('--all-jobs and --job contradict each other');
  if (backup !== undefined)
    throw new UsageError('--backup holds one job; reset the jobs one by one, each with its own file');
}

function partsOf(options: Readonly<Record<string, unknown>>): readonly Part[] {
  if (options.all === true && options.only !== undefined) {
    throw new UsageError('--only and --all contradict each other');
  }
  if (options.all === true) return allParts;
  return typeof options.only === 'string' ? namedParts(options.only) : DEFAULT_PARTS;
}

function policyOf({ olderThan, ifLargerThan }: Readonly<Record<string, unknown>>): CleanPolicy {
  return {
    ...(olderThan === undefined ? {} : { olderThanMs: olderThan as number }),
    ...(ifLargerThan === undefined ? {} : { largerThan: ifLargerThan as number }),
  };
}

function tell(context: Context, crawl: ResetCrawl, backup: WrittenBackup | null): void {
  const saved = backup === null ? '' : `; a backup of ${n(backup.bytes)} bytes is in ${backup.file}`;
  print(context, oneLine(`${crawlName(crawl)}: deleted${saved}`));
}
