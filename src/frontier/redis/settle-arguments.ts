/** A settle as its script takes it: the outcome, then counts, then what there is of each. */
import { countersInBounds, delayInBounds } from '../bounds.js';
import type { Effects, Lease, Outcome } from '../frontier.js';
import { type Argument, packBatch, packPriority } from './batch.js';

/** @param feeds that get the feed items; @param node who says so, for the failed list. */
export function settleArguments(
  lease: Lease,
  outcome: Outcome,
  effects: Effects,
  feeds: readonly string[],
  node: string,
): Argument[] {
  const { head, records } = packBatch(effects.requests);
  const { withheld } = effects;
  const stats = countersInBounds(effects.stats);
  if (withheld !== undefined) stats.push(['dupefilter/filtered', withheld.count]);
  const feedItems = feeds.length === 0 ? [] : effects.feedItems;
  const args: Argument[] = [
    Buffer.from(lease.id, 'hex'),
    lease.token,
    outcome.kind,
    ...outcomeArguments(outcome, node),
    withheld?.epoch ?? '',
    feeds.map((feed) => `${feed}\0`).join(''),
    stats.length,
    effects.items.length,
    feedItems.length,
    effects.requests.length,
    ...head,
  ];
  for (const [name, value] of stats) args.push(name, value);
  for (const item of effects.items) args.push(item);
  for (const item of feedItems) args.push(item);
  for (const record of records) args.push(record);
  return args;
}

function outcomeArguments(outcome: Outcome, node: string): Argument[] {
  switch (outcome.kind) {
    case 'done':
      return ['', packAttempts(outcome), ''];
    case 'retry': {
      const attemptsAndPriority = Buffer.concat([packAttempts(outcome), packPriority(outcome.priority)]);
      return [delayInBounds(outcome.afterMs), attemptsAndPriority, outcome.record];
    }
    case 'failed': {
      const { reason, status, attempts, detail } = outcome;
      return ['', packAttempts(outcome), JSON.stringify({ reason, status, attempts, detail, node })];
    }
    case 'released':
      return [outcome.unstarted ? 1 : 0, '', ''];
  }
}

/** HTTP status, 0 for none, and attempts: what a StateDupeFilter keeps. */
function packAttempts({ status = 0, attempts }: Exclude<Outcome, { kind: 'released' }>): Buffer {
  const packed = Buffer.allocUnsafe(4);
  packed.writeUInt16BE(Math.max(0, Math.min(0xffff, Math.trunc(status) || 0)), 0);
  packed.writeUInt16BE(Math.max(0, Math.min(0xffff, Math.trunc(attempts) || 0)), 2);
  return packed;
}
