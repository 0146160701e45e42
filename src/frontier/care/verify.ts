/**
 * Verify: compares the records of a crawl with its queue entries, its domains and its counters, over what an engine streams.
 * What one batch shows is exact. That a request is in no queue, or in two, shows only when all batches are compared, between
 * which a running crawl moves requests: these are looked for three times more before they are a breach.
 *
 * The invariants are listed in docs/internals/map.md ("Invariants"). Here are I1, I3, I4, I6 and I7: failed requests past FAILED_LIMIT
 * have no record, and a domain must be where a lease finds it. I2, I8 and what else only one engine has, it says itself.
 */
import {
  type CareStore,
  type DomainView,
  type Examined,
  type FeedView,
  idText,
  type NodeView,
  type OddEntry,
  type ReadRecord,
  type Suspect,
  type Totals,
} from './care-store.js';
import { IdTable } from './id-table.js';

const BROKEN_REPAIR = 'a repair broke off: repair again';

const [RECORD, ENTRY, SUSPECT] = [1, 2, 4];

/** Requests that are looked for again together, at least. */
const GROUP = 500;

/** How often they are looked for: a running crawl moves a few of its requests during each look, and other ones in the next. */
const LOOKS = 3;

/**
 * @param read tells whether a record can be read; without it they are not read.
 * @returns a sentence for each breach; none when all is well. @throws DamagedStoreError where the store cannot be read.
 */
export async function verify(store: CareStore, read?: ReadRecord): Promise<string[]> {
  const instead = await store.unexaminable();
  if (instead !== null) return [...instead];
  const table = new IdTable();
  const twice: Suspect[] = [];
  const breaches: string[] = [];
  for await (const records of store.records()) {
    for (const { id, record, isWaiting } of records) {
      if (!isWaiting) continue;
      table.mark(id, RECORD);
      if (read?.(idText(id), record) === null)
        breaches.push(`I1: the record of ${idText(id)} cannot be read: its request would fail`);
    }
  }
  let isRepairing = false;
  for await (const step of store.entries()) {
    for (const id of step.entries?.ids ?? []) if ((table.mark(id, ENTRY) & ENTRY) > 0) twice.push({ id });
    breaches.push(...breachesOf(step));
  }
  for await (const step of store.examine()) {
    breaches.push(...breachesOf(step));
    isRepairing ||= step.totals?.isRepairing === true;
  }
  breaches.unshift(...(await lookAgain(store, table, twice)));
  // It explains most of the others.
  if (isRepairing) breaches.unshift(BROKEN_REPAIR);
  // A batch may show what another one has shown.
  return [...new Set(breaches)];
}

/** The part of it that is cheap however large the crawl is. @returns a sentence for each breach */
export async function verifyCounts(store: CareStore): Promise<string[]> {
  const counts = await store.counts();
  // Nothing agrees until it is over.
  if (counts.totals?.isRebuilding === true) return [];
  return counts.totals?.isRepairing === true ? [BROKEN_REPAIR] : [...breachesOf(counts)];
}

/** @returns the breaches of the first group that has any, and how many more there may be. */
async function lookAgain(store: CareStore, table: IdTable, twice: readonly Suspect[]): Promise<string[]> {
  const all = twice.length + table.count(RECORD);
  let looked = 0;
  const unexplained: Suspect[] = [];
  const judge = () => misplaced(store, table, unexplained.splice(0));
  for await (const some of suspects(store, table, twice)) {
    looked += some.length;
    unexplained.push(...(await store.unexplained(some)));
    if (unexplained.length < GROUP) continue;
    const breaches = await judge();
    // Where a whole queue is gone, the first ones say it.
    if (breaches.length > 0 && looked < all)
      breaches.push(`I1: up to ${all - looked} more requests are in no queue, or in two`);
    if (breaches.length > 0) return breaches;
  }
  return unexplained.length > 0 ? judge() : [];
}

/** Of requests that must wait, a breach for each that is in no queue, or in several, in all of some looks. */
async function misplaced(store: CareStore, table: IdTable, suspects: readonly Suspect[]): Promise<string[]> {
  for (const { id } of suspects) table.mark(id, SUSPECT);
  let left = suspects;
  let states = new Map<string, string[]>();
  for (let look = 0; look < LOOKS && left.length > 0; look += 1) {
    states = new Map(left.map(({ id }) => [idText(id), []]));
    for await (const { entries } of store.entries()) {
      const { ids = [], state = 'pending' } = entries ?? {};
      for (const id of ids) if ((table.flagsOf(id) & SUSPECT) > 0) states.get(idText(id))?.push(state);
    }
    left = await store.unexplained(left.filter(({ id }) => states.get(idText(id))!.length !== 1));
  }
  return left.map(({ id }) => inPlaces(id, states.get(idText(id))!));
}

