/** `crawlnode shell [PAGE]`: a JavaScript prompt with the page as `response`, to try selectors and requests. */
import { start } from 'node:repl';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { politeFetcher } from '../../crawler/shell/polite-fetcher.js';
import { silentLogger } from '../../log.js';
import { Spider } from '../../spider/spider.js';
import type { CliCommand } from '../command.js';
import type { Context } from '../context.js';
import { pageOfWord, readLocalPage } from '../input/local-page.js';
import { createLogger } from '../log/logger.js';
import { addPair, type Pairs } from '../options/option-parsers.js';
import { jobOption, settingTextsOf } from '../options/spider-argument.js';
import { loadProject, loadSpider } from '../project/open-project.js';
import { runCode } from '../shell/run-code.js';
import { greet, ShellSession, shellHelp } from '../shell/shell-session.js';

const help = `
Opens a JavaScript prompt with these names. "await" works at the prompt.

${shellHelp}
Downloads obey the limits of a crawl: robots.txt, DOWNLOAD_DELAY, timeouts, sizes, proxies and cookies. The settings are those
of the spider or of the project, if there is one. Middleware is not run. Nothing is stored, and no crawl changes.

PAGE is a URL or a local file. With --eval, or with JavaScript from a pipe, there is no prompt. The code is run. If it is one
expression, its value is printed; of several statements print values with console.log. An error ends the command with exit
code 1, or with 2 if the code does not compile or makes a request that cannot be sent.

Examples:
  crawlnode shell https://quotes.toscrape.com/
  crawlnode shell --spider shop -s DOWNLOAD_DELAY=2
  crawlnode shell saved.html --url https://shop.example/lamp
  crawlnode shell https://quotes.toscrape.com/ -e "response.css('title::text').get()"`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[page]', 'URL or local file of the first page')
      .option('--spider <spider>', 'name from "crawlnode list": its settings apply')
      .option('-e, --eval <code>', 'run this JavaScript in place of the prompt, and print its value')
      .option('--url <url>', 'original URL of the page, if it is a local file')
      .option('-a, --arg <name=value>', 'an argument for the spider; may repeat', addPair)
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [word], options) => {
    const page = word === undefined ? null : pageOfWord(context, word, options.url as string | undefined);
    const { settings, own, create, name } = await spiderOf(context, options);
    const { log, close } = await createLogger(context, settings, { spider: name });
    const stop = new AbortController();
    try {
      const spider = await create(log);
      const fetcher = await politeFetcher(settings, spider, log);
      const session = new ShellSession({ context, fetcher, spider, own, stop: stop.signal });
      try {
        if (page?.kind === 'file') session.show(readLocalPage(context, page));
        const first = page?.kind === 'url' ? await session.fetch(page.url) : null;
        session.define();
        const code = (options.eval as string | undefined) ?? (await pipedCode(context));
        if (code !== null) await runCode(context, session, code);
        else {
          greet(context, first);
          await prompt(context, session);
        }
      } finally {
        stop.abort();
        await session.close();
      }
      return 0;
    } finally {
      await close();
    }
  },
};

/** The code on stdin; null on a terminal, where it is typed. */
async function pipedCode({ stdin }: Context): Promise<string | null> {
  return stdin.isTTY === true ? null : text(stdin);
}

/** The spider, or a nameless one with the settings of the project. */
async function spiderOf(context: Context, options: Readonly<Record<string, unknown>>) {
  const { spider: name } = options as { readonly spider?: string };
  if (name !== undefined) {
    const spider = await loadSpider(context, name, settingTextsOf(options), (options.arg ?? {}) as Pairs);
    const { settings, own } = spider.loaded;
    return { settings, own, create: spider.create, name };
  }
  const { settings, own } = await loadProject(context, settingTextsOf(options));
  const { createSpider } = await import('../../spider/spider.js');
  const create = async (log = silentLogger) => createSpider(Spider, { settings, log });
  return { settings, own, create, name: '' };
}

/**
 * Run the prompt until `.exit` or the end of the input. It uses the global object of this process, so that objects typed
 * there are of the same kind as those that crawlnode makes.
 */
async function prompt({ stdin }: Context, session: ShellSession): Promise<void> {
  const server = start({
    input: stdin,
    output: process.stdout,
    prompt: 'crawlnode> ',
    useGlobal: true,
    ignoreUndefined: true,
    preview: false,
    breakEvalOnSigint: true,
    writer: session.write,
  });
  await new Promise<void>((resolve) => server.once('exit', resolve));
}
