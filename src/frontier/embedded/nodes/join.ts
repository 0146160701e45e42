/** The join verb: register a node as a new incarnation, which starts or continues the run. */

import { randomBytes } from 'node:crypto';
import { splitStats } from '../../../stats/stat-change.js';
import { budgetNotices } from '../../budgets.js';
import type { Joined, JoinOptions, NodeInfo, Tunables } from '../../frontier.js';
import { nodesAreStopping, restoreUnderWay } from '../../refusals.js';
import { argumentsText, otherArguments, startKey } from '../../shared-settings/run-arguments.js';
import {
  type Flush,
  flushNotice,
  tunableNotice,
  tunableSettings,
} from '../../shared-settings/shape-differences.js';
import { tunableText } from '../../shared-settings/tunable-text.js';
import type { Run } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import { flush } from '../crawl/clear.js';
import { processStart } from '../file/processes.js';
import { closedJustNow } from '../requests/budgets.js';
import { setStart, startOf } from '../seeds/starts.js';
import { addEvent } from '../telemetry/events.js';
import { incarnationName, type NodeRow, newIncarnationNumber } from './node-row.js';
import { declareDead } from './recover.js';
import {
  decideShape,
  refuseOtherDupefilter,
  refuseOtherFormat,
  refuseOtherShape,
} from './shared-settings.js';

/** `number` is 0 when the node should not start. @param first false for a node that was declared dead and joins anew. */
export function join(
  tx: Transaction,
  node: NodeInfo,
  options: JoinOptions,
  first: boolean,
): { number: number; joined: Joined } {
  refuseOtherFormat(tx);
  if (!tx.hasCrawl) refuseOtherDupefilter(tx, options.shape.dupefilter);
  tx.create(options.shape);
  if (tx.crawl.restoring !== null) throw restoreUnderWay();
  const isFirst = tx.crawl.shape === null;
  const others = tx.nodes.live().length;
  // A stop was meant for the nodes of that time, dead or alive: a new one waits for their end.
  if (tx.crawl.control === 'stopping' && others > 0 && first) throw nodesAreStopping(others);
  const argumentsBefore = argumentsText(tx.crawl.run?.args ?? {});
  const hasOtherArguments = argumentsBefore !== argumentsText(options.args);
  // A run whose nodes are all dead goes on with the next node, unless that has other arguments.
  const beginsRun = beginsNewRun(tx, others) || (first && others === 0 && hasOtherArguments);
  const flushes = options.flushOnStart && first && beginsRun;
  if (!flushes) refuseOtherShape(tx, options.shape);
  if (!beginsRun && hasOtherArguments) {
    throw otherArguments(argumentsBefore, options.args);
  }
  declareDead(tx);
  const number = newIncarnationNumber();
  const incarnation = incarnationName(node.id, number);
  const justClosed = beginsRun ? closedJustNow(tx, options.budgets) : null;
  if (justClosed !== null) {
    const found = {
      pending: 0,
      delayed: 0,
      leased: 0,
      seen: 0,
      lost: tx.tally.lost,
      nodes: others,
      ...nothingGone,
    };
    return {
      number: 0,
      joined: { incarnation, run: '', found, startPushed: false, justClosed, notices: [] },
    };
  }
  tx.dupefilter.look();
  // The dupefilter was emptied since the start requests were pushed: they are crawled again, whatever their arguments.
  if (others === 0 && tx.crawl.starts_again === 1) Object.assign(tx.crawl, { starts: {}, starts_again: 0 });
  const flushed = options.flushOnStart && first ? flushOnStart(tx, options, beginsRun, others) : null;
  const key = startKey(options.args);
  if (beginsRun) beginRun(tx, options);
  const run = tx.crawl.run!;
  addEvent(tx, { kind: 'node_joined', node: node.id });
  const notices = [
    ...flushNotice(flushed, others),
    ...changeTunables(tx, options.tunables, node.id, isFirst),
    ...budgetNotices(run.budgets, options.budgets),
  ];
  // A stop ends with its nodes, unless this is one of them and joins anew.
  const isForOthers = beginsRun || (others === 0 && first);
  if (tx.crawl.control === 'stopping' && isForOthers) tx.crawl.control = 'running';
  const joined = {
    incarnation,
    run: run.id,
    ...foundBy(tx, others),
    startPushed: startOf(tx.crawl, key) === 'pushed',
    justClosed: null,
    notices,
  };
  tx.crawl.has_start = options.hasStart ? 1 : 0;
  tx.crawl.has_idle = options.hasIdle ? 1 : 0;
  register(tx, number, node);
  return { number, joined };
}

