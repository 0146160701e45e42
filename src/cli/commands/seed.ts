/**
 * `crawlnode seed`: pushes start requests from arguments, a file, stdin or sitemaps directly into the frontier. This keeps
 * order and priority, and the frontier reports the outcome of each seed.
 */
import type { Command } from 'commander';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { openSeeding } from '../../crawler/seeds/open-seeding.js';
import type { OpenSitemaps } from '../../crawler/seeds/open-sitemaps.js';
import type { SeedCounts } from '../../crawler/seeds/seed-text.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { CliCommand } from '../command.js';
import { type Context, masked, note, printJsonLine } from '../context.js';
import { refuseUnreadable } from '../input/read-lines.js';
import { collect } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpider, useCrawlInMessages } from '../project/open-project.js';
import { fullQueueNotice } from '../seed/full-queue-notice.js';
import { seedProgress } from '../seed/seed-progress.js';
import { MAX_BAD_SEEDS_SHOWN, reportSeedResult } from '../seed/seed-result.js';
import { type SeedSources, seedLines, seedSources } from '../seed/seed-sources.js';
import { runUntilSignal } from '../signals/run-until-signal.js';
import { oneLine } from '../terminal/printable.js';

/** How many bad seeds are read from the store at a time. */
const BATCH = 1_000;

const help = `
Seeds are accepted even if their URL has been crawled (SEEDS_FILTERED changes this). A seed that is still waiting is a
duplicate. Bad seeds are reported with the reason, and the others are accepted. The exit code is 2 only if all seeds were
bad. After Ctrl-C, run the same command again.

A sitemap is a URL or a file: XML, a list of URLs, an index of sitemaps, or a robots.txt that names sitemaps. It may be
compressed with gzip. URLs outside the spider's allowedDomains are not accepted. If a sitemap cannot be read, the command
reports it, reads the others, and exits with 1.

In files and on stdin, empty lines and lines that begin with "# " are ignored. Both may be compressed with gzip.

Examples:
  crawlnode seed shop https://example.com/
  crawlnode seed shop --file urls.txt
  crawlnode seed shop --file products.csv --column link
  crawlnode seed shop --file dump.jsonl.gz --column url
  sort -u urls/*.txt | crawlnode seed shop --stdin
  crawlnode seed shop --sitemap https://example.com/robots.txt --since 2026-11-01
  crawlnode seed shop --list-bad`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .argument('[url...]', 'URLs, or JSON objects as in a file of seeds')
      .option(
        '--file <file>',
        'one seed per line: a URL, or a JSON object with the fields of a request; may repeat',
        collect,
      )
      .option('--stdin', 'read seeds from stdin, one per line')
      .option('--column <name>', 'the input is CSV or JSON lines, and this column holds the URL')
      .option('--format <format>', 'csv or jsonl, if the file name does not show it')
      .option('--sitemap <url>', 'a sitemap, an index of them, or a robots.txt; may repeat', collect)
      .option(
        '--since <date>',
        'only pages of sitemaps that changed since then: 2026-11-01, 2026-11-01T12:00:00Z',
      )
      .option(
        '--to-start-urls',
        'append the seeds unchanged to the start_urls key, from which nodes read them',
      )
      .option('--list-bad', 'print the bad seeds that nodes found, with the reasons, as JSON lines')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', ...seeds], options) => {
    const isList = options.listBad === true;
    const sources = isList ? null : await seedSources(context, seeds, options);
    for (const { path } of sources?.files ?? []) await refuseUnreadable(path);
    const project = await loadSpider(context, spider, settingTextsOf(options));
    const crawlArguments = useCrawlInMessages(context, spider, project.loaded);
    const { settings } = project.loaded;
    const crawl = { spider, job: settings.JOB };
    return withFrontier(openOptions(settings, spider), async (frontier) => {
      if (sources === null) return listBad(context, frontier);
      const instance = await project.create();
      const toStartUrls = options.toStartUrls === true;
      const seeding = await openSeeding({ frontier, spider: instance, settings, toStartUrls });
      const counts: SeedCounts = { accepted: 0, duplicates: 0, bad: 0 };
      const say = (text: string, level?: 'warn') => progress.note(() => note(context, oneLine(text), level));
      const sitemaps = await sitemapsOf(sources, settings, seeding.onsite, (file, why) =>
        say(`${file}: ${why}`, 'warn'),
      );
      const place = () => (sitemaps === null ? '' : `${sitemaps.counts.read} sitemaps`);
      const progress = await seedProgress(context, counts, onlyFile(sources), place);
      if (seeding.isFlushed) say(flushNotice);
      let interrupted: number | Error | null;
      try {
        interrupted = await runUntilSignal((stop) => {
          const reading = {
            opened: progress.opened,
            guessed: (file: string, column: string) => say(`${file}: reading URLs from its column ${column}`),
            stop,
          };
          const lines = seedLines(context, sources, sitemaps, reading);
          return seeding.take(lines, counts, {
            onBad: ({ where }, { message }) => {
              if (counts.bad <= MAX_BAD_SEEDS_SHOWN) say(`${where}: ${message}`, 'warn');
            },
            onWait: fullQueueNotice(crawlArguments, say),
            stop,
          });
        });
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        interrupted = error;
      } finally {
        progress.stop();
        await sitemaps?.close();
      }
      const { isRaw } = seeding;
      return reportSeedResult(context, {
        crawl,
        counts,
        isRaw,
        sitemaps: sitemaps?.counts ?? null,
        interrupted,
      });
    });
  },
};

/** Null without sitemaps, so that the downloader is not loaded. */
async function sitemapsOf(
  { sitemaps, sinceMs }: SeedSources,
  settings: Settings,
  onsite: RegExp | null,
  onUnread: (file: string, why: string) => void,
): Promise<OpenSitemaps | null> {
  if (sitemaps.length === 0) return null;
  const { openSitemaps } = await import('../../crawler/seeds/open-sitemaps.js');
  return openSitemaps(settings, { sinceMs, onsite, onUnread });
}

/** The size of the input is known when it is one file. */
const onlyFile = ({ files }: SeedSources): string | null => (files.length === 1 ? files[0]!.path : null);

const flushNotice =
  'SCHEDULER_FLUSH_ON_START clears the queue as the next run begins, so the seeds are appended to start_urls, which it keeps';

async function listBad(context: Context, frontier: Frontier): Promise<number> {
  for (let from = 0; ; ) {
    const entries = await frontier.badSeeds(from, BATCH);
    for (const entry of entries) printJsonLine(context, masked(context, asJson(entry)));
    from += entries.length;
    if (entries.length < BATCH) break;
  }
  return 0;
}

/** Others can write to the store: what is not JSON is shown as text. */
function asJson(entry: string): unknown {
  try {
    return JSON.parse(entry);
  } catch {
    return entry;
  }
}
