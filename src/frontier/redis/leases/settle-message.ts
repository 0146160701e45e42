/** The arguments of a settle for `lua/leases/settling.lua`, and its reply. */
import { priorityInBounds } from '../../../http/message/priority.js';
import { spentBy } from '../../budgets.js';
import { countersInBounds, delayInBounds } from '../../clamp-values.js';
import type {
  Dupefilter,
  Effects,
  Lease,
  Outcome,
  PushAnswer,
  SettleAnswer,
  ValidatorChange,
} from '../../frontier.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, named, type Reply, text } from '../connection/reply.js';
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
  const { requests, withheld, items, cookies = [], custom = [], closing, validators } = effects;
  const id = Buffer.from(lease.id, 'hex');
  const call = leaseCallOf(lease);
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
      latencyMs: effects.latencyMs === undefined ? undefined : whole(effects.latencyMs) || 1,
      items: items.length === 0 ? undefined : items,
      feedItems: feedItems.length === 0 ? undefined : feedItems,
      itemIds: feedItems.length === 0 ? undefined : effects.itemIds,
      requests: requests.length === 0 ? undefined : columnsOf(requests, dupefilter),
      validators: validators === undefined ? undefined : validatorArguments(validators),
      ...(custom.length > 0 && { custom: statArguments(custom) }),
      closing,
      ...(cookies.length > 0 && { cookies: cookies.map(changeArguments), maxJars: maxCookieJars }),
    },
    counters,
    links: requests.length,
    items: items.length + feedItems.length,
    bytes:
      lengthOf(items) +
      lengthOf(feedItems) +
      lengthOf(requests.map(({ record }) => record)) +
      lengthOf(custom.map(({ name, value }) => `${name}${value}`)) +
      lengthOf(cookies.map(({ text }) => text ?? '')),
  };
}

function outcomeArguments(outcome: Outcome, node: string): Arguments {
  const { kind } = outcome;
  const unstarted = outcome.unstarted || undefined;
  if (kind === 'released') return { kind, unstarted };
  const status = inTwoBytes(outcome.status ?? 0);
  const attempts = inTwoBytes(outcome.attempts);
  if (kind === 'done') return { kind, status, attempts, unstarted };
  if (kind === 'retry') {
    const { record, afterMs, priority } = outcome;
    return {
      ...{ kind, status, attempts, unstarted },
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
  return { kind, status, attempts, unstarted, failure };
}

function validatorArguments({ fingerprint, text }: ValidatorChange): Arguments {
  return { fingerprint: Buffer.from(fingerprint, 'hex'), text: text ?? undefined };
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

/** The counts of a reply to a push or a settle. */
export function readPushed(answer: ReturnType<typeof named>): PushAnswer {
  const [accepted, duplicates] = [int(answer.accepted), int(answer.duplicates)];
  const [dropped, trapped] = [int(answer.dropped), int(answer.trapped)];
  return {
    ...{ accepted, duplicates },
    ...(dropped > 0 && { dropped }),
    ...(trapped > 0 && { trapped }),
    ...(answer.waiting != null && { waiting: int(answer.waiting) }),
  };
}
