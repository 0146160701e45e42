/** A settle as `lua/pages/settling.lua` takes it, and its answer. */

import { priorityInBounds } from '../../../http/message/priority.js';
import { countersInBounds, delayInBounds } from '../../bounds.js';
import { spentBy } from '../../budgets.js';
import type { Dupefilter, Effects, Lease, Outcome, PushAnswer, SettleAnswer } from '../../frontier.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, named, type Reply, text } from '../connection/reply.js';
import { columnsOf } from '../requests.js';
import { givenBy } from './leases.js';

/** One settle on its way. */
export interface SettleMessage {
  /** Tells its lease from all others: the call that gave it, and its id. */
  readonly token: Buffer;
  /** By name, as the verb takes it; without its counters. */
  readonly args: Arguments;
  /** What it adds to each counter. */
  readonly counters: readonly (readonly [name: string, amount: number])[];
  readonly links: number;
  readonly items: number;
  /** Of all texts, roughly. */
  readonly bytes: number;
}

/** @param hasFeeds whether there is a feed for the feed items; @param node who says so, for the failed list. */
export function settleMessage(
  lease: Lease,
  outcome: Outcome,
  effects: Effects,
  { hasFeeds, node, dupefilter }: { hasFeeds: boolean; node: string; dupefilter: Dupefilter },
): SettleMessage {
  const { requests, withheld, items } = effects;
  const id = Buffer.from(lease.id, 'hex');
  const call = givenBy(lease);
  const counters = countersInBounds(effects.stats);
  if (withheld !== undefined) counters.push(['dupefilter/filtered', withheld.count]);
  const feedItems = hasFeeds ? effects.feedItems : [];
  const spent = spentBy(effects.stats);
  return {
    token: Buffer.concat([Buffer.from(`${call}.`), id]),
    args: {
      ...{ id, call, epoch: withheld?.epoch, ...outcomeArguments(outcome, node) },
      scraped: whole(spent.items) || undefined,
      errors: whole(spent.errors) || undefined,
      items: items.length === 0 ? undefined : items,
      feedItems: feedItems.length === 0 ? undefined : feedItems,
      requests: requests.length === 0 ? undefined : columnsOf(requests, dupefilter),
    },
    counters,
    links: requests.length,
    items: items.length + feedItems.length,
    bytes: lengthOf(items) + lengthOf(feedItems) + lengthOf(requests.map(({ record }) => record)),
  };
}

function outcomeArguments(outcome: Outcome, node: string): Arguments {
  const { kind } = outcome;
  if (kind === 'released') return { kind, unstarted: outcome.unstarted };
  const status = inTwoBytes(outcome.status ?? 0);
  const attempts = inTwoBytes(outcome.attempts);
  if (kind === 'done') return { kind, status, attempts };
  if (kind === 'retry') {
    const { record, afterMs, priority } = outcome;
    return {
      kind,
      status,
      attempts,
      record,
      afterMs: delayInBounds(afterMs),
      priority: priorityInBounds(priority),
    };
  }
  const { reason, detail } = outcome;
  const failure = JSON.stringify({
    reason,
    status: outcome.status,
    attempts: outcome.attempts,
    detail,
    node,
  });
  return { kind, status, attempts, failure };
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

const whole = (value: number): number => Math.min(2 ** 48 - 1, Math.round(value) || 0);

const inTwoBytes = (value: number): number => Math.max(0, Math.min(0xffff, Math.trunc(value) || 0));

/** @param reply for one settle. */
export function readSettled(reply: Reply | undefined): SettleAnswer {
  const answer = named(reply);
  switch (text(answer.status)) {
    case 'committed':
      return {
        committed: true,
        ...readPushed(answer),
        epoch: text(answer.epoch),
        allSeen: int(answer.unseen) === 0,
      };
    case 'resend':
      return { committed: false, resend: true };
    case 'closed':
      return { committed: false, closed: true };
    default:
      return { committed: false };
  }
}

/** What became of the requests of a push or a settle. */
export function readPushed(answer: ReturnType<typeof named>): PushAnswer {
  const [accepted, duplicates, dropped] = [int(answer.accepted), int(answer.duplicates), int(answer.dropped)];
  return dropped === 0 ? { accepted, duplicates } : { accepted, duplicates, dropped };
}
