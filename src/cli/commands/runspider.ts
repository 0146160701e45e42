/** `crawlnode runspider FILE`: crawl the spider of one file, which need not belong to a project. */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { shellWord } from '../../crawler/project/shell-word.js';
import { SpiderLoadError, UsageError } from '../../errors.js';
import { problemsOf, unexportedText } from '../../spider/loading/discover.js';
import { isModule } from '../../spider/loading/spider-files.js';
import type { CliCommand } from '../command.js';
import type { Context } from '../context.js';
import { crawlOptions, runCrawlCommand } from '../crawl/crawl-command.js';
import type { Pairs } from '../options/option-parsers.js';
import { settingTextsOf } from '../options/spider-argument.js';
import { discover, loadProject, loadSpider } from '../project/open-project.js';

const help = `
Runs the spider that is the default export of the file, and exits when the crawl is finished. No project is needed. In a
project, its settings apply.

SCHEDULER_PERSIST is false unless you set it: a finished crawl is deleted from the store, so the next run starts from the
beginning. If a crawl was interrupted, the same command continues it. Several nodes may run the same file.

Without -o, -O or FEEDS, the items go to the items list of the store: "crawlnode items SPIDER list" shows them. Other
commands find the spider with -s SPIDER_MODULES=FILE.

Examples:
  crawlnode runspider quotes.ts -o quotes.jsonl
  crawlnode runspider quotes.ts -O quotes.csv -a tag=love --max-pages 20

Exit codes: those of "crawlnode crawl".`;

export const command: CliCommand = {
  define: (command: Command) =>
    void crawlOptions(
      command.argument('<file>', 'a module whose default export is a spider: .ts, .js or .mjs'),
    ).addHelpText('after', help),
  run: async (context, [file = ''], options) =>
    runCrawlCommand(context, () => spiderOfFile(context, file, options), { ...options, exitWhenDone: true }),
};

/**
 * Make the file the only spider module, as `-s SPIDER_MODULES=FILE` does, also in the commands that messages suggest.
 * @returns the name of its spider. @throws UsageError for a missing file; SpiderLoadError
 */
async function spiderOfFile(
  context: Context,
  file: string,
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const absolute = path.resolve(context.cwd, file);
  const found = statSync(absolute, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(notFound(context, file));
  if (!found.isFile()) throw new UsageError(`${file} is a folder; give the file of a spider`);
  if (!isModule(file)) {
    const isPython = file.endsWith('.py');
    throw new UsageError(
      `${file} is not a TypeScript or JavaScript file${isPython ? '; spiders of Scrapy must be rewritten: docs/guide/from-scrapy-redis.md' : ''}`,
    );
  }
  const { set } = context.globals;
  // A list as text is separated by commas.
  set.push(`SPIDER_MODULES=${absolute.includes(',') ? JSON.stringify([absolute]) : absolute}`);

  const discovery = await discover(context, (await loadProject(context)).settings, argsOf(options));
  const [name] = discovery.spiders.keys();
  if (name === undefined) {
    const problems = [...problemsOf(discovery), ...discovery.unexported.map(unexportedText)];
    throw new SpiderLoadError(
      problems.join('\n') || `${file} has no spider: its default export must be a class that extends Spider`,
    );
  }
  const { loaded } = await loadSpider(context, name, settingTextsOf(options), argsOf(options));
  if (loaded.sources.SCHEDULER_PERSIST === 'default') set.push('SCHEDULER_PERSIST=false');
  return name;
}

/** `runspider quotes` is often meant as `crawl quotes`. */
function notFound({ cwd }: Context, file: string): string {
  const isName = /^[\w.-]+$/.test(file) && !/\.(ts|js|mjs|py)$/.test(file);
  const instead = isName
    ? `; "crawlnode crawl ${shellWord(file)}" crawls a spider of the project by its name`
    : ` (in ${cwd})`;
  return `there is no file ${file}${instead}`;
}

const argsOf = ({ arg }: Readonly<Record<string, unknown>>) => (arg ?? {}) as Pairs;
