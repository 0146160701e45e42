/** `crawlnode reset`: prints how much state a spider and job have, then deletes the selected parts. */
import path from 'node:path';
import type { Command } from 'commander';
import { crawlsInStore } from '../../crawler/project/crawls-in-store.js';
import { UsageError } from '../../errors.js';
import { allParts, type Part } from '../../frontier/frontier.js';
import { refuseExisting } from '../backup/write-backup.js';
import type { CliCommand } from '../command.js';
import { type Context, note } from '../context.js';
import { parseDuration } from '../options/duration.js';
import { atLeastOne, commaList } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { crawlLister } from '../project/list-crawls.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import type { CleanPolicy } from '../reset/clean-policy.js';
import { resetCrawls } from '../reset/reset-crawls.js';
import { namedParts } from '../reset/reset-parts.js';
import type { ResetCrawl } from '../reset/reset-plan.js';

/** The parts without `--only` or `--all`. They do not include the items. */
const DEFAULT_PARTS: readonly Part[] = ['queue', 'dupefilter', 'start_urls', 'failed', 'stats'];

const help = `
Without --only or --all it deletes queue, dupefilter, start_urls, failed and stats, but not the items. Other spiders and
jobs do not change. The part "queue" contains the requests and the shared state of the nodes, the part "stats" the counters
and what "stats" shows of domains, history and events, which no backup has. Committed items that are not yet written to their
output file are kept.

--backup first writes everything that will be deleted to a file (JSON lines; compressed when its name ends in .gz).
Nothing is deleted until the file is complete and on disk. "crawlnode restore SPIDER FILE" restores it.

--older-than and --if-larger-than are for resets that run regularly, for example every night. With --older-than the crawl
is reset if it or its dupefilter is older than that. With --if-larger-than it is reset if the dupefilter holds more
fingerprints. With both options, one condition is enough. Otherwise the command prints why nothing was done, and exits with
0. With --all-jobs each job is checked separately.

--all-crawls, in place of a spider, looks at all crawls of the store, those of other projects included, and needs one of these
conditions. There the time of --older-than counts from the last use of a crawl by a node or a command. "crawlnode list --store"
shows it.

A spider or --job without data in the store is refused (exit code 2), because the folder, store or name is probably
wrong. A spider of this project that has no crawl yet is not an error.

Examples:
  crawlnode reset shop --dry-run
  crawlnode reset shop --only dupefilter --yes
  crawlnode reset shop --all-jobs --older-than 7d --all --yes
  crawlnode reset --all-crawls --older-than 30d --dry-run
  crawlnode reset shop --older-than 7d --if-larger-than 10000000 --backup shop.jsonl.gz --yes`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[spider]', spiderWords)
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
      .option('--all-crawls', 'every crawl of the store that is due; those with live nodes are skipped')
      .addHelpText('after', help),
  run: async (context, [spider], options) => {
    const wanted = partsOf(options);
    refuseContradictions(spider, options);
    const file = options.backup as string | undefined;
    const force = options.force === true;
    const how = {
      ...{ wanted, policy: policyOf(options), force, file },
      ...{ dryRun: options.dryRun === true, yes: options.yes === true },
    };
    if (spider === undefined) {
      const listed = await (await crawlLister(context, settingTextsOf(options)))();
      const all = listed.map(({ spider, job, loaded }) => ({ spider, job, settings: loaded.settings }));
      return resetCrawls(context, all, { ...how, several: 'crawls', mustExist: false });
    }
    const allJobs = options.allJobs === true;
    const { loaded, create } = await loadSpiderOrSettings(context, spider, settingTextsOf(options), {
      mayBeNew: true,
    });
    if (file !== undefined) refuseExisting(path.resolve(context.cwd, file), force);
    const crawl = { spider, job: loaded.settings.JOB, settings: loaded.settings };
    const crawls = allJobs ? await jobsOf(context, crawl) : [crawl];
    return resetCrawls(context, crawls, {
      ...how,
      several: allJobs ? 'jobs' : null,
      mustExist: create === null || options.job !== undefined,
    });
  },
};

/** The crawls of all jobs of a spider, with the unnamed one; that one alone where the store has none. */
async function jobsOf(context: Context, unnamed: ResetCrawl): Promise<ResetCrawl[]> {
  const { spider, settings } = unnamed;
  const { crawls, isCut } = await crawlsInStore(settings);
  if (isCut) note(context, 'this Redis has very many keys, and not all were read: there may be more jobs');
  const jobs = crawls.filter((crawl) => crawl.spider === spider);
  if (jobs.length === 0) return [unnamed];
  return jobs.map(({ job }) => ({ spider, job, settings: { ...settings, JOB: job } }));
}

/** @throws UsageError */
function refuseContradictions(spider: string | undefined, options: Readonly<Record<string, unknown>>): void {
  const { allJobs, allCrawls, job, backup, olderThan, ifLargerThan } = options;
  if (allCrawls === true) {
    if (spider !== undefined || allJobs === true || job !== undefined || backup !== undefined)
      throw new UsageError('--all-crawls takes no spider, --all-jobs, --job and --backup');
    if (olderThan === undefined && ifLargerThan === undefined)
      throw new UsageError('--all-crawls needs --older-than or --if-larger-than, which say what is due');
    return;
  }
  if (spider === undefined) throw new UsageError('which spider? crawlnode reset SPIDER, or --all-crawls');
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

function policyOf({
  olderThan,
  ifLargerThan,
  allCrawls,
}: Readonly<Record<string, unknown>>): CleanPolicy | null {
  if (olderThan === undefined && ifLargerThan === undefined) return null;
  return {
    olderThanMs: olderThan as number | undefined,
    isUnused: allCrawls === true,
    largerThan: ifLargerThan as number | undefined,
  };
}
