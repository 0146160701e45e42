/**
 * The words by which a command names a crawl: `SPIDER` or `SPIDER@JOB`, before or after the action or URL it goes with.
 * `main.ts` brings them into the order in which each command declares its arguments.
 */
import type { Argument } from 'commander';
import { UsageError } from '../../errors.js';

/** What the help says of the argument `<spider>`. */
export const spiderWords = 'name from "crawlnode list", or SPIDER@JOB';

type Options = Readonly<Record<string, unknown>>;

/** What a command is called with. */
export interface CommandWords {
  readonly args: readonly string[];
  /** With `job`, where the job stood behind the spider. */
  readonly options: Options;
}

/**
 * Bring the spider to the front, and move a job behind it into the options.
 * @param declared the arguments of the command. Nothing changes unless the first is the spider, or there is a `--spider`.
 * @throws UsageError for two different jobs, or an action that is none.
 */
export function crawlWords(declared: readonly Argument[], { args, options }: CommandWords): CommandWords {
  const named = typeof options.spider === 'string' ? splitJob(options.spider, options) : null;
  const known = named === null ? options : { ...named.options, spider: named.spider };
  const [first, second] = declared;
  if (first?.name() !== 'spider') return { args, options: known };
  const [spider, ...rest] = inOrder(args, second);
  if (spider === undefined || looksLikeUrl(spider)) return { args, options: known };
  const crawl = splitJob(spider, known);
  return { args: [crawl.spider, ...rest], options: crawl.options };
}

/** Whether a word can only be a URL or a request as JSON, and not the name of a spider. */
export function looksLikeUrl(word: string): boolean {
  return /:\/\/|^\{/.test(word);
}

function inOrder(args: readonly string[], second: Argument | undefined): readonly string[] {
  if (second?.name() === 'action') return withAction(args, second.argChoices ?? []);
  if (second?.name() === 'url' && !second.variadic) return withUrl(args);
  return args;
}

/** `failed SPIDER list` and `failed list SPIDER`. Two actions are a spider of that name and an action. */
function withAction([one = '', two = '', ...rest]: readonly string[], actions: readonly string[]): string[] {
  if (actions.includes(two)) return [one, two, ...rest];
  if (actions.includes(one)) return [two, one, ...rest];
  throw new UsageError(`${JSON.stringify(two)} is not an action; the actions are ${actions.join(', ')}`);
}

/** `inspect SPIDER URL` and `inspect URL SPIDER`. */
function withUrl(args: readonly string[]): readonly string[] {
  const [one, two, ...rest] = args;
  if (one === undefined || two === undefined) return args;
  return looksLikeUrl(one) && !looksLikeUrl(two) ? [two, one, ...rest] : args;
}

function splitJob(word: string, options: Options): { spider: string; options: Options } {
  const at = word.indexOf('@');
  if (at === -1) return { spider: word, options };
  const [spider, job] = [word.slice(0, at), word.slice(at + 1)];
  if (job === '') throw new UsageError(`${word}: the name of the job is missing behind the @`);
  if (options.job !== undefined && options.job !== job) {
    throw new UsageError(`${word} and --job ${options.job} name two jobs; give one of them`);
  }
  return { spider, options: { ...options, job } };
}
