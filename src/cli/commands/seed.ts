/**
 * `crawlnode seed`: start requests from arguments, a file or stdin, pushed straight into the frontier, so that
 * order and priority hold and the answer can say what became of each.
 */
import path from 'node:path';
import type { Command } from 'commander';
import { linkRules } from '../../engine/discovered.js';
import { requestsOfSeed } from '../../engine/seed-requests.js';
import { UsageError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { CliCommand } from '../commands.js';
import { type Context, note, print, printJson } from '../context.js';
import { linkOptionsOf } from '../engine-settings.js';
import { jobOption, textsOf } from '../job-option.js';
import { loadSpider, openOptions, withFrontier } from '../open-project.js';
import { oneLine } from '../printable.js';
import { pushSeeds } from '../push-seeds.js';
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
      try {
        if (options.toStartUrls === true) return await append(context, frontier, lines);
        const instance = await create();
        const rules = linkRules(instance, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
        await pushSeeds(frontier, lines, counts, {
          kind: settings.SEEDS_FILTERED ? 'seeds-filtered' : 'seeds',
          stop: new AbortController().signal,
          convert: (text) => requestsOfSeed(text, instance, rules, Date.now()),
          onBad: ({ where }, { message }) => {
            if (counts.bad <= TOLD) progress.note(() => note(context, oneLine(`${where}: ${message}`)));
          },
        });
      } finally {
        progress.stop();
      }
      return summarize(context, spider, counts);
    });
  },
};

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
