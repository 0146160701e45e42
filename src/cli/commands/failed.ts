/** `crawlnode failed S list|retry|purge`: what failed for good, why, and what becomes of it. */
import { Argument, type Command } from 'commander';
import { UsageError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import { atLeastOne } from '../at-least-one.js';
import type { CliCommand } from '../commands.js';
import { confirm } from '../confirm.js';
import { type Context, note, print, printJson, printJsonLine } from '../context.js';
import { type FailedFilter, failedFilter, filterOptions } from '../failed-filter.js';
import { failedPages, type ReadFailed, revived } from '../failed-requests.js';
import { jobOption, textsOf } from '../job-option.js';
import { loadSpiderOrSettings, openOptions, withFrontier } from '../open-project.js';
import { rowPrinter } from '../rows.js';

const help = `
A request fails for good when its retries are used up, its callback throws, its items break the schema, or its node
died over it three times. It stays on this list, oldest first, until it is retried, purged or reset.

Examples:
  crawlnode failed shop list --status 5xx
  crawlnode failed shop retry --reason timeout --domain example.com
  crawlnode failed shop purge --status 404 --yes`;

export const command: CliCommand = {
  define: (command: Command) =>
    void filterOptions(command.argument('<spider>'))
      .addArgument(
        new Argument(
          '<action>',
          'list: show them; retry: back to pending, their attempts counted anew; purge: drop them for good',
        ).choices(['list', 'retry', 'purge']),
      )
      .option('--limit <n>', 'list at most so many', atLeastOne)
      .option('--yes', 'purge without asking')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', action = ''], options) => {
    const filter = failedFilter(options);
    if (options.limit !== undefined && action !== 'list') {
      throw new UsageError(`--limit goes with list, not with ${action}`);
    }
    const { loaded, missing } = await loadSpiderOrSettings(context, spider, textsOf(options));
    if (missing !== null) note(context, missing);
    return withFrontier(openOptions(loaded.settings, spider), async (frontier) => {
      const found = matching(frontier, filter);
      if (action === 'list') await list(context, spider, found, options.limit as number | undefined);
      else if (action === 'retry') await retry(context, spider, frontier, found, loaded.settings);
      else await purge(context, spider, frontier, filter, options.yes === true);
      return 0;
    });
  },
};

async function* matching(frontier: Frontier, filter: FailedFilter): AsyncGenerator<ReadFailed[]> {
  for await (const page of failedPages(frontier)) {
    yield page.filter(({ failed: { reason, status }, request }) =>
      filter({ reason, status, url: request?.url ?? null }),
    );
  }
}

async function list(
  context: Context,
  spider: string,
  pages: AsyncIterable<ReadFailed[]>,
  limit = Number.POSITIVE_INFINITY,
): Promise<void> {
  const printRows = rowPrinter(context, [
    ...['FAILED AT', 'REASON', 'STATUS', 'ATTEMPTS', 'CRASHES', 'NODE', 'URL'],
  ]);
  let shown = 0;
  for await (const page of pages) {
    const some = page.slice(0, limit - shown);
    shown += some.length;
    if (context.globals.json) for (const each of some) printJsonLine(context, jsonOf(each));
    else if (some.length > 0) printRows(some.map(rowOf));
    if (shown >= limit) break;
  }
  if (shown === 0) note(context, `${spider}: no such request has failed`);
}

async function retry(
  context: Context,
  spider: string,
  frontier: Frontier,
  pages: AsyncIterable<ReadFailed[]>,
  settings: Settings,
): Promise<void> {
  let retried = 0;
  let withoutRecord = 0;
  for await (const page of pages) {
    const requests = page.flatMap(({ failed, request }) =>
      request === null ? [] : [revived(failed, request, settings)],
    );
    withoutRecord += page.length - requests.length;
    if (requests.length > 0) retried += await frontier.failed.retry(requests);
  }
  if (context.globals.json) printJson(context, { spider, job: settings.JOB, retried, withoutRecord });
  else print(context, `${spider}: ${retried.toLocaleString('en')} back to pending`);
  if (withoutRecord > 0) {
    note(
      context,
      `${withoutRecord.toLocaleString('en')} stay: their records were not kept (beyond FAILED_LIMIT) or cannot be read; "purge" drops them`,
    );
  }
  if (retried > 0 && (await frontier.snapshot()).nodes.length === 0) {
    note(context, `no node is running; "crawlnode crawl ${spider}" fetches them`);
  }
}

/** Off the terminal nobody is asked, so nothing is counted first. */
async function purge(
  context: Context,
  spider: string,
  frontier: Frontier,
  filter: FailedFilter,
  yes: boolean,
): Promise<void> {
  if (!yes) {
    let count = 0;
    if (context.stdin.isTTY) for await (const page of matching(frontier, filter)) count += page.length;
    await confirm(context, 'purge', `Drop ${count.toLocaleString('en')} failed requests of ${spider}?`);
  }
  let purged = 0;
  for await (const page of matching(frontier, filter)) {
    if (page.length > 0) purged += await frontier.failed.purge(page.map(({ failed }) => failed.id));
  }
  if (context.globals.json) printJson(context, { spider, purged });
  else print(context, `${spider}: ${purged.toLocaleString('en')} dropped`);
}

function jsonOf({ failed, request }: ReadFailed): object {
  const { id, reason, status, attempts, crashes, node, failedAtMs, detail } = failed;
  return {
    ...{ id, url: request?.url ?? null, method: request?.method ?? null },
    ...{ reason, status, attempts, crashes, node, failedAt: new Date(failedAtMs).toISOString(), detail },
  };
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
