/** `crawlnode parse SPIDER PAGE`: run a callback on one page, and print what it yields; nothing is stored. */
import type { Command } from 'commander';
import { fetchPage } from '../../crawler/requests/fetch-page.js';
import { UsageError } from '../../errors.js';
import { Request } from '../../http/message/request.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import type { CliCommand } from '../command.js';
import { type Context, note, printJson } from '../context.js';
import { isLocalFile, type Page, pageOfWord, readLocalPage } from '../input/local-page.js';
import { createLogger } from '../log/logger.js';
import { addPair, type Pairs } from '../options/option-parsers.js';
import { jobOption, looksLikeUrl, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { discover, loadProject, loadSpider } from '../project/open-project.js';
import { stopOnSignal } from '../signals/run-until-signal.js';

const help = `
Downloads the page with the settings of the spider, runs the callback, and prints items and requests as JSON. Nothing is
stored and no crawl changes, so you can run it while you write the spider. Item pipelines and middleware do not run. The
callback runs for every status; a notice says where a crawl would not call it. Without SPIDER the project must have exactly
one spider.

PAGE may also be a local file, such as one that "crawlnode fetch" has saved. Its relative links are resolved against --url.

Examples:
  crawlnode parse https://example.com/product/7
  crawlnode parse shop https://example.com/product/7 --callback parseProduct
  crawlnode parse shop product.html --url https://example.com/product/7
  crawlnode parse shop https://example.com/ | jq '.requests[].url'`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .usage('[spider] <page> [options]')
      .argument('[spider]', `${spiderWords}; optional if the project has only one spider`)
      .argument('[page]', 'URL of the page, or a local file')
      .option('--url <url>', 'original URL of the page, if it is a local file')
      .option('--spider <spider>', 'the spider, in place of the argument')
      .option('--callback <name>', 'a method of the spider', 'parse')
      .option('-a, --arg <name=value>', 'an argument for the spider; may repeat', addPair)
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, words, options) => {
    const { name, page } = await pageOf(context, words, options);
    const { loaded, create } = await loadSpider(
      context,
      name,
      settingTextsOf(options),
      (options.arg ?? {}) as Pairs,
    );
    const { log, close } = await createLogger(context, loaded.settings, { spider: name });
    try {
      const spider = await create(log);
      const { callbackName, runCallback } = await import('../../spider/run-callback.js');
      callbackName(spider, String(options.callback));
      const response =
        page.kind === 'file'
          ? readLocalPage(context, page)
          : await fetchPage(new Request(page.url), loaded.settings, log, stopOnSignal(), spider);
      noteSkipped(context, loaded.settings);
      noteStatus(context, loaded.settings, response.status);
      await noteRule(context, spider, String(options.callback), response.url);
      const { items, requests, unfetchable } = await runCallback(spider, String(options.callback), response);
      printJson(context, {
        url: response.url,
        status: response.status,
        items,
        requests: requests.map(({ request, callback, errback }) => ({
          url: request.url,
          ...(request.method === 'GET' ? {} : { method: request.method }),
          ...(callback === null ? {} : { callback }),
          ...(errback === null ? {} : { errback }),
          ...(Object.keys(request.meta).length === 0 ? {} : { meta: request.meta }),
          ...(Object.keys(request.cbKwargs).length === 0 ? {} : { cbKwargs: request.cbKwargs }),
          ...(request.priority === 0 ? {} : { priority: request.priority }),
          ...(request.dontFilter ? { dontFilter: true } : {}),
        })),
        ...(unfetchable.length === 0 ? {} : { unfetchable }),
      });
      return 0;
    } finally {
      await close();
    }
  },
};

/** Say which modules would change the page or its items in a crawl. RedisPipeline only stores items. */
function noteSkipped(context: Context, settings: Settings): void {
  const { ITEM_PIPELINES, SPIDER_MIDDLEWARES, DOWNLOADER_MIDDLEWARES } = settings;
  const skipped = [ITEM_PIPELINES, SPIDER_MIDDLEWARES, DOWNLOADER_MIDDLEWARES]
    .flatMap((modules) => Object.entries(modules))
    .filter(([name, number]) => number !== null && !name.endsWith('RedisPipeline'))
    .map(([name]) => name);
  if (skipped.length > 0) note(context, `parse does not run ${skipped.join(', ')}; a crawl does`);
}

/** Say that a crawl would not pass the page to its callback. */
function noteStatus(context: Context, settings: Settings, status: number): void {
  const isPassed =
    (status >= 200 && status < 300) ||
    settings.HTTPERROR_ALLOW_ALL ||
    settings.HTTPERROR_ALLOWED_CODES.includes(status);
  if (isPassed) return;
  note(
    context,
    `a crawl calls no callback for the status ${status}, only the errback, unless HTTPERROR_ALLOWED_CODES has ${status}`,
  );
}

/** `parse` of a CrawlSpider only follows links. Say which callback its rules have for a page. */
async function noteRule(context: Context, spider: Spider, callback: string, url: string): Promise<void> {
  if (callback !== 'parse') return;
  const { ruleFor } = await import('../../spider/rules/crawl-spider.js');
  const rule = ruleFor(spider, url)?.callback;
  const name = typeof rule === 'function' ? rule.name : rule;
  if (name) note(context, `a crawl calls ${name} for links like this one, by a rule: --callback ${name}`);
}

/** The spider and the page. @throws UsageError when either is missing, or two spiders are named. */
async function pageOf(
  context: Context,
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<{ readonly name: string; readonly page: Page }> {
  const named = options.spider as string | undefined;
  const [spider, text] = words.length === 2 ? pageLast(context, words) : [named, words[0]];
  if (text === undefined) throw new UsageError('the URL is missing: crawlnode parse SPIDER URL');
  const page = pageOfWord(context, text, options.url as string | undefined);
  if (words.length === 2 && named !== undefined && named !== spider) {
    throw new UsageError(`${spider} and --spider ${named} name two spiders; give one of them`);
  }
  return { name: spider ?? (await onlySpider(context)), page };
}

/** Accepts `parse FILE SPIDER` too, as main.ts does with a URL. */
function pageLast(context: Context, [one = '', two = '']: readonly string[]): readonly [string, string] {
  const isFile = (word: string) => isLocalFile(context, word);
  return !looksLikeUrl(two) && !isFile(two) && isFile(one) ? [two, one] : [one, two];
}

/** @throws UsageError unless the project has exactly one spider. */
async function onlySpider(context: Context): Promise<string> {
  const { spiders } = await discover(context, (await loadProject(context)).settings);
  const [name, ...others] = spiders.keys();
  if (name !== undefined && others.length === 0) return name;
  const found =
    name === undefined ? 'has no spider that loads ("crawlnode list")' : `has ${spiders.size} spiders`;
  throw new UsageError(`the project ${found}: name one, crawlnode parse SPIDER URL`);
}
