/** The summary that a crawl command prints on stdout. */
import type { FeedTarget } from '../../crawler/feeds/feed-targets.js';
import type { LeftOut } from '../../crawler/feeds/open-feeds.js';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { howMany, n } from '../../format-amounts.js';
import type { CrawlTotals, NodeResult } from '../../node/node-options.js';
import { NO_RESPONSE } from '../../node/page/judge-download.js';
import { type Context, masked, print, printJson } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { oneLine } from '../terminal/printable.js';
import { wrapped } from '../terminal/reflow.js';
import { type RejectionCount, rejectionLine } from './rejections.js';

export interface Summary {
  readonly spider: string;
  readonly job: string | null;
  readonly nodes: number;
  readonly result: NodeResult;
  readonly feeds: readonly FeedTarget[];
  /** Fields that the files of this command lack. */
  readonly leftOut: readonly LeftOut[];
  /** The enabled ITEM_PIPELINES. */
  readonly pipelines: readonly string[];
  /** Whether a finished crawl stays in the store (SCHEDULER_PERSIST). */
  readonly persist: boolean;
  /** The gate that the run failed, in a sentence; null when none. */
  readonly gate: string | null;
  readonly rejections: RejectionCount;
}

/** How many kinds of dead ends are shown as text. JSON has all. */
const SHOWN_DEAD_ENDS = 3;
/** A URL that is too long may be the very reason of a dead end. */
const SHOWN_URL_CHARS = 200;
/** How many fields without a column are named as text. JSON has all. */
const SHOWN_FIELDS = 10;
/** How many stats of the project's own are shown as text. JSON has all. */
const SHOWN_STATS = 20;

/** Print the summary: text, or one JSON object with `--json`. */
export function printSummary(output: Context, summary: Summary): void {
  const { spider, job, nodes, result, feeds, leftOut, pipelines, persist, gate, rejections } = summary;
  const { reason, pages, items, failed, elapsedMs, message, deadEnds, unusedSlots, customStats, crawl, run } =
    result;
  // Standard output holds nothing but items then.
  const context = feeds.some(({ isStdout }) => isStdout) ? { ...output, stdout: output.stderr } : output;
  if (context.globals.json) {
    const files = feeds.map(({ path }) => path);
    const ownCounts = { pages, items, failed, nodes, elapsedMs };
    const ends = masked(context, deadEnds);
    printJson(context, {
      ...{ spider, job, reason, ...ownCounts, message, gate, crawl, run },
      deadEnds: ends,
      unusedSlots,
      ...reportFields(result),
      customStats: masked(context, customStats),
      rejections: masked(context, rejections),
      feeds: files,
      leftOut: leftOut.map(({ fields, ...file }) => ({ ...file, fields: [...fields] })),
    });
    return;
  }
  const say = (text: string) => print(context, wrapped(text, context.stdout));
  const where = nodes === 1 ? '' : ` on ${nodes} nodes`;
  const seconds = (elapsedMs / 1000).toFixed(1);
  say(`${crawlName({ spider, job })}: ${reason}, ${pagesOf(result, nodes)}, ${seconds} s${where}`);
  if (message !== null) say(oneLine(context.mask(message)));
  const byStatus = statusLine(run?.statuses ?? {}, run?.redirects ?? 0);
  if (byStatus !== null) say(byStatus);
  const speed = speedLine(result);
  if (speed !== null) say(speed);
  for (const { what, unit, count, example } of deadEnds.slice(0, SHOWN_DEAD_ENDS)) {
    const counted = `${howMany(count, unit)}${unit === 'request' ? ' not followed' : ''}`;
    say(`${what}: ${counted}, such as ${shortened(oneLine(context.mask(example)))}`);
  }
  const hidden = deadEnds.length - SHOWN_DEAD_ENDS;
  if (hidden > 0)
    say(`${howMany(hidden, 'more kind')} of such pages, requests, items and seeds: --json shows all`);
  const dropped = run?.dropped ?? 0;
  if (dropped > 0)
    say(
      `${howMany(dropped, 'link')} of the run dropped, as the queue or the crawl was at its limit (SCHEDULER_QUEUE_LIMIT, SCHEDULER_MEMORY_LIMIT); a page that has them again brings them back`,
    );
  const isKept = persist || reason !== 'finished';
  const args = crawlArguments(context, { spider, job });
  if (isKept && deadEnds.some(({ what }) => what.startsWith('status ')))
    say(`"crawlnode failed ${args} list --ignored" lists pages with an ignored status`);
  if (deadEnds.some(({ unit }) => unit === 'seed')) {
    say(`"crawlnode seed ${args} --list-bad" lists the bad seeds, also of earlier runs`);
  }
  if (unusedSlots.length > 0 && pages > 0 && reason === 'finished') {
    const names = oneLine(unusedSlots.join(', '));
    say(`DOWNLOAD_SLOTS had no effect on these nodes for ${names}: no request had such a domain or slot`);
  }
  const unawaited = rejectionLine(rejections);
  if (unawaited !== null) say(oneLine(context.mask(unawaited)));
  printStats(context, customStats);
  const areDropped = deadEnds.some(({ unit }) => unit === 'item');
  if (pages > failed && items === 0 && (crawl?.items ?? 0) === 0 && !areDropped) say('no page gave an item');
  if (failed > 0 || (crawl?.failed ?? 0) > 0) {
    const reasons = mostFirst(run?.failures ?? {});
    const first = reasons[0] === undefined ? '' : ` --reason ${reasons[0][0]}`;
    const counts = reasons.map(([why, count]) => `${n(count)} ${why}`).join(', ');
    say(
      `failed requests${counts && ` of the run: ${counts}. They`} ${
        isKept
          ? `are kept with the crawl; "crawlnode failed ${args} list${first}" says why`
          : 'are cleared with the finished crawl; SCHEDULER_PERSIST: true keeps them to be tried again'
      }`,
    );
  }
  for (const { path } of feeds) print(context, `items: ${path}`);
  for (const { path, fields, items: count, absent } of leftOut) {
    if (absent.length > 0)
      say(
        `${path} has no value for ${oneLine(absent.join(', '))} (fields of FEEDS): no item of this run has such a field`,
      );
    if (fields.size === 0) continue;
    const names = oneLine([...fields].slice(0, SHOWN_FIELDS).join(', '));
    const more =
      fields.size > SHOWN_FIELDS ? ` and ${howMany(fields.size - SHOWN_FIELDS, 'more field')}` : '';
    say(
      `${path} has no column for ${names}${more} of ${howMany(count, 'item')}; FEEDS may name all columns (fields)`,
    );
  }
  if (items > 0 && feeds.length === 0) {
    say(
      pipelines.some((name) => name.endsWith('RedisPipeline'))
        ? `items: in the items list; "crawlnode items ${args} list" shows them, "export -o FILE" in place of "list" writes them to a file`
        : `items: in no file (-o) and not in the items list (RedisPipeline), ${pipelines.length === 0 ? 'so nowhere' : 'only in your item pipelines'}`,
    );
  }
}

