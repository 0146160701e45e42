/** The arguments of a settle for `lua/leases/settle.lua`. */
import { priorityInBounds } from '../../../http/message/priority.js';
import { spentBy } from '../../budgets.js';
import { countersInBounds, delayInBounds } from '../../clamp-values.js';
import type { Dupefilter, Effects, Lease, Outcome, ValidatorChange } from '../../frontier.js';
import type { Arguments, LuaValue } from '../connection/lua-message.js';
import { changeArguments } from '../cookies/cookie-reply.js';
import { columnsOf } from '../request-columns.js';
import { statArguments } from '../stored-stats.js';
import { leaseCallOf } from './lease-reply.js';

/** A settle that is to be sent. */
export interface SettleMessage {
  /** Identifies its lease: the number of the call that granted it, and the id of the request. */
  readonly token: Buffer;
  /** The arguments of the verb by name, without the counters. */
  readonly args: Arguments;
  /** The amount to add to each counter. */
  readonly counters: readonly (readonly [name: string, amount: number])[];
  readonly links: number;
  readonly items: number;
  /** The approximate size of all texts. */
  readonly bytes: number;
}

/** What settles need to know of the node that sends them. */
export interface Sender {
  /** Whether the node has feeds for the feed items. */
  readonly hasFeeds: boolean;
  readonly maxCookieJars: number | undefined;
  /** The name of the node, for the failed list. */
  readonly node: string;
  readonly dupefilter: Dupefilter;
}

export function settleMessage(
  lease: Lease,
  outcome: Outcome,
  effects: Effects,
  { hasFeeds, maxCookieJars, node, dupefilter }: Sender,
): SettleMessage {
  const { requests, withheld, items, cookies = [], custom = [], closing, validators, ignored } = effects;
  const id = Buffer.from(lease.id, 'hex');
  const call = leaseCallOf(lease);
  const counters = countersInBounds(effects.stats);
  if (withheld !== undefined) counters.push(['dupefilter/filtered', withheld.count]);
  const feedItems = hasFeeds ? effects.feedItems : [];
  const spent = spentBy(effects.stats);
  const [scraped, errors] = [whole(spent.items), whole(spent.errors)];
  // What is absent is not added: most pages have only a few of these.
  const args = outcomeArguments(outcome, node);
  args.id = id;
  args.call = call;
  if (withheld !== undefined) args.epoch = withheld.epoch;
  if (scraped > 0) args.scraped = scraped;
  if (errors > 0) args.errors = errors;
  if (effects.latencyMs !== undefined) args.latencyMs = whole(effects.latencyMs) || 1;
  if (items.length > 0) args.items = items;
  if (feedItems.length > 0) {
    args.feedItems = feedItems;
    args.itemIds = effects.itemIds;
  }
  if (requests.length > 0) args.requests = columnsOf(requests, dupefilter);
  if (validators !== undefined) args.validators = validatorArguments(validators);
  if (ignored !== undefined) args.ignored = JSON.stringify(ignored);
  if (custom.length > 0) args.custom = statArguments(custom);
  if (closing !== undefined) args.closing = closing;
  if (cookies.length > 0) {
    args.cookies = cookies.map(changeArguments);
    args.maxJars = maxCookieJars;
  }
  return {
    token: Buffer.concat([Buffer.from(`${call}.`), id]),
    args,
    counters,
    links: requests.length,
    items: items.length + feedItems.length,
    bytes:
      sumOf(items, lengthOf) +
      sumOf(feedItems, lengthOf) +
      sumOf(requests, ({ record }) => record.length) +
      sumOf(custom, ({ name, value }) => `${name}${value}`.length) +
      sumOf(cookies, ({ text }) => text?.length ?? 0),
  };
}

function outcomeArguments(outcome: Outcome, node: string): { [name: string]: LuaValue | undefined } {
  const { kind } = outcome;
  const unstarted = outcome.unstarted || undefined;
  if (kind === 'released') return { kind, unstarted };
  const status = inTwoBytes(outcome.status ?? 0);
  const attempts = inTwoBytes(outcome.attempts);
  if (kind === 'done') return { kind, status, attempts, unstarted, noPage: outcome.noPage };
  if (kind === 'retry') {
    const { record, afterMs, priority } = outcome;
    const again = { record, afterMs: delayInBounds(afterMs), priority: priorityInBounds(priority) };
    return { kind, status, attempts, unstarted, ...again };
  }
  const { reason, detail } = outcome;
  const failure = JSON.stringify({
    reason,
    status: outcome.status,
    attempts: outcome.attempts,
    detail,
    node,
  });
  return { kind, status, attempts, unstarted, failure };
}

function validatorArguments({ fingerprint, text }: ValidatorChange): Arguments {
  return { fingerprint: Buffer.from(fingerprint, 'hex'), text: text ?? undefined };
}

const lengthOf = (text: string): number => text.length;

function sumOf<T>(members: readonly T[], sizeOf: (member: T) => number): number {
  let sum = 0;
  for (const member of members) sum += sizeOf(member);
  return sum;
}

const whole = (value: number): number => Math.min(2 ** 48 - 1, Math.round(value) || 0);

const inTwoBytes = (value: number): number => Math.max(0, Math.min(0xffff, Math.trunc(value) || 0));
