/**
 * `crawlnode seed`: start requests from arguments, a file or stdin, pushed straight into the frontier, so that
 * order and priority hold and the answer can say what became of each.
 */
import path from 'node:path';
import type { Command } from 'commander';
import { inRun, type LinkRules, linkRules, runFor } from '../../engine/discovered.js';
import { requestsOfSeed } from '../../engine/seed-requests.js';
import { UsageError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import type { CliCommand } from '../commands.js';
import { type Context, note, print, printJson } from '../context.js';
import { linkOptionsOf } from '../engine-settings.js';
import { interruptible } from '../interrupt.js';
import { jobOption, textsOf } from '../job-option.js';
import { loadSpider, openOptions, withFrontier } from '../open-project.js';
import { oneLine } from '../printable.js';
import { pushSeeds } from '../push-seeds.js';
import { type Full, pushWithinRoom } from '../queue-room.js';
import { columnOf, type Line, readLines, refuseUnreadable } from '../seed-input.js';
import { type SeedCounts, seedProgress } from '../seed-progress.js';

/** Raw seeds are appended so many at a time. */
const BATCH = 1_000;
/** So many bad seeds are told one by one. */
const TOLD = 20;

const help = `
Seeds are always taken, also when their URL has been crawled (SEEDS_FILTERED changes that); one that is still waiting
is a duplicate. Bad ones are told with the reason, the others go on.

Examples:
  crawlnode seed shop https://example.com/
  crawlnode seed shop --file urls.txt
  crawlnode seed shop --file products.csv --column link
  zcat dump.jsonl.gz | crawlnode seed shop --stdin --column url --format jsonl`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>')
      .argument('[url...]', 'URLs, or JSON objects as in a file')
      .option('--file <file>', 'one seed a line: a URL, or a JSON object with the fields of a request')
      .option('--stdin', 'read seeds from stdin, a line each')
      .option('--column <name>', 'the input is CSV or JSON lines, and this column holds the URL')
      .option('--format <format>', 'csv or jsonl, where the name of the file does not say it')
      .option(
        '--to-start-urls',
        'append them as they are to the start_urls key instead, for a node to take in',
      )
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', ...seeds], options) => {
    const file = typeof options.file === 'string' ? path.resolve(context.cwd, options.file) : null;
    if (seeds.length === 0 && file === null && options.stdin !== true) {
      throw new UsageError('no seeds: give URLs, --file FILE or --stdin');
    }
    const column = columnOf(file, options);
    if (file !== null) await refuseUnreadable(file);
    const { loaded, create } = await loadSpider(context, spider, textsOf(options));
    const { settings } = loaded;
    return withFrontier(openOptions(settings, spider), async (frontier) => {
      const counts: SeedCounts = { accepted: 0, duplicates: 0, bad: 0 };
      const progress = await seedProgress(context, counts, file);
      const lines = readLines(context, seeds, file, options.stdin === true, column, progress.opened);
      let interrupted: number | null;
      try {
        if (options.toStartUrls === true) return await append(context, frontier, lines);
        if (settings.SCHEDULER_FLUSH_ON_START) {
          note(context, flushed);
          return await append(context, frontier, lines);
        }
        const instance = await create();
        const rules = await rulesNow(frontier, instance, settings);
        const say = (text: string) => progress.note(() => note(context, oneLine(text)));
        interrupted = await interruptible((stop) => {
          const onWait = queueNews(spider, say);
          const room = { frontier, limit: settings.SCHEDULER_QUEUE_LIMIT, onWait, stop };
          return pushSeeds(pushWithinRoom(room), lines, counts, {
            kind: settings.SEEDS_FILTERED ? 'seeds-filtered' : 'seeds',
            stop,
            convert: (text) => requestsOfSeed(text, instance, rules, Date.now()),
            onBad: ({ where }, { message }) => {
              if (counts.bad <= TOLD) say(`${where}: ${message}`);
            },
          });
        });
      } finally {
        progress.stop();
      }
      const code = summarize(context, spider, counts);
      if (interrupted !== null) note(context, 'interrupted: the rest of the input was not taken');
      return interrupted ?? code;
    });
  },
};

const flushed =
  'SCHEDULER_FLUSH_ON_START clears the queue as the next run begins, so the seeds are appended to start_urls, which it keeps';

/** Requests that a refresh rule lets be fetched again are those of the crawl's run, where one is on. */
async function rulesNow(
  frontier: Pick<Frontier, 'snapshot'>,
  spider: Spider,
  settings: Settings,
): Promise<LinkRules> {
  const rules = linkRules(spider, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  return rules.refresh === null ? rules : inRun(rules, runFor((await frontier.snapshot()).run));
}

/** Says once that the queue is full, each time it is, and what would make room. */
function queueNews(spider: string, say: (text: string) => void): (full: Full | null) => void {
  let isWaiting = false;
  return (full) => {
    if (full !== null && !isWaiting) {
      const nodes =
        full.nodes === 0
          ? `no node is crawling: start one with "crawlnode crawl ${spider}"`
          : 'nodes make room';
      say(
        `the queue is full (${full.waiting.toLocaleString('en')} requests wait, SCHEDULER_QUEUE_LIMIT is ${full.limit.toLocaleString('en')}); waiting, ${nodes}`,
      );
    }
    isWaiting = full !== null;
  };
}

function summarize(context: Context, spider: string, counts: SeedCounts): number {
  const { accepted, duplicates, bad } = counts;
  const n = (value: number) => value.toLocaleString('en');
  if (bad > TOLD) note(context, `… and ${n(bad - TOLD)} more bad seeds`);
  if (context.globals.json) printJson(context, counts);
  else print(context, `${spider}: ${n(accepted)} accepted, ${n(duplicates)} duplicate, ${n(bad)} bad`);
  return bad > 0 && accepted + duplicates === 0 ? 2 : 0;
}

async function append(context: Context, frontier: Frontier, lines: AsyncIterable<Line>): Promise<number> {
  let appended = 0;
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length > 0) await frontier.appendSeeds(batch);
    appended += batch.length;
    batch = [];
  };
  for await (const { text } of lines) {
    batch.push(text);
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  if (context.globals.json) printJson(context, { appended });
  else
    print(
      context,
      `${appended.toLocaleString('en')} appended to start_urls, to be judged by the node that takes them in`,
    );
  return 0;
}
