/** The findings of `doctor`, their output, and the checks that need only a snapshot of a crawl. */

import type { ChangedFeed } from '../../crawler/feeds/examine-feeds.js';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { isPipelineOutbox } from '../../feed-outbox.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import { findingsAbout } from '../../frontier/findings.js';
import type { Finding, Snapshot } from '../../frontier/frontier.js';
import { memoryAtLimit } from '../../frontier/types/reports.js';
import { whatToDo } from '../../node/losses/lost-requests.js';
import { vanishedMessage } from '../../node/losses/vanished-fingerprints.js';
import { changeOf, wayOn } from '../../pipelines/feeds/changed-feed.js';
import { type Context, print, printJson } from '../context.js';
import { paintFor } from '../terminal/colour.js';
import { oneLine } from '../terminal/printable.js';
import { wrapped } from '../terminal/reflow.js';

/** A finding with its crawl. `spider` is null when it concerns all crawls. */
export interface SpiderFinding extends Omit<Finding, 'about'> {
  readonly spider: string | null;
  /** The job of the crawl; absent for the unnamed one. */
  readonly job?: string | null;
}

const ranks = { ok: 0, info: 1, problem: 2 };
const marks = { ok: ['green', 'ok'], info: ['yellow', 'info'], problem: ['red', 'problem'] } as const;

const inOrder = (findings: readonly SpiderFinding[]) =>
  [...findings].sort((a, b) => ranks[a.level] - ranks[b.level]);

/** Print one line for each finding, problems last; nothing with `--json`. On a terminal the action is on a line of its own. */
export function showFindings(context: Context, findings: readonly SpiderFinding[]): void {
  if (context.globals.json) return;
  const paint = paintFor(context, context.stdout);
  for (const { level, spider, job = null, message, action } of inOrder(findings)) {
    const [style, word] = marks[level];
    const about = spider === null ? '' : `${crawlName({ spider, job })}: `;
    const todo =
      action === null
        ? ''
        : `${context.stdout.isTTY ? `\n${' '.repeat(9)}` : ' '}→ ${oneLine(context.mask(action))}`;
    const line = `${paint(style, word.padEnd(7))}  ${oneLine(context.mask(about + message))}${todo}`;
    print(context, wrapped(line, context.stdout, ' '.repeat(9)));
  }
}

/** Print the last line, with the number of problems; with `--json` all findings as one document. */
export function showOutcome(context: Context, findings: readonly SpiderFinding[]): void {
  const problems = findings.filter(({ level }) => level === 'problem').length;
  if (context.globals.json) {
    printJson(context, {
      ok: problems === 0,
      findings: inOrder(findings).map(({ level, check, spider, job = null, message, action }) => ({
        ...{ level, check, spider, job, message, action },
      })),
    });
    return;
  }
  const paint = paintFor(context, context.stdout);
  if (problems === 0) print(context, paint('green', 'no problems'));
  else print(context, paint('red', howMany(problems, 'problem')));
}

/** Smaller clock differences are not reported. */
const CLOCK_OFF_MS = 5_000;

/** The oldest Node that runs crawlnode. */
const OLDEST_NODE = [20, 19, 0] as const;

export function nodeVersion(version: string): Finding[] {
  const parts = version.split('.').map(Number);
  const differs = OLDEST_NODE.findIndex((wanted, n) => wanted !== (parts[n] ?? 0));
  const isOld = differs !== -1 && (parts[differs] ?? 0) < OLDEST_NODE[differs]!;
  const { found, ok, problem } = findingsAbout('store');
  if (!isOld) ok('node_version', `Node ${version}`);
  else {
    const oldest = OLDEST_NODE.join('.');
    problem('node_version', `Node ${version}, older than ${oldest}`, `install Node ${oldest} or newer`);
  }
  return found;
}

/**
 * The findings from a snapshot of a crawl.
 * @param crawl the arguments that select it (`crawlArguments`)
 * @param nodeTimeoutMs after this time without a heartbeat a node counts as dead
 * @param mayRepair false once it is known that a repair would bring back no lost request
 */
