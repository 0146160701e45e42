/** End one lease and commit its effects, all or none. A page with items that comes after the item budget only ends its lease. */
import { priorityInBounds } from '../../../http/message/priority.js';
import { delayInBounds } from '../../clamp-values.js';
import type { Effects, JoinOptions, Lease, Outcome, SettleAnswer } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { commitCookies } from '../cookies/write-cookies.js';
import { closeRun } from '../crawl/control.js';
import { adjustDelay } from '../domains/autothrottle.js';
import { commitValidators } from '../dupefilters/validators.js';
import { addIgnored, fail } from '../failed/failed-list.js';
import { addItems } from '../feeds/items.js';
import { appendCommitted } from '../feeds/outbox.js';
import type { JoinedNode, NodeRow } from '../nodes/node-row.js';
import { delay, deleteRequest, hexOf } from '../queue/requests.js';
import { type Accepted, accept } from '../requests/acceptance.js';
import { closeWhenSpent, comesTooLate, countForBudgets, giveBackPage } from '../requests/budgets.js';
import { forgetEarly } from '../requests/early-links.js';
import { endLease, findLease, type LeasedRow, returnToQueue } from './lease-records.js';

const nothingWritten: SettleAnswer = { committed: false };
const sendAllLinks: SettleAnswer = { committed: false, resend: true };

/** End the lease and commit its effects, if this node still holds it. */
export function settle(
  tx: Transaction,
  { number, options }: JoinedNode,
  lease: Lease,
  outcome: Outcome,
  effects: Effects,
): SettleAnswer {
  const epoch = String(tx.crawl.epoch);
  const holder = tx.nodes.findAlive(number);
  const held = holder === null ? null : findLease(tx, number, lease.token, lease.id);
  if (holder === null || held === null) return nothingWritten;
  const { withheld } = effects;
  if (withheld !== undefined && withheld.epoch !== epoch) return sendAllLinks;
  if (comesTooLate(tx, effects.stats)) {
    returnToQueue(tx, held);
    return { committed: false, closed: true };
  }
  // A dupefilter that was cleared has the class of the live nodes again.
  tx.crawl.dupefilter ??= tx.crawl.shape?.dupefilter ?? null;
  return {
    committed: true,
    epoch,
    ...commitOne(tx, { holder, held, options }, outcome, effects),
  };
}

interface Holding {
  readonly holder: NodeRow;
  readonly held: LeasedRow;
  readonly options: JoinOptions;
}

/** Commit one page. */
function commitOne(
  tx: Transaction,
  { holder, held, options }: Holding,
  outcome: Outcome,
  effects: Effects,
): Accepted {
  const { kind } = outcome;
  // Judge the links before the page's own request goes, so that a link to the page itself counts as a duplicate.
  const answer = accept(tx, effects.requests, 'links', { id: held.id, isEarly: false });
  moveRequest(tx, holder, held, outcome);
  addCounts(tx, effects);
  addItems(tx, effects.items);
  if (effects.feedItems.length > 0) appendCommitted(tx, options.feeds, hexOf(held.id), effects);
  if (effects.cookies !== undefined && kind !== 'released')
    commitCookies(tx, effects.cookies, options.maxCookieJars);
  if (effects.custom !== undefined) tx.counters.change(effects.custom);
  // A budget that is used up comes first, since the first reason stays.
  closeWhenSpent(tx);
  if (effects.closing !== undefined) closeRun(tx, effects.closing);
  if (effects.ignored !== undefined) addIgnored(tx, effects.ignored);
  if (effects.validators !== undefined && kind === 'done') {
    commitValidators(tx, effects.validators, (answer.dropped ?? 0) + (answer.trapped ?? 0) > 0);
  }
  if (effects.latencyMs !== undefined && kind !== 'released') {
    adjustDelay(tx, held.domain, Math.max(1, Math.round(effects.latencyMs)), outcome.status);
  }
  if (kind === 'done' || kind === 'failed') holder.settled += 1;
  return answer;
}

/** Add up its counters, and what counts against the budgets. */
function addCounts(tx: Transaction, { stats, withheld }: Effects): void {
  tx.counters.add(stats);
  if (withheld !== undefined) tx.counters.add({ 'dupefilter/filtered': withheld.count });
  countForBudgets(tx, stats);
}

/** End the lease, and move its request to its next state. */
function moveRequest(tx: Transaction, holder: NodeRow, held: LeasedRow, outcome: Outcome): void {
  if (outcome.unstarted === true) giveBackPage(tx);
  if (outcome.kind === 'released') {
    returnToQueue(tx, held);
    return;
  }
  const { kind, status = null, attempts } = outcome;
  endLease(tx, held, { state: kind === 'retry' ? 'delayed' : kind, status, attempts });
  if (kind === 'done') {
    deleteRequest(tx, held.n);
    forgetEarly(tx, held.id);
    tx.tally.done += 1;
    if (outcome.noPage === undefined) tx.tally.run_good_pages += 1;
    else if (outcome.noPage === 'error') tx.tally.run_error_pages += 1;
  } else if (kind === 'retry') {
    const { afterMs, priority, record } = outcome;
    delay(tx, held.n, delayInBounds(afterMs), priorityInBounds(priority), record);
  } else {
    const { reason, detail = null } = outcome;
    fail(tx, held.n, { reason, status, attempts, detail }, holder, held.crashes);
  }
}
