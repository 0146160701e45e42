/** `crawlnode forget S URL…`: let URLs be accepted again, as if they had never been seen. */
import path from 'node:path';
import type { Command } from 'commander';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { RefusedError, UsageError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import type { Frontier, FrontierRequest, RequestState } from '../../frontier/frontier.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJsonLine } from '../context.js';
import { readLines, refuseUnreadable } from '../input/read-lines.js';
import { jobOption, spiderWords } from '../options/spider-argument.js';
import { withIdentifier } from '../project/request-identity.js';
import { oneLine } from '../terminal/printable.js';

const help = `
The dupefilter remembers every URL that the crawl has accepted, and drops further links to it. After "forget" the URL is
accepted again at the next link to it, or at the next seed with SEEDS_FILTERED. (Without this setting seeds are always
accepted.) For a page with a refresh rule it forgets the request of the latest run, or of the current period. A request
that is pending, delayed, leased or failed is not duplicated: forgetting it has an effect only when it is done.

Examples:
  crawlnode forget shop https://example.com/prices
  crawlnode forget shop --file list-pages.txt`;

/** How many URLs are forgotten concurrently. */
const BATCH = 200;
/** Only the first bad lines are printed; the others are counted. */
const MAX_BAD_LINES_SHOWN = 20;

const live: readonly RequestState[] = ['pending', 'delayed', 'leased', 'failed'];

interface IdentifiedLine {
  readonly text: string;
  readonly request: FrontierRequest;
}

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .argument('[url...]', 'URLs, JSON objects as in a file of seeds, or fingerprints')
      .option('--file <file>', 'a file with one of these per line')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', ...urls], options) => {
    const file = typeof options.file === 'string' ? path.resolve(context.cwd, options.file) : null;
    if (urls.length === 0 && file === null)
      throw new UsageError('nothing to forget: give URLs or --file FILE');
    if (file !== null) await refuseUnreadable(file);
    return withIdentifier(context, spider, options, async (frontier, identify, settings) => {
      const counts = { forgotten: 0, unknown: 0, bad: 0, live: 0 };
      let batch: IdentifiedLine[] = [];
      const flush = async () => {
        await forgetAll(context, frontier, batch, counts);
        batch = [];
      };
      const files = file === null ? [] : [{ path: file, column: null }];
      const inputs = { seeds: urls, files, stdin: false, column: null };
      for await (const { text, where } of readLines(context, inputs)) {
        try {
          batch.push({ text, request: identify(text) });
        } catch (error) {
          if (error instanceof RefusedError) throw error;
          counts.bad += 1;
          if (counts.bad <= MAX_BAD_LINES_SHOWN)
            note(context, oneLine(`${where}: ${(error as Error).message}`));
        }
        if (batch.length >= BATCH) await flush();
      }
      await flush();
      if (!context.globals.json) {
        const bad = counts.bad === 0 ? '' : `, ${n(counts.bad)} bad`;
        print(
          context,
          `${crawlName({ spider, job: settings.JOB })}: ${n(counts.forgotten)} forgotten, ${n(counts.unknown)} not in the dupefilter${bad}`,
        );
      }
      if (counts.live > 0) {
        note(
          context,
          `${n(counts.live)} of them are pending, delayed, leased or failed: they are not fetched twice. A link is accepted again when they are done`,
        );
      }
      return counts.bad > 0 && counts.forgotten + counts.unknown === 0 ? 2 : 0;
    });
  },
};

async function forgetAll(
  context: Context,
  frontier: Frontier,
  batch: readonly IdentifiedLine[],
  counts: { forgotten: number; unknown: number; live: number },
): Promise<void> {
  const answers = await Promise.all(
    batch.map(async ({ text, request }) => {
      const forgotten = await frontier.forget(request.fingerprint);
      return { url: text, fingerprint: request.fingerprint, forgotten, ...(await frontier.inspect(request)) };
    }),
  );
  for (const { url, fingerprint, forgotten, state } of answers) {
    counts[forgotten ? 'forgotten' : 'unknown'] += 1;
    const isLive = live.includes(state);
    if (isLive) counts.live += 1;
    if (context.globals.json)
      printJsonLine(context, { url: context.mask(url), fingerprint, forgotten, state });
    else {
      const what = forgotten ? 'forgotten' : 'not in the dupefilter';
      print(context, oneLine(`${what}${isLive ? ` (${state})` : ''}\t${context.mask(url)}`));
    }
  }
}