export function crawlFindings(
  crawl: string,
  snapshot: Snapshot,
  nodeTimeoutMs: number,
  mayRepair: boolean,
): Finding[] {
  const { found, info, problem } = findingsAbout('crawl');
  const { lost, seenGone, badSeeds, nodes, silent, outbox, leased, failed, suspects, control } = snapshot;
  if (lost > 0) {
    const why = 'because somebody deleted keys or rows, or Redis evicted them';
    const what = `${howMany(lost, 'request')} lost: their records, or items that waited for a feed, vanished from the store`;
    problem('requests_lost', `${what}, ${why}`, whatToDo(crawl, mayRepair));
  }
  if (seenGone > 0) {
    const action = `a reset of the dupefilter ends this message: crawlnode reset ${crawl} --only dupefilter`;
    info('fingerprints_vanished', vanishedMessage(seenGone), action);
  }
  const unreadable = snapshot.counters['store/unreadable'] ?? 0;
  if (unreadable > 0) {
    const what = `${howMany(unreadable, 'value')} of the store could not be read, as somebody else had written over them`;
    const action = 'see who else may write to this store';
    info('unreadable_entries', `${what}: they were removed or made anew`, action);
  }
  const memory = memoryAtLimit(snapshot);
  if (memory !== null) {
    const what = `the crawl takes ${byteSize(memory.bytes)} in the store, SCHEDULER_MEMORY_LIMIT is ${byteSize(memory.limit)}: seeds wait, and links are dropped`;
    const action = 'raise the limit, take items out of the items list, or choose a smaller DUPEFILTER_CLASS';
    problem('memory_limit', what, action);
  }
  if (badSeeds > 0) {
    const list = `"crawlnode seed ${crawl} --list-bad" prints them with their reasons`;
    const reset = `"crawlnode reset ${crawl} --only start_urls" deletes them, and the seeds that wait`;
    const what = `${howMany(badSeeds, 'seed')} could not be parsed and were set aside`;
    problem('bad_seeds', what, `${list}; ${reset}`);
  }
  for (const { feed, host, path, waiting } of outbox) {
    if (waiting === 0) continue;
    const items = `${n(waiting)} committed items wait`;
    if (isPipelineOutbox(feed)) {
      const message = `${items} for the item pipeline ${path || feed}`;
      if (nodes.length > 0) info('items_waiting', message, null);
      else
        problem('items_waiting', message, `crawlnode crawl ${crawl}, with this pipeline in ITEM_PIPELINES`);
    } else if (path === '') {
      const message = `the store's record of a file for items cannot be read: ${items} for it`;
      const repair = mayRepair ? `stop the nodes and run "crawlnode doctor ${crawl} --repair"; then ` : '';
      problem(
        'feed_record',
        message,
        `${repair}crawl with the same -o or FEEDS as before, which writes them`,
      );
    } else {
      const message = `${items} to be written to ${path} on ${host}`;
      if (nodes.some((node) => node.host === host)) info('items_waiting', message, null);
      else problem('items_waiting', message, `on ${host}: crawlnode items ${crawl} export`);
    }
  }
  for (const { id, clockAheadMs } of nodes) {
    if (Math.abs(clockAheadMs) < CLOCK_OFF_MS) continue;
    const off = `${duration(Math.abs(clockAheadMs))} ${clockAheadMs > 0 ? 'ahead of' : 'behind'}`;
    const message = `the clock of the node ${id} is ${off} that of the store; only its logs are dated by it`;
    info('node_clock', message, 'have its machine follow NTP');
  }
  for (const { id, heartbeatAgeMs } of silent) {
    const what = `the node ${id} sent its last heartbeat ${duration(heartbeatAgeMs)} ago and counts as dead`;
    info('silent_node', `${what}; other nodes get its requests`, null);
  }
  for (const { id, heartbeatAgeMs } of nodes) {
    if (heartbeatAgeMs < nodeTimeoutMs / 2) continue;
    const look = 'see whether it hangs, has lost its network, or its machine is overloaded';
    const message = `the node ${id} has sent no heartbeat for ${Math.round(heartbeatAgeMs / 1000)} s`;
    problem('stale_node', message, `${look}; the others take over what it holds`);
  }
  if (leased > 0 && nodes.length === 0) {
    const action = `none is lost: the next "crawlnode crawl ${crawl}" takes them over`;
    info('leases_of_dead_nodes', `${howMany(leased, 'request')} held by nodes that died`, action);
  }
  if (suspects > 0) {
    const message = `${howMany(suspects, 'request')} in progress when a node died; each is repeated alone`;
    info('suspects', message, null);
  }
  const nothing = nothingSucceeded(snapshot);
  const list = `crawlnode failed ${crawl} list`;
  if (nothing !== null) problem('nothing_succeeded', nothing, list);
  else if (failed > 0) info('failed', `${howMany(failed, 'request')} failed for good`, list);
  if (control !== 'running' && snapshot.pending + snapshot.delayed + nodes.length > 0) {
    info('control', `the crawl is ${control}`, `crawlnode resume ${crawl}`);
  }
  return found;
}

/** The feed files that are not as the crawl has left them: by the store, of any machine, and by a look at those of this one. */
export function feedFindings(outbox: Snapshot['outbox'], seen: readonly ChangedFeed[]): Finding[] {
  const { found, info, problem } = findingsAbout('crawl');
  for (const { path, host, change } of outbox) {
    if (change !== null) problem('feed_changed', `on ${host}: ${changeOf(path, change)}`, wayOn(path));
  }
  for (const { feed, path, change, isOfCrawl } of seen) {
    if (outbox.some((known) => known.feed === feed && known.change !== null)) continue;
    if (isOfCrawl) problem('feed_changed', changeOf(path, change), wayOn(path));
    else info('feed_changed', `a file of an ended run: ${path} ${change.what}`, null);
  }
  return found;
}

/** The message when a finished crawl has no page whose callback succeeded; else null. */
function nothingSucceeded({ done, failed, pending, delayed, leased, counters }: Snapshot): string | null {
  if (done + failed === 0 || pending + delayed + leased > 0) return null;
  const redirected = counters['redirect/count'] ?? 0;
  const ignored = counters['httperror/response_ignored_count'] ?? 0;
  // Fewer done than counted: the queue was reset without its stats, which count pages of before.
  if (done !== redirected + ignored || failed + ignored === 0) return null;
  const others = ignored === 0 ? '' : `, and ${howMany(ignored, 'page')} answered with an error such as 404`;
  return `no page of this crawl succeeded: ${howMany(failed, 'request')} failed${others}`;
}
