/** `crawlnode failed S summary|list|retry|purge`: groups, lists, retries or deletes the requests that failed. */
import { Argument, type Command } from 'commander';
import { type CrawlName, crawlName, refuseMissingJob } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { matches, matchingFailed, purgeFailed, retryFailed } from '../../crawler/requests/failed-actions.js';
import { type FailedFilter, failedFilter } from '../../crawler/requests/failed-filter.js';
import { failedReasons } from '../../crawler/requests/failed-reasons.js';
import { describeFailed, type FailedPages, type ReadFailed } from '../../crawler/requests/failed-requests.js';
import { summarizeFailed } from '../../crawler/requests/failed-summary.js';
import { UsageError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import { isKept } from '../../frontier/callback-error-keep.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { CliCommand } from '../command.js';
import { type Context, masked, note, printJson, printJsonLine, printResult } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { filterOptions } from '../options/failed-filter.js';
import { atLeastOne } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import { confirm } from '../terminal/confirm.js';
import { rowPrinter } from '../terminal/result-rows.js';

const help = `
A request fails for good when its retries are used up, its callback throws, its items do not match the schema, or three
nodes died while they processed it. It stays in this list, oldest first, until it is retried, purged or reset. A status
such as 404 is not a failure: "list --ignored" lists the last 1,000 pages of these. A status of RETRY_HTTP_CODES is a failure
when the retries are used up.

With CALLBACK_ERROR: keep, the results that a callback yielded before it threw are committed. The reason of the page then
ends in _kept. "retry" skips such pages unless --kept is given, because their items would be committed twice.

Reasons: ${failedReasons.join(', ')}.

Examples:
  crawlnode failed shop summary
  crawlnode failed shop list --status 5xx
  crawlnode failed shop list --ignored --status 404
  crawlnode failed shop retry --reason timeout --domain example.com
  crawlnode failed shop purge --status 503 --yes`;

export const command: CliCommand = {
  define: (command: Command) =>
    void filterOptions(command.argument('<spider>', spiderWords))
      .addArgument(
        new Argument(
          '<action>',
          'summary: how many by reason, status and domain, and what to do; list: show them; retry: make them pending again, with 0 attempts; purge: delete them',
        )
          .choices(['summary', 'list', 'retry', 'purge'])
          // `spiderFirst` checks it, because it may stand before the spider.
          .argParser((word) => word),
      )
      .option('--limit <n>', 'at most this many, the oldest first', atLeastOne)
      .option(
        '--ignored',
        'list pages that did not fail, but whose status was ignored, such as 404; with REFERER_ENABLED also the page with the link',
      )
      .option(
        '--kept',
        'retry also pages whose items were committed (CALLBACK_ERROR: keep); they are committed twice',
      )
      .option('--dry-run', 'only print how many would be retried or purged')
      .option('--yes', 'purge without asking')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', action = ''], options) => {
    const filter = failedFilter(options);
    const isDryRun = options.dryRun === true;
    if (isDryRun && (action === 'list' || action === 'summary'))
      throw new UsageError(`--dry-run goes with retry and purge; ${action} changes nothing`);
    if (action === 'summary' && options.limit !== undefined)
      throw new UsageError('--limit goes with list, retry and purge; summary counts all');
    if (options.kept === true && action !== 'retry') {
      throw new UsageError(`--kept goes with retry; "--reason" selects what to ${action}`);
    }
    const showsIgnored = options.ignored === true;
    if (showsIgnored && action !== 'list')
      throw new UsageError(`--ignored goes with list, not with ${action}`);
    if (showsIgnored && options.reason !== undefined) {
      throw new UsageError('--ignored and --reason do not go together: no such page has failed');
    }
    const skipsKept = action === 'retry' && options.kept !== true;
    const { settings } = (await loadSpiderOrSettings(context, spider, settingTextsOf(options))).loaded;
    const crawl = { spider, job: settings.JOB };
    return withFrontier(openOptions(settings, spider), async (frontier) => {
      await refuseMissingJob(frontier, crawl);
      const limit = (options.limit as number | undefined) ?? Number.POSITIVE_INFINITY;
      if (showsIgnored) {
        await listIgnored(context, crawl, frontier, filter, limit);
        return 0;
      }
      if (action === 'summary') {
        await summary(context, crawl, frontier, filter);
        return 0;
      }
      let skipped = 0;
      const isWanted: FailedFilter = (request) => {
        if (!filter(request)) return false;
        if (!skipsKept || !isKept(request.reason)) return true;
        skipped += 1;
        return false;
      };
      const find = () => matchingFailed(frontier, (each) => matches(each, isWanted), limit);
      if (action === 'list') await list(context, crawl, find());
      else if (isDryRun) await printDryRun(context, crawl, action, find());
      else if (action === 'retry') await retry(context, crawl, frontier, find(), settings);
      else await purge(context, crawl, frontier, find, options.yes === true);
      if (skipped > 0) {
        const what = `${n(skipped)} stay, because their items were committed (CALLBACK_ERROR keep)`;
        note(context, `${what}: --kept retries them too, and their items come twice`);
      }
      return 0;
    });
  },
};

