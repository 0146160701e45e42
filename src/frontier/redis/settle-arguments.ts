/** A settle as its script takes it (see `lua/settle.lua`), and several of them in one call. */
import { countersInBounds, delayInBounds } from '../bounds.js';
import { spentBy } from '../budgets.js';
import type { Effects, Lease, Outcome } from '../frontier.js';
import { type Argument, packBatch, packPriority, withoutNul } from './batch.js';
import { givenBy } from './leases.js';

const HEAD_BYTES = 55;
const COUNTER_BYTES = 10;
const NO_PRIORITY = Buffer.alloc(5);

/** What one settle brings, packed as far as it can be without knowing the others of its call. */
export interface PackedSettle {
  readonly token: string;
  readonly id: Buffer;
  readonly head: Buffer;
  /** What the sender's cache was judged under; '' when nothing was withheld. */
  readonly epoch: string;
  readonly note: Buffer;
  readonly counters: readonly (readonly [name: string, value: number])[];
  readonly items: readonly string[];
  readonly feedItems: readonly string[];
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
  const counts = [requests.length, effects.items.length, feedItems.length];
  return {
    token: lease.token,
    id: Buffer.from(lease.id, 'hex'),
    head: packHead(lease, outcome, effects, counts),
    epoch: withheld?.epoch ?? '',
    note: Buffer.from(noteOf(outcome, node)),
    counters,
    items: effects.items,
    feedItems,
    batch,
    links: requests.length,
    bytes: lengthOf(effects.items) + lengthOf(feedItems) + (batch?.length ?? 0),
  };
}

function lengthOf(items: readonly string[]): number {
  return items.reduce((sum, item) => sum + item.length, 0);
}

/** Several settles of one caller, in order. @param earlier which of them have travelled before (`Calls.earlierCalls`). */
export function settleArguments(
  settles: readonly PackedSettle[],
  feeds: readonly string[],
  earlier: string,
): Argument[] {
  const sums = new Sums();
  const { heads, epochs } = packHeads(settles, sums);
  const ids = settles.map(({ id }) => id);
  const args: Argument[] = [
    settles.length,
    joined(feeds),
    ...sums.packed(),
    earlier,
    joined(epochs),
    heads,
    ...ids,
  ];
  for (const { items } of settles) args.push(...items);
  if (feeds.length > 0) for (const { feedItems } of settles) args.push(...feedItems);
  const batches = settles.flatMap(({ batch }) => batch ?? []);
  args.push(batches.length === 1 ? (batches[0] as Buffer) : Buffer.concat(batches));
  return args;
}

/** The heads of fixed length, behind them what they point at: counters and notes. */
function packHeads(
  settles: readonly PackedSettle[],
  sums: Sums,
): { readonly heads: Buffer; readonly epochs: readonly string[] } {
  const epochs: string[] = [];
  let bytes = settles.length * HEAD_BYTES;
  for (const { counters, note } of settles) bytes += counters.length * COUNTER_BYTES + note.length;
  const heads = Buffer.allocUnsafe(bytes);
  let behind = settles.length * HEAD_BYTES;
  for (const [n, { head, epoch, counters, note }] of settles.entries()) {
    const at = n * HEAD_BYTES;
    head.copy(heads, at);
    heads.writeUInt8(epoch === '' ? 0 : numberOf(epoch, epochs), at + 13);
    heads.writeUInt16BE(counters.length, at + 41);
    heads.writeUInt32BE(behind + 1, at + 43);
    for (const [name, value] of counters) {
      heads.writeUInt16BE(sums.add(withoutNul(name), value), behind);
      heads.writeDoubleBE(value, behind + 2);
      behind += COUNTER_BYTES;
    }
    heads.writeUInt32BE(behind + 1, at + 47);
    heads.writeUInt32BE(note.length, at + 51);
    behind += note.copy(heads, behind);
  }
  return { heads, epochs };
}

/** Where it stands in the list, counted from 1; behind the last where it did not. */
function numberOf(epoch: string, epochs: string[]): number {
  const known = epochs.indexOf(epoch) + 1;
  return known > 0 ? known : epochs.push(epoch);
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

  packed(): [names: string, values: string] {
    return [joined(this.#numbers.keys()), joined(this.#values.map(String))];
  }
}

const kinds = { done: 'd', retry: 't', failed: 'f', released: 'r' } as const;

/** But for its epoch, and what it points at. @param counts of requests, items and feed items. */
function packHead(
  lease: Lease,
  outcome: Outcome,
  { stats }: Effects,
  [requests = 0, items = 0, feedItems = 0]: readonly number[],
): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUIntBE(givenBy(lease), 0, 6);
  head.write(kinds[outcome.kind], 6, 'latin1');
  head.writeUInt16BE(requests, 7);
  head.writeUInt16BE(items, 9);
  head.writeUInt16BE(feedItems, 11);
  const spent = spentBy(stats);
  head.writeUIntBE(inSixBytes(spent.items), 14, 6);
  head.writeUIntBE(inSixBytes(spent.errors), 20, 6);
  head.writeUIntBE(amountOf(outcome), 26, 6);
  const { status = 0, attempts } = outcome.kind === 'released' ? { status: 0, attempts: 0 } : outcome;
  head.writeUInt16BE(inTwoBytes(status), 32);
  head.writeUInt16BE(inTwoBytes(attempts), 34);
  (outcome.kind === 'retry' ? packPriority(outcome.priority) : NO_PRIORITY).copy(head, 36);
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