/** How many pages of the run ended with which status, over all nodes; null where all ended with 200 and none redirected. */
function statusLine(statuses: Readonly<Record<string, number>>, redirects: number): string | null {
  const counts = mostFirst(statuses);
  if (redirects === 0 && counts.every(([status]) => status === '200')) return null;
  const parts = counts.map(([status, count]) => {
    const answer = status === NO_RESPONSE ? 'without a response' : `with status ${status}`;
    return `${n(count)} ${answer}`;
  });
  if (redirects > 0) parts.push(howMany(redirects, 'redirect'));
  return `pages of the run: ${parts.join(', ')}`;
}

const mostFirst = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).sort(([, a], [, b]) => b - a);

/** A run shorter than this says little about its speed. */
const SPEED_FROM_MS = 60_000;

/** What was slowest, and how fast items came; null for a short run of one domain. */
function speedLine(result: NodeResult): string | null {
  const { slowestDomain, itemsPerMinute } = reportFields(result);
  if (slowestDomain === null && result.elapsedMs < SPEED_FROM_MS) return null;
  const rate = `${howMany(itemsPerMinute, 'item')} a minute`;
  if (slowestDomain === null) return rate;
  const { domain, latencyMs } = slowestDomain;
  return `${rate}; slowest domain: ${oneLine(domain)}, ${(latencyMs / 1000).toFixed(2)} s until it answers`;
}

/** What the summary and the last line of the log say of a run beside its totals. */
export function reportFields({ run, slowestDomain, items, elapsedMs }: NodeResult) {
  const { statuses = {}, failures = {} } = run ?? {};
  return {
    statuses,
    failures,
    slowestDomain,
    itemsPerMinute: Math.round((items * 60_000) / Math.max(1, elapsedMs)),
  };
}

const shortened = (url: string) => (url.length > SHOWN_URL_CHARS ? `${url.slice(0, SHOWN_URL_CHARS)}…` : url);

/** The first stats of the project's own, by name. */
function printStats(context: Context, stats: NodeResult['customStats']): void {
  const shown = Object.entries(stats).sort(([a], [b]) => (a < b ? -1 : 1));
  if (shown.length > 0) print(context, 'custom stats:');
  for (const [name, value] of shown.slice(0, SHOWN_STATS)) {
    print(context, oneLine(context.mask(`  ${name}: ${typeof value === 'number' ? n(value) : value}`)));
  }
  const more = shown.length - SHOWN_STATS;
  if (more > 0) print(context, `  ${howMany(more, 'more stat')}: crawlnode stats`);
}

/**
 * The counts of the nodes of a command: `6 pages, 4 items, 2 failed`. When other nodes or earlier runs did part of the
 * crawl, both are shown: `this node: 2 of 6 pages, 1 of 4 items, 0 of 2 failed`.
 */
export function pagesOf(result: Pick<NodeResult, keyof CrawlTotals | 'crawl'>, nodes: number): string {
  const { pages, items, failed, crawl } = result;
  // The item counter outlives a clear of the crawl, so the pages decide.
  if (crawl === null || crawl.pages <= pages) {
    return `${howMany(pages, 'page')}, ${howMany(items, 'item')}, ${n(failed)} failed`;
  }
  const who = nodes === 1 ? 'this node' : `these ${nodes} nodes`;
  const part = (own: number, all: number) => (all === 0 ? '0' : `${n(own)} of ${n(all)}`);
  return (
    `${who}: ${part(pages, crawl.pages)} ${crawl.pages === 1 ? 'page' : 'pages'}, ` +
    `${part(items, crawl.items)} ${crawl.items === 1 ? 'item' : 'items'}, ${part(failed, crawl.failed)} failed`
  );
}