async function count(pages: FailedPages): Promise<number> {
  let total = 0;
  for await (const page of pages) total += page.length;
  return total;
}

async function printDryRun(
  context: Context,
  crawl: CrawlName,
  action: string,
  pages: FailedPages,
): Promise<void> {
  const found = await count(pages);
  const [field, what] = action === 'retry' ? ['retried', 'retried'] : ['purged', 'dropped'];
  const text = `${crawlName(crawl)}: ${n(found)} would be ${what}`;
  printResult(context, { spider: crawl.spider, dryRun: true, [field!]: found }, text);
}

async function summary(
  context: Context,
  crawl: CrawlName,
  frontier: Frontier,
  isWanted: FailedFilter,
): Promise<void> {
  const found = await summarizeFailed(frontier, { crawl: crawlArguments(context, crawl), isWanted });
  if (context.globals.json) return printJson(context, masked(context, { ...crawl, ...found }));
  if (found.groups.length === 0) return note(context, `${crawlName(crawl)}: no such request has failed`);
  const rows = found.groups.map(({ count, reason, status, domain, retry, exampleUrl, advice, command }) => [
    ...[n(count), reason, status === null ? '-' : String(status), domain ?? '-'],
    ...[retryWords[retry], exampleUrl ?? '-', command === null ? advice : `${advice}: ${command}`],
  ]);
  rowPrinter(context, ['COUNT', 'REASON', 'STATUS', 'DOMAIN', 'RETRY', 'EXAMPLE'])(rows);
}

const retryWords = { yes: 'yes', after_fix: 'after a fix', no: 'no' } as const;

async function list(context: Context, crawl: CrawlName, pages: FailedPages): Promise<void> {
  const printRows = rowPrinter(context, [
    ...['FAILED AT', 'REASON', 'STATUS', 'ATTEMPTS', 'CRASHES', 'NODE', 'URL'],
  ]);
  let shown = 0;
  for await (const page of pages) {
    shown += page.length;
    if (context.globals.json)
      for (const each of page) printJsonLine(context, masked(context, describeFailed(each)));
    else printRows(page.map(rowOf));
  }
  if (shown === 0) note(context, `${crawlName(crawl)}: no such request has failed`);
}

async function listIgnored(
  context: Context,
  crawl: CrawlName,
  frontier: Frontier,
  filter: FailedFilter,
  limit: number,
): Promise<void> {
  const all = await frontier.failed.ignored();
  const pages = all.filter(({ status, url }) => filter({ reason: 'httperror', status, url })).slice(0, limit);
  if (context.globals.json) for (const page of pages) printJsonLine(context, masked(context, page));
  else if (pages.length > 0) {
    const rows = pages.map(({ status, url, referer }) => [String(status), referer ?? '-', url]);
    rowPrinter(context, ['STATUS', 'REFERER', 'URL'])(rows);
    if (pages.every(({ referer }) => referer === null)) {
      note(
        context,
        'REFERER_ENABLED: true in the settings lists the page with the link too, from the next crawl on',
      );
    }
  }
  if (pages.length === 0) note(context, `${crawlName(crawl)}: no such page was ignored`);
}

async function retry(
  context: Context,
  crawl: CrawlName,
  frontier: Frontier,
  pages: FailedPages,
  settings: Settings,
): Promise<void> {
  const { retried, withoutRecord } = await retryFailed(frontier, pages, settings);
  const text = `${crawlName(crawl)}: ${n(retried)} back to pending`;
  printResult(context, { ...crawl, retried, withoutRecord }, text);
  if (withoutRecord > 0) {
    note(
      context,
      `${n(withoutRecord)} stay: their records were not kept (beyond FAILED_LIMIT) or cannot be read; "purge" drops them`,
    );
  }
  if (retried > 0 && (await frontier.snapshot()).nodes.length === 0) {
    note(context, `no node is running; "crawlnode crawl ${crawlArguments(context, crawl)}" fetches them`);
  }
}

/** The requests are counted first only when the user is asked. */
async function purge(
  context: Context,
  crawl: CrawlName,
  frontier: Frontier,
  find: () => FailedPages,
  yes: boolean,
): Promise<void> {
  if (!yes) {
    const found = context.stdin.isTTY ? await count(find()) : 0;
    await confirm(context, 'purge', `Drop ${n(found)} failed requests of ${crawlName(crawl)}?`);
  }
  const purged = await purgeFailed(frontier, find());
  printResult(context, { spider: crawl.spider, purged }, `${crawlName(crawl)}: ${n(purged)} dropped`);
}

function rowOf({ failed, request }: ReadFailed): string[] {
  const method = request === null || request.method === 'GET' ? '' : `${request.method} `;
  return [
    new Date(failed.failedAtMs).toISOString().slice(0, 19).concat('Z'),
    failed.reason,
    failed.status === null ? '-' : String(failed.status),
    String(failed.attempts),
    String(failed.crashes),
    failed.node || '-',
    request === null ? `(record not kept) ${failed.id}` : `${method}${request.url}`,
    failed.detail ?? '',
  ];
}
