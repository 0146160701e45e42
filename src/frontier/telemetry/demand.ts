/** How many requests a crawl could work on at the same time, and how many nodes that takes. */
import type { CrawlFacts, DomainState, HistoryPoint, NodeFacts } from '../types/telemetry.js';

/** How busy a node's processor is to be at most, before another node helps. */
export const CPU_PER_NODE = 0.7;
/** CONCURRENT_REQUESTS of a node that does not run yet: its default. */
const USUAL_SLOTS = 16;
/** A crawl with nothing else to do keeps its nodes for requests that are due so soon. */
const DUE_SOON_MS = 300_000;
/** How long a number of nodes holds, so that they do not come and go with every change. */
const HELD_FOR_MS = 300_000;

/** Requests that may be leased now: exact where all ready domains were read. */
export function leasable({
  ready,
  readyDomains,
  leasableSuspects,
}: CrawlFacts): number | { readonly atLeast: number } {
  const counted = sum(ready.map(leasableOf)) + leasableSuspects;
  const unread = readyDomains - ready.length;
  return unread > 0 ? { atLeast: counted + unread } : counted;
}

/** Requests of one domain that may be leased now. */
export function leasableOf({ pending, leased, limit, delayMs, dueInMs }: DomainState): number {
  if (dueInMs > 0) return 0;
  return Math.max(0, delayMs > 0 ? Math.min(1, pending) : Math.min(pending, limit - leased));
}

/** The number of an exact or least amount. */
export function least(amount: number | { readonly atLeast: number }): number {
  return typeof amount === 'number' ? amount : amount.atLeast;
}

/** Slots that the crawl could keep in use, over all its domains. Those that were not read count as one each. */
export function demandOf(facts: CrawlFacts): number {
  const read = [...facts.ready, ...facts.busy];
  const queued = read.filter(({ pending }) => pending > 0).length;
  const further = Math.max(0, facts.queuedDomains - queued);
  return sum(read.map(slotsFor)) + further + facts.leasableSuspects;
}

/** With a delay, as many requests are under way as begin while one page lasts. */
function slotsFor({ pending, leased, limit, delayMs, latencyMs }: DomainState): number {
  const most = Math.min(limit, leased + pending);
  return delayMs > 0 ? Math.min(most, Math.max(1, latencyMs / delayMs)) : most;
}

/** Whether no node is to be started or kept for what is left: nobody leases it. */
function isClosed({ control, closing }: CrawlFacts): boolean {
  return control === 'paused' || closing !== null;
}

/** Nodes that the work of this instant asks for; 0 where there is none, or the crawl is paused or closed. */
export function nodesNeeded(facts: CrawlFacts): number {
  const { pending, leased, startUrls, outbox, delayedDueInMs, nodes, liveNodes } = facts;
  const isDueSoon = delayedDueInMs !== null && delayedDueInMs <= DUE_SOON_MS;
  if (isClosed(facts) || (pending + leased + startUrls + outbox === 0 && !isDueSoon)) return 0;
  // Those that have just joined will say how many slots they have.
  if (nodes.length === 0 && liveNodes > 0) return liveNodes;
  const demand = demandOf(facts);
  const slots = nodes.length === 0 ? USUAL_SLOTS : Math.max(1, ...nodes.map((node) => node.slots));
  const cpu = nodes.length === 0 ? 0 : sum(nodes.map((node) => node.cpu)) / nodes.length;
  const byCpu = demand > slotsUsed(nodes) ? Math.ceil((liveNodes * cpu) / CPU_PER_NODE) : 0;
  return Math.max(1, Math.ceil(demand / slots), byCpu);
}

/** The most nodes that the last minutes have asked for; 0 at once where the crawl is closed, or no node runs and none is needed. */
export function wantedNodes(now: number, facts: CrawlFacts, history: readonly HistoryPoint[]): number {
  if (isClosed(facts) || (now === 0 && facts.liveNodes === 0)) return 0;
  const recent = history.filter((point) => point.atMs > facts.atMs - HELD_FOR_MS);
  return Math.max(now, ...recent.map((point) => point.wantedNodes));
}

export function slotsUsed(nodes: readonly NodeFacts[]): number {
  return sum(nodes.map((node) => node.slotsUsed));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
