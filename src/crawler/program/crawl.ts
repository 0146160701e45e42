/** `crawl()`: one node in the process of a program. It prints nothing and does not end the process. */

import { CrawlnodeError, FrontierUnavailableError, messageOf, RefusedError } from '../../errors.js';
import type { JsonObject } from '../../http/message/record/request-record.js';
import type { Response } from '../../http/message/response.js';
import { type Logger, silentLogger } from '../../log.js';
import type { NodeResult } from '../../node/node-options.js';
import { feedTargets } from '../feeds/feed-targets.js';
import { userFeedRecords } from '../feeds/user-feed-records.js';
import { logSettingNotices } from '../project/load-spider.js';
import { openOptions, withFrontier } from '../project/open-frontier.js';
import { runCrawl } from '../run/run-crawl.js';
import { failureCode, judgeRun, noGates } from '../run/run-gates.js';
import { nodeIdOf } from '../run/run-node.js';
import { statsOf } from '../stats/crawl-stats.js';
import { checkCall } from './check-call.js';
import { programEnvironment } from './environment.js';
import { loadProgramSpider } from './load-program-spider.js';
import type { CrawlOptions, CrawlResult, SpiderChoice } from './options.js';
import { sturdyLogger } from './sturdy-logger.js';

/** The crawls that run in this process, by store and keys. */
const running = new Set<string>();

export async function crawl(choice: SpiderChoice, options: CrawlOptions): Promise<CrawlResult> {
  checkCall('crawl', choice, options);
  const { exitWhenDone = true, signal = new AbortController().signal } = options;
  const log = options.log === undefined ? silentLogger : sturdyLogger(options.log);
  const budget = options.maxPages === undefined ? {} : { CLOSESPIDER_PAGECOUNT: options.maxPages };
  const spider = await loadProgramSpider(choice, options, budget);
  const { settings, projectDir } = spider.loaded;
  const { name } = spider.found;
  logSettingNotices(spider.loaded, log);
  const open = openOptions(settings, name);
  return onlyOnce(JSON.stringify([open.store, open.keys.requests]), name, () =>
    withFrontier(open, async (frontier) => {
      const { result, unwritten } = await runCrawl({
        ...{ spider, open, frontier, exitWhenDone, log, drain: signal },
        nodeId: nodeIdOf(settings.NODE_ID),
        crawlArguments: settings.JOB === null ? name : `${name} --job ${settings.JOB}`,
        targets: feedTargets(projectDir, [], [], settings, {
          ...{ name, job: settings.JOB, time: new Date() },
        }),
        records: userFeedRecords(programEnvironment(), open),
        ...{ isAwaited: true, speaksJson: false, endsStuckProcess: false, writer: null, siblings: null },
        force: new AbortController().signal,
        graceLeftMs: (graceMs) => graceMs,
        onTrouble: () => {},
        ...(options.onItem && { onItems: itemCaller(options.onItem, log) }),
      });
      if (unwritten !== null) throw new CrawlnodeError('feed_unwritable', unwritten);
      refuseFailure(result);
      refuseWithoutGoodPage(result);
      const { reason, message, pages, items, failed, elapsedMs } = result;
      const crawl = { spider: name, job: settings.JOB, frontier };
      const stats = statsOf(crawl, await frontier.snapshot());
      return { reason, message, pages, items, failed, stats, elapsedMs };
    }),
  );
}

/** Two nodes of one crawl in one process would share its main loop, without any gain. */
async function onlyOnce<T>(crawl: string, name: string, run: () => Promise<T>): Promise<T> {
  if (running.has(crawl)) {
    throw new RefusedError(
      `this process crawls ${name} already: wait for that crawl to end, or give this one another job`,
    );
  }
  running.add(crawl);
  try {
    return await run();
  } finally {
    running.delete(crawl);
  }
}

/** @throws CrawlnodeError for an ending that the command line reports with exit code 1 */
function refuseFailure({ exitCode, reason, message }: NodeResult): void {
  if (exitCode === 0) return;
  const code = failureCode(reason);
  const what = message ?? `the crawl ended: ${reason}`;
  throw exitCode === 4 ? new FrontierUnavailableError(what, { code }) : new CrawlnodeError(code, what);
}

/** @throws CrawlnodeError for a run of which no page succeeded */
function refuseWithoutGoodPage(result: NodeResult): void {
  const verdict = judgeRun(noGates, result);
  if (verdict.kind === 'failed') throw new CrawlnodeError(verdict.code, verdict.message);
}

/** Calls `onItem` with each committed item. Its errors are logged, and have no other effect. */
function itemCaller(onItem: NonNullable<CrawlOptions['onItem']>, log: Logger) {
  const failed = (error: unknown) => log.warn({ error: messageOf(error) }, 'onItem failed');
  return (texts: readonly string[], response: Response | null) => {
    for (const text of texts) {
      try {
        Promise.resolve(onItem(JSON.parse(text) as JsonObject, response)).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  };
}