/** Requests in two queues, then those in none: their records are read once more. */
async function* suspects(
  store: CareStore,
  table: IdTable,
  twice: readonly Suspect[],
): AsyncIterable<readonly Suspect[]> {
  if (twice.length > 0) yield twice;
  if (table.count(RECORD) === 0) return;
  for await (const records of store.records()) {
    const some = records.filter(({ id, isWaiting }) => isWaiting && table.flagsOf(id) === RECORD);
    if (some.length > 0) yield some;
  }
}

function* breachesOf({
  odd = [],
  domains = [],
  nodes = [],
  feeds = [],
  totals,
  breaches = [],
}: Examined): Generator<string> {
  for (const entry of odd) yield* oddBreaches(entry);
  yield* breaches;
  for (const node of nodes) yield* nodeBreaches(node);
  for (const domain of domains) yield* domainBreaches(domain);
  for (const feed of feeds) yield* feedBreaches(feed);
  if (totals !== undefined) yield* totalBreaches(totals);
}

const inPlaces = (id: Uint8Array, states: readonly string[]): string =>
  states.length === 0
    ? `I1: the record of ${idText(id)} is in no queue: it would never be fetched`
    : `I1: request ${idText(id)} is in ${states.length} places: ${states.join(', ')}`;

function* oddBreaches({ id, states, hasRecord }: OddEntry): Generator<string> {
  if (states.length > 1) yield inPlaces(id, states);
  if (!hasRecord && states[0] !== 'failed') yield `I1: ${states[0]} request ${idText(id)} has no record`;
}

function* nodeBreaches({ name, held, leased }: NodeView): Generator<string> {
  if (Number(held) !== leased) yield `I3: ${name} is said to hold ${held} leases and holds ${leased}`;
}

function* domainBreaches(domain: DomainView): Generator<string> {
  const {
    name,
    isMissing,
    isUnreadable,
    state,
    active,
    leased,
    pending = 0,
    isReady,
    wakes,
    waitsTooLong,
  } = domain;
  if (isMissing === true) {
    if (pending > 0) yield `I7: ${name} has ${pending} pending requests and no record`;
    if (leased > 0) yield `I6: ${name} has ${leased} leased requests and no record`;
    return;
  }
  if (isUnreadable === true) return void (yield `I7: the record of the domain ${name} cannot be read`);
  if (active !== leased) yield `I6: ${name} has ${leased} leased requests and an active count of ${active}`;
  if (domain.knowsFirst !== true) yield `I7: ${name} does not know its best request`;
  if (pending > 0 && state === 'idle')
    yield `I7: ${name} has pending requests and is idle: they would never be leased`;
  if (waitsTooLong === true)
    yield `I7: ${name} waits until an instant that neither its delay nor a throttle explains`;
  if (state === 'full' && leased === 0) yield `I7: ${name} is full with nothing leased`;
  if (state === 'ready' && isReady !== true)
    yield `I7: ${name} says it is ready, and its best request is not among the ready`;
  if (state !== 'ready' && isReady === true) yield `I7: ${name} says it is ${state}, and is among the ready`;
  if (state !== 'waiting' && wakes !== 'never')
    yield `I7: ${name} says it is ${state}, and is among the waiting`;
  if (state === 'waiting' && wakes === 'never')
    yield `I7: ${name} says it is waiting, and is not among the waiting`;
  if (state === 'waiting' && wakes === 'at another instant')
    yield `I7: ${name} waits until another instant than its record says`;
}

function* feedBreaches({ feed, items, fits, said }: FeedView): Generator<string> {
  if (said === null) yield `I4: ${items} items wait for the feed ${feed}, and its record is gone`;
  else if (said < 0) yield `I4: the record of the feed ${feed} says that more is written than there was`;
  else if (said !== items) yield `I4: ${items} items wait for the feed ${feed}, and its record says ${said}`;
  else if (fits !== items)
    yield `I4: ${said - fits} of the ${said} items that wait for the feed ${feed} are gone, and others have come in their place`;
}

const parts = ['pending', 'delayed', 'leased', 'done', 'failed', 'removed', 'lost'] as const;

function* totalBreaches(totals: Totals): Generator<string> {
  const sum = parts.reduce((all, part) => all + totals[part], 0);
  if (totals.accepted !== sum) {
    const spoken = parts.map((part) => `${totals[part]} ${part}`).join(' + ');
    yield `I4: ${totals.accepted} accepted, but ${spoken} = ${sum}`;
  }
  for (const { noun, size, stored } of Object.values(totals.stored)) {
    if (size !== stored) yield `I4: there are ${size} ${noun}, and the counter says ${stored}`;
  }
}