const nothingGone = { seenGone: 0, seenExpires: false };

function foundBy({ tally, dupefilter }: Transaction, nodes: number): Pick<Joined, 'found'> {
  return {
    found: {
      pending: tally.pending + tally.suspects,
      delayed: tally.delayed,
      leased: tally.leased,
      seen: dupefilter.count(),
      lost: tally.lost,
      seenGone: tally.seen_gone,
      seenExpires: false,
      nodes,
    },
  };
}

function register(tx: Transaction, number: number, node: NodeInfo): void {
  const { tally, nowMs, space } = tx;
  // The crawl is idle only while it has nodes.
  if (tx.nodes.count === 0) tally.busy_at = nowMs;
  const row: NodeRow = {
    ...{ number, space, id: node.id, host: node.host, pid: node.pid, process_start: processStart(node.pid) },
    ...{ started_at: nowMs, beat_at: nowMs, settled: 0, pages_per_second: 0 },
    ...{ leased: 0, is_dead: 0 },
  };
  tx.nodes.add(row);
}

/** A run ends with its last node, or with a reason once no node lives; one whose nodes all died goes on. */
function beginsNewRun({ crawl }: Transaction, others: number): boolean {
  return crawl.run === null || crawl.run.closed !== null || (crawl.run.closing !== null && others === 0);
}

/**
 * What the nodes share and nobody can read any more, because somebody has written over it, is that of a node that asks.
 * @returns sentences for its log
 */
export function restoreShared(tx: Transaction, options: JoinOptions): string[] {
  const { crawl } = tx;
  const notices: string[] = [];
  if (crawl.tunables.isGuess === true) {
    crawl.tunables = options.tunables;
    placeBusyDomains(tx);
    notices.push(
      'delays and concurrency of the crawl could not be read, as somebody has written over them: those of this node hold now',
    );
  }
  if (crawl.run === null) {
    crawl.run = newRun(tx, options);
    notices.push(
      'the budgets of this run could not be read, as somebody has written over them: those of this node hold now',
    );
  }
  return notices;
}

function newRun({ nowMs, counters }: Transaction, { args, budgets }: JoinOptions): Run {
  const id = randomBytes(8).toString('hex');
  const ended = { closing: null, closed: null, asking: null, asked: null };
  return { id, args, startedAtMs: nowMs, budgets, counters: splitStats(counters.all()).counters, ...ended };
}

function beginRun(tx: Transaction, options: JoinOptions): void {
  const { crawl, tally, nowMs } = tx;
  const counted = {
    run_leased: 0,
    stall_tried: 0,
    run_items: 0,
    run_errors: 0,
    run_failed: 0,
    run_accepted: 0,
  };
  Object.assign(tally, { ...counted, run_error_pages: 0, run_good_pages: 0, busy_at: nowMs });
  crawl.run = newRun(tx, options);
  if (options.startsAgain) setStart(crawl, startKey(options.args), 0);
}

/** Forget the earlier runs where a new one begins, and say what became of it otherwise. */
function flushOnStart(
  tx: Transaction,
  { shape }: JoinOptions,
  beginsRun: boolean,
  others: number,
): Flush | null {
  if (!beginsRun) return others > 0 ? 'others' : 'interrupted';
  const hadAnything = tx.tally.accepted > 0 || tx.dupefilter.count() > 0;
  flush(tx, shape);
  decideShape(tx, shape);
  return hadAnything ? 'flushed' : null;
}

/** The latest node's tunables hold for all. @returns what changed for others. */
function changeTunables(tx: Transaction, tunables: Tunables, node: string, isFirst: boolean): string[] {
  const before = tx.crawl.tunables;
  const names = Object.keys(before) as (keyof Tunables)[];
  const changed = names.filter((name) => tunableText(before[name]) !== tunableText(tunables[name]));
  if (changed.length === 0) return [];
  tx.crawl.tunables = tunables;
  if (changed.includes('concurrencyPerDomain') || changed.includes('slots')) placeBusyDomains(tx);
  // The first node has nothing to change.
  if (isFirst) return [];
  const settings = changed.map((name) => tunableSettings[name]);
  addEvent(tx, { kind: 'settings_changed', node, settings });
  if (tx.nodes.count === 0) return [];
  return changed.map((name) => tunableNotice(name, before[name], tunables[name]));
}

/** After the concurrency changed, compute the state of each domain with leases again: it may be full or not any more. */
function placeBusyDomains({ sql, space, domains }: Transaction): void {
  domains.finish();
  const busy = sql.all<{ name: string }>`SELECT name FROM domain WHERE space = ${space} AND active > 0`;
  for (const { name } of busy) domains.change(name);
}
