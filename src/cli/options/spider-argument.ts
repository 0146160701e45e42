/**
 * The arguments that select a crawl: `SPIDER` or `SPIDER@JOB`, before or after the action or URL, and `--job`.
 * `main.ts` puts the arguments in the order that each command declares.
 */
import { type Argument, Option } from 'commander';
import { UsageError } from '../../errors.js';
import type { SettingTexts } from '../project/open-project.js';

/** What the help says of the argument `<spider>`. */
export const spiderWords = 'name from "crawlnode list", or SPIDER@JOB';

type Options = Readonly<Record<string, unknown>>;

/** The arguments and options of a command. */
export interface CommandInput {
  readonly args: readonly string[];
  /** Includes `job` when it was given as SPIDER@JOB. */
  readonly options: Options;
}

/**
 * Move the spider to the first argument, and the job of SPIDER@JOB to the options.
 * @param declared the arguments of the command. Nothing changes unless the first is the spider, or `--spider` is given.
 * @throws UsageError for two different jobs, or an unknown action
 */
export function spiderFirst(declared: readonly Argument[], { args, options }: CommandInput): CommandInput {
  const named = typeof options.spider === 'string' ? splitJob(options.spider, options) : null;
  const withJob = named === null ? options : { ...named.options, spider: named.spider };
  const [first, second] = declared;
  if (first?.name() !== 'spider') return { args, options: withJob };
  const [spider, ...rest] = orderArguments(args, second);
  if (spider === undefined || looksLikeUrl(spider)) return { args, options: withJob };
  const crawl = splitJob(spider, withJob);
  return { args: [crawl.spider, ...rest], options: crawl.options };
}

/** Whether a word is a URL or a request as JSON rather than the name of a spider. */
export function looksLikeUrl(word: string): boolean {
  return /:\/\/|^\{/.test(word);
}

function orderArguments(args: readonly string[], second: Argument | undefined): readonly string[] {
  if (second?.name() === 'action') return actionSecond(args, second.argChoices ?? []);
  if (second?.name() === 'url' && !second.variadic) return urlSecond(args);
  return args;
}

/** Accepts `failed SPIDER list` and `failed list SPIDER`. Of two action names, the first is taken as the spider. */
function actionSecond(
  [one = '', two = '', ...rest]: readonly string[],
  actions: readonly string[],
): string[] {
  if (actions.includes(two)) return [one, two, ...rest];
  if (actions.includes(one)) return [two, one, ...rest];
  throw new UsageError(`${JSON.stringify(two)} is not an action; the actions are ${actions.join(', ')}`);
}

/** Accepts `inspect SPIDER URL` and `inspect URL SPIDER`. */
function urlSecond(args: readonly string[]): readonly string[] {
  const [one, two, ...rest] = args;
  if (one === undefined || two === undefined) return args;
  return looksLikeUrl(one) && !looksLikeUrl(two) ? [two, one, ...rest] : args;
}

/** Take SPIDER@JOB apart; the job goes to the options. @throws UsageError for two different jobs */
export function splitJob(word: string, options: Options): { spider: string; options: Options } {
  const at = word.indexOf('@');
  if (at === -1) return { spider: word, options };
  const [spider, job] = [word.slice(0, at), word.slice(at + 1)];
  if (job === '') throw new UsageError(`${word}: the name of the job is missing after the @`);
  if (options.job !== undefined && options.job !== job) {
    throw new UsageError(`${word} and --job ${options.job} name two jobs; give one of them`);
  }
  return { spider, options: { ...options, job } };
}

/** `--job ID`, on every command that takes a spider. It sets JOB. */
export function jobOption(): Option {
  return new Option('--job <id>', 'name of the job, a separate crawl of the spider');
}

/** The setting texts that the options of a command set. */
export function settingTextsOf(options: Options): SettingTexts {
  return { JOB: options.job as string | undefined };
}
