/** The end of a crawl command: gates, final log line, summary and exit code. */
import { failureCode, type GateVerdict, judgeRun } from '../../crawler/run/run-gates.js';
import type { NodeResult } from '../../node/node-options.js';
import { inOrder } from '../../user-code/project-modules.js';
import { type FatalFields, fatalLine, fillCrawlArguments } from '../messages/error-report.js';
import { oneLine } from '../terminal/printable.js';
import type { Crawl, CrawlSession } from './crawl-session.js';
import { pagesOf, printSummary, reportFields, type Summary } from './summary.js';

/** How the nodes of a command ended. */
export interface Ending {
  readonly nodes: number;
  readonly result: NodeResult;
  /** Why items could not be written to their file; null when all were written. */
  readonly unwritten: string | null;
  readonly leftOut: Summary['leftOut'];
  /** The exit code before the gates, which may turn 0 into 1. */
  readonly code: number;
}

/** A failure after the crawl itself ended: a feed that could not be written, or a gate. */
interface Failure {
  readonly fields: FatalFields;
  readonly why: string;
}

/** Judge the run, and print how the crawl ended. @returns the exit code of the process */
export function finishCrawl(crawl: Crawl, session: CrawlSession, ending: Ending): number {
  const { display, log, fatal } = session;
  const { context, spider, targets } = crawl;
  const { nodes, leftOut } = ending;
  const named = (text: string | null) =>
    text === null ? null : fillCrawlArguments(text, crawl.crawlArguments);
  const [result, unwritten] = [
    { ...ending.result, message: named(ending.result.message) },
    named(ending.unwritten),
  ];
  display.stop();
  // Nodes that failed say so themselves.
  const verdict: GateVerdict = result.exitCode === 0 ? judgeRun(crawl.gates, result) : { kind: 'passed' };
  const code = verdict.kind === 'failed' ? Math.max(1, ending.code) : ending.code;
  const gate = verdict.kind === 'failed' ? `${verdict.message}${rewrittenFiles(crawl, verdict.code)}` : null;
  if (verdict.kind === 'unjudged') log.warn({}, verdict.message);

  const failures: Failure[] = [];
  // The node has said it where it ended for that reason.
  if (unwritten !== null && unwritten !== result.message && result.reason !== 'feed_unwritable') {
    failures.push({ fields: { code: 'feed_unwritable', exitCode: code }, why: unwritten });
  }
  if (verdict.kind === 'failed') {
    failures.push({ fields: { code: verdict.code, exitCode: code }, why: gate! });
  }
  const inFile = spider.loaded.settings.LOG_FILE !== null;
  // On a terminal the summary gives the same information.
  if (inFile || !context.stderr.isTTY) logEnding(session, { ...ending, result, code }, failures.length > 0);
  for (const { fields, why } of failures) {
    context.stderr.write(fatalLine(context, oneLine(why), fields));
    if (inFile) fatal(fields, why);
  }
  printSummary(context, {
    spider: spider.found.name,
    job: spider.loaded.settings.JOB,
    ...{ nodes, result, feeds: targets, leftOut, gate, rejections: session.rejections.all },
    pipelines: inOrder(spider.loaded.settings.ITEM_PIPELINES).map(([name]) => name),
    persist: spider.loaded.settings.SCHEDULER_PERSIST,
  });
  return code;
}

/** Log how the crawl itself ended. Other failures are logged separately. */
function logEnding(
  { log, fatal }: CrawlSession,
  { nodes, result, code }: Ending,
  hasOtherFailures: boolean,
): void {
  const { reason, pages, items, failed, elapsedMs, exitCode, message, crawl } = result;
  const report = { pages, items, failed, elapsedMs, nodes, crawl, ...reportFields(result) };
  if ((hasOtherFailures ? exitCode : code) === 0) {
    log.info({ reason, ...report }, `ended: ${reason}, ${pagesOf(result, nodes)}`);
    return;
  }
  const givenUp = exitCode === 0 && code === 1 ? `${reason}, but a node was given up` : reason;
  const ownCode = exitCode === 0 || reason === 'died' ? reason : failureCode(reason);
  fatal({ code: ownCode, exitCode: code, ...report }, message ?? givenUp);
}

/** Names the files that `-O` overwrote with a result that failed its gate. */
function rewrittenFiles({ targets }: Crawl, code: string): string {
  const files = targets.filter(({ overwrite }) => overwrite).map(({ path }) => path);
  if (!['too_few_items', 'not_finished'].includes(code) || files.length === 0) return '';
  return `; -O began ${files.join(', ')} anew, so only the items of this crawl are there`;
}
