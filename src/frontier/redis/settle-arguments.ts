/** A settle as its script takes it (see `lua/settle.lua`), and several of them in one call. */
import { countersInBounds, delayInBounds } from '../bounds.js';
import { spentBy } from '../budgets.js';
import type { Effects, Lease, Outcome } from '../frontier.js';
import { type Argument, packBatch, packPriority, withoutNul } from './batch.js';

const HEAD_BYTES = 58;
const COUNTER_BYTES = 10;
const NO_PRIORITY = Buffer.alloc(5);

/** What one settle brings, packed as far as it can be without knowing the others of its call. */
export interface PackedSettle {
  readonly token: string;
  readonly head: Buffer;
  readonly note: string;
  readonly counters: readonly (readonly [name: string, value: number])[];
  /** Items, then feed items. */
  readonly items: readonly string[];
  /** The requests; null for none. */
  readonly batch: Buffer | null;
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
  const { requests, withheld } = effects;
  const counters = countersInBounds(effects.stats);
  if (withheld !== undefined) counters.push(['dupefilter/filtered', withheld.count]);
  const feedItems = hasFeeds ? effects.feedItems : [];
  const batch = requests.length === 0 ? null : packBatch(requests);
  const items = [...effects.items, ...feedItems];
  const counts = [requests.length, effects.items.length, feedItems.length];
  return {
    token: lease.token,
    head: packHead(lease, outcome, effects, [...counts, counters.length]),
    note: noteOf(outcome, node),
    counters,
    items,
    batch,
    links: requests.length,
    bytes: items.reduce((sum, item) => sum + item.length, batch?.length ?? 0),
  };
}

/** Several settles of one caller, in order. @param earlier which of them have travelled before (`Calls.earlierCalls`). */
export function settleArguments(
  settles: readonly PackedSettle[],
  feeds: readonly string[],
  earlier: string,
): Argument[] {
  const sums = new Sums();
  const packed = settles.map(({ counters }) => packCounters(counters, sums));
  const args: Argument[] = [settles.length, joined(feeds), ...sums.packed(), earlier];
  const batches: Buffer[] = [];
  for (const [n, { head, note, items, batch }] of settles.entries()) {
    args.push(Buffer.concat([head, packed[n] as Buffer, Buffer.from(note)]), ...items);
    if (batch !== null) batches.push(batch);
  }
  args.push(batches.length === 1 ? (batches[0] as Buffer) : Buffer.concat(batches));
  return args;
}

/** What the settles of a call add to each counter; a counter is known by the number of its name. */
class Sums {
  readonly #numbers = new Map<string, number>();
  readonly #values: number[] = [];

  /** @returns the number of the name. */
  add(name: string, value: number): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#values.push(0) - 1;
      this.#numbers.set(name, number);
    }
    this.#values[number] = (this.#values[number] ?? 0) + value;
    return number;
  }

  packed(): [names: string, values: Buffer] {
    const values = Buffer.allocUnsafe(this.#values.length * 8);
    for (const [number, value] of this.#values.entries()) values.writeDoubleBE(value, number * 8);
    return [joined(this.#numbers.keys()), values];
  }
}

function packCounters(counters: PackedSettle['counters'], sums: Sums): Buffer {
  const packed = Buffer.allocUnsafe(counters.length * COUNTER_BYTES);
  let at = 0;
  for (const [name, value] of counters) {
    packed.writeUInt16BE(sums.add(withoutNul(name), value), at);
    packed.writeDoubleBE(value, at + 2);
    at += COUNTER_BYTES;
  }
  return packed;
}

const kinds = { done: 'd', retry: 't', failed: 'f', released: 'r' } as const;

/** @param counts of requests, items, feed items and counters. */
function packHead(
  lease: Lease,
  outcome: Outcome,
  { stats, withheld }: Effects,
  [requests = 0, items = 0, feedItems = 0, counters = 0]: readonly number[],
): Buffer {
  const token = Buffer.from(lease.token);
  const epoch = Buffer.from(withheld?.epoch ?? '');
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.write(lease.id, 0, 20, 'hex');
  head.write(kinds[outcome.kind], 20, 'latin1');
  head.writeUIntBE(amountOf(outcome), 21, 6);
  const { status = 0, attempts } = outcome.kind === 'released' ? { status: 0, attempts: 0 } : outcome;
  head.writeUInt16BE(inTwoBytes(status), 27);
  head.writeUInt16BE(inTwoBytes(attempts), 29);
  (outcome.kind === 'retry' ? packPriority(outcome.priority) : NO_PRIORITY).copy(head, 31);
  head.writeUInt16BE(requests, 36);
  head.writeUInt16BE(items, 38);
  head.writeUInt16BE(feedItems, 40);
  const spent = spentBy(stats);
  head.writeUIntBE(inSixBytes(spent.items), 42, 6);
  head.writeUIntBE(inSixBytes(spent.errors), 48, 6);
  head.writeUInt8(token.length, 54);
  head.writeUInt8(epoch.length, 55);
  head.writeUInt16BE(counters, 56);
  return Buffer.concat([head, token, epoch]);
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
