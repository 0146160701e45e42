/** A settle as its script takes it (see `lua/settle.lua`), and several of them in one call. */
import { countersInBounds, delayInBounds } from '../bounds.js';
import { spentBy } from '../budgets.js';
import type { Effects, Lease, Outcome } from '../frontier.js';
import { type Argument, packBatch, packPriority, withoutNul } from './batch.js';

const HEAD_BYTES = 54;
const COUNTER_BYTES = 10;
const NO_PRIORITY = Buffer.alloc(5);

/** What one settle brings, packed as far as it can be without knowing the others of its call. */
export interface PackedSettle {
  readonly token: string;
  /** Head, note, epoch. */
  readonly head: readonly Argument[];
  readonly counters: readonly (readonly [name: string, value: number])[];
  /** Batch, items, feed items. */
  readonly rest: readonly Argument[];
  readonly links: number;
  /** Of all texts, roughly. */
  readonly bytes: number;
}

/** @param hasFeeds whether there is a feed for the feed items; @param node who says so, for the failed list. */
export function packSettle(
  lease: Lease,
  outcome: Outcome,
  effects: Effects,
  hasFeeds: boolean,
  node: string,
): PackedSettle {
  const { items, requests, withheld } = effects;
  const counters = countersInBounds(effects.stats);
  if (withheld !== undefined) counters.push(['dupefilter/filtered', withheld.count]);
  const feedItems = hasFeeds ? effects.feedItems : [];
  const batch = requests.length === 0 ? [] : packBatch(requests);
  const rest = [...batch, ...items, ...feedItems];
  const counts = [requests.length, items.length, feedItems.length];
  return {
    token: lease.token,
    head: [packHead(lease, outcome, counts, effects.stats), noteOf(outcome, node), withheld?.epoch ?? ''],
    counters,
    rest,
    links: requests.length,
    bytes: rest.reduce<number>((sum, part) => sum + (typeof part === 'number' ? 8 : part.length), 0),
  };
}

/** Several settles of one caller, in order. */
export function settleArguments(settles: readonly PackedSettle[], feeds: readonly string[]): Argument[] {
  const numbers = new Map<string, number>();
  const packed = settles.map(({ counters }) => packCounters(counters, numbers));
  const args: Argument[] = [settles.length, joined(feeds), joined(numbers.keys())];
  for (const [n, { head, rest }] of settles.entries()) {
    for (const argument of head) args.push(argument);
    args.push(packed[n] as Buffer);
    for (const argument of rest) args.push(argument);
  }
  return args;
}

/** @param numbers of the names met so far in this call; new ones are added. */
function packCounters(counters: PackedSettle['counters'], numbers: Map<string, number>): Buffer {
  const packed = Buffer.allocUnsafe(counters.length * COUNTER_BYTES);
  let at = 0;
  for (const [raw, value] of counters) {
    const name = withoutNul(raw);
    let number = numbers.get(name);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(name, number);
    }
    packed.writeUInt16BE(number, at);
    packed.writeDoubleBE(value, at + 2);
    at += COUNTER_BYTES;
  }
  return packed;
}

const kinds = { done: 'd', retry: 't', failed: 'f', released: 'r' } as const;

function packHead(
  lease: Lease,
  outcome: Outcome,
  counts: readonly number[],
  stats: Effects['stats'],
): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(lease.token));
  head.write(lease.id, 0, 20, 'hex');
  head.write(kinds[outcome.kind], 20, 'latin1');
  head.writeUIntBE(amountOf(outcome), 21, 6);
  const { status = 0, attempts } = outcome.kind === 'released' ? { status: 0, attempts: 0 } : outcome;
  head.writeUInt16BE(inTwoBytes(status), 27);
  head.writeUInt16BE(inTwoBytes(attempts), 29);
  (outcome.kind === 'retry' ? packPriority(outcome.priority) : NO_PRIORITY).copy(head, 31);
  for (const [n, count] of counts.entries()) head.writeUInt16BE(count, 36 + 2 * n);
  const spent = spentBy(stats);
  head.writeUIntBE(inSixBytes(spent.items), 42, 6);
  head.writeUIntBE(inSixBytes(spent.errors), 48, 6);
  head.write(lease.token, HEAD_BYTES);
  return head;
}

function amountOf(outcome: Outcome): number {
  if (outcome.kind === 'retry') return delayInBounds(outcome.afterMs);
  return outcome.kind === 'released' && outcome.unstarted ? 1 : 0;
}

function noteOf(outcome: Outcome, node: string): string {
  if (outcome.kind === 'retry') return outcome.record;
  if (outcome.kind !== 'failed') return '';
  const { reason, status, attempts, detail } = outcome;
  return JSON.stringify({ reason, status, attempts, detail, node });
}

const inTwoBytes = (value: number): number => Math.max(0, Math.min(0xffff, Math.trunc(value) || 0));

const inSixBytes = (value: number): number => Math.min(2 ** 48 - 1, Math.round(value) || 0);

/** Names, each followed by a NUL. */
function joined(names: Iterable<string>): string {
  let text = '';
  for (const name of names) text += `${name}\0`;
  return text;
}
