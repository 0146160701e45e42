/**
 * `crawlnode seed`: start requests from arguments, a file or stdin, pushed straight into the frontier, so that
 * order and priority hold and the answer can say what became of each.
 */
import { constants, createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { linkRules } from '../../engine/discovered.js';
import { requestsOfSeed } from '../../engine/seed-requests.js';
import { UsageError } from '../../errors.js';
import type { Frontier, FrontierRequest } from '../../frontier/frontier.js';
import type { CliCommand } from '../commands.js';
import { type Context, note, print, printJson } from '../context.js';
import { linkOptionsOf } from '../engine-settings.js';
import { jobOption, textsOf } from '../job-option.js';
import { loadSpider, openOptions, withFrontier } from '../open-project.js';
import { oneLine } from '../printable.js';

const BATCH = 1_000;
/** So many bad seeds are told one by one. */
const TOLD = 20;

/** One line of input, and where it stands. */
interface Line {
  readonly text: string;
  readonly where: string;
}

interface Counts {
  accepted: number;
  duplicates: number;
  bad: number;
}

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>')
      .argument('[url...]', 'URLs, or JSON objects as in a file')
      .option('--file <file>', 'one seed a line: a URL, or a JSON object with the fields of a request')
      .option('--stdin', 'read seeds from stdin, a line each')
      .option(
        '--to-start-urls',
        'append them as they are to the start_urls key instead, for a node to take in',
      )
      .addOption(jobOption()),
  run: async (context, [spider = '', ...seeds], options) => {
    const file = typeof options.file === 'string' ? path.resolve(context.cwd, options.file) : null;
    if (seeds.length === 0 && file === null && options.stdin !== true) {
      throw new UsageError('no seeds: give URLs, --file FILE or --stdin');
    }
    if (file !== null) {
      // Before the first seed is pushed, not after.
      await access(file, constants.R_OK).catch((error) => {
        throw unreadable(file, error);
      });
    }
    const { loaded, create } = await loadSpider(context, spider, textsOf(options));
    const lines = readLines(context, seeds, file, options.stdin === true);
    return withFrontier(openOptions(loaded.settings, spider), async (frontier) => {
      if (options.toStartUrls === true) return append(context, frontier, lines);
      const instance = await create();
      const { settings } = loaded;
      const rules = linkRules(instance, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
      const convert = (text: string) => requestsOfSeed(text, instance, rules, Date.now());
      const counts = await push(context, frontier, lines, convert, settings.SEEDS_FILTERED);
      const { accepted, duplicates, bad } = counts;
      if (context.globals.json) printJson(context, counts);
      else print(context, `${spider}: ${accepted} accepted, ${duplicates} duplicate, ${bad} bad`);
      return bad > 0 && accepted + duplicates === 0 ? 2 : 0;
    });
  },
};

async function push(
  context: Context,
  frontier: Frontier,
  lines: AsyncIterable<Line>,
  convert: (text: string) => Promise<readonly FrontierRequest[]>,
  filtered: boolean,
): Promise<Counts> {
  const counts: Counts = { accepted: 0, duplicates: 0, bad: 0 };
  let batch: FrontierRequest[] = [];
  const flush = async () => {
    while (batch.length > 0) {
      const answer = await frontier.push(batch.slice(0, BATCH), filtered ? 'seeds-filtered' : 'seeds');
      counts.accepted += answer.accepted;
      counts.duplicates += answer.duplicates;
      batch = batch.slice(BATCH);
    }
  };
  for await (const { text, where } of lines) {
    try {
      batch.push(...(await convert(text)));
    } catch (error) {
      counts.bad += 1;
      if (counts.bad <= TOLD) note(context, oneLine(`${where}: ${(error as Error).message}`));
    }
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  if (counts.bad > TOLD) note(context, `… and ${counts.bad - TOLD} more bad seeds`);
  return counts;
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
  else print(context, `${appended} appended to start_urls, to be judged by the node that takes them in`);
  return 0;
}

/** Arguments, then the file, then stdin, without empty lines; in constant memory. */
async function* readLines(
  context: Context,
  seeds: readonly string[],
  file: string | null,
  stdin: boolean,
): AsyncIterable<Line> {
  for (const text of seeds) yield { text, where: `seed ${JSON.stringify(text)}` };
  const inputs: { name: string; stream: Readable }[] = [
    ...(file === null ? [] : [{ name: file, stream: createReadStream(file) }]),
    ...(stdin ? [{ name: 'stdin', stream: context.stdin }] : []),
  ];
  for (const { name, stream } of inputs) {
    let number = 0;
    // readline either throws what its input does or ends quietly, by the version of Node.
    const failure: { error?: Error } = {};
    stream.once('error', (error: Error) => {
      failure.error = error;
    });
    try {
      for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
        number += 1;
        const text = (number === 1 ? line.replace(/^\uFEFF/, '') : line).trim();
        if (text !== '') yield { text, where: `${name}:${number}` };
      }
    } catch (error) {
      if (error !== failure.error) throw error;
    }
    if (failure.error !== undefined) throw unreadable(name, failure.error);
  }
}

function unreadable(name: string, error: unknown): UsageError {
  return new UsageError(`cannot read ${name}: ${(error as Error).message}`, { cause: error });
}
