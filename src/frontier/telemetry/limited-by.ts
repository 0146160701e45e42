/** What keeps a crawl from being faster, and a sentence that says it with its numbers. */
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import { budgetOf } from '../budgets.js';
import type { CrawlFacts, DomainState, LimitedBy, NodeObstacle } from '../types/telemetry.js';
import { leasable, leasableOf, least, slotsUsed, sum } from './demand.js';

/** From so much of the slots on, all count as used: some are always between two pages. */
const ALL_SLOTS = 0.9;

export interface Limit {
  readonly limitedBy: LimitedBy;
  readonly sentence: string;
}

const obstacles: Readonly<Record<NodeObstacle, string>> = {
  store: 'a node waits for the store, which is full or does not answer',
  outbox: 'committed items wait to be written, and no further pages begin until there is room',
  browser: 'pages wait for a browser',
  suspect:
    'a node died with requests in progress: they are processed one at a time, and their node takes nothing else, so that a page that kills nodes is found',
};

/** The first reason that holds: orders, then obstacles of nodes, then what the requests wait for. */
export function limitOf(facts: CrawlFacts): Limit {
  return byOrder(facts) ?? withoutNodes(facts) ?? byObstacle(facts) ?? byRequests(facts);
}

function byOrder({ control, closing, leased, pagesLeft, liveNodes }: CrawlFacts): Limit | null {
  const inProgress = leased > 0 ? `; ${howMany(leased, 'page')} in progress` : '';
  if (control === 'paused') return limit('paused', `the crawl is paused${inProgress}`);
  if (control === 'stopping') return limit('stopping', `the nodes are stopping${inProgress}`);
  if (liveNodes === 0) return null;
  if (closing !== null) {
    const isBudget = budgetOf(closing) !== null;
    return limit(isBudget ? 'budget' : 'stopping', `the run is closing (${closing})${inProgress}`);
  }
  if (pagesLeft === 0) return limit('budget', `the page budget of the run is used up${inProgress}`);
  return null;
}

function withoutNodes({ liveNodes, pending, delayed, startUrls, closing }: CrawlFacts): Limit | null {
  if (liveNodes > 0 || pending + delayed + startUrls === 0) return null;
  const why = closing === null ? '' : `, as the run was closed (${closing})`;
  return limit('nodes', `no node is running${why}; ${waiting(pending + delayed, 'request')}`);
}

/** Where at least half of the nodes have it. */
function byObstacle({ nodes }: CrawlFacts): Limit | null {
  for (const obstacle of Object.keys(obstacles) as NodeObstacle[]) {
    const held = nodes.filter((node) => node.obstacle === obstacle).length;
    if (held > 0 && held * 2 >= nodes.length) return limit(obstacle, obstacles[obstacle]);
  }
  return null;
}

function byRequests(facts: CrawlFacts): Limit {
  const { nodes, pending, delayed, startUrls, queueLimit, leased, delayedDueInMs } = facts;
  const { memoryLimit, storedBytes } = facts;
  const slots = sum(nodes.map((node) => node.slots));
  const used = slotsUsed(nodes);
  const canLease = least(leasable(facts));
  const ofSlots = `${n(used)} of ${howMany(slots, 'slot')} in use`;
  if (memoryLimit > 0 && storedBytes >= memoryLimit) {
    return limit(
      'queue_limit',
      `${ofSlots}; the crawl takes ${byteSize(storedBytes)} in the store, SCHEDULER_MEMORY_LIMIT is ${byteSize(memoryLimit)}: links are dropped${startUrls > 0 ? `, and ${waiting(startUrls, 'seed')}` : ''}`,
    );
  }
  if (canLease > 0 && used + canLease >= slots * ALL_SLOTS) {
    return limit(
      'nodes',
      `${ofSlots}, and ${howMany(canLease, 'more request')} could be leased: another node would help`,
    );
  }
  if (startUrls > 0 && queueLimit > 0 && pending + delayed >= queueLimit) {
    return limit(
      'queue_limit',
      `${ofSlots}; the queue is at SCHEDULER_QUEUE_LIMIT (${n(queueLimit)}), so ${waiting(startUrls, 'seed')}`,
    );
  }
  const held = [...facts.ready, ...facts.busy].filter((domain) => domain.pending > leasableOf(domain));
  if (held.length > 0) return byDomains(held, facts, ofSlots);
  if (facts.suspects > 0) return limit('suspect', `${ofSlots}; ${obstacles.suspect}`);
  if (delayed > 0) {
    const due = delayedDueInMs === null ? '' : `, the first in ${duration(delayedDueInMs)}`;
    return limit(
      'retry_wait',
      `${ofSlots}; nothing is pending, and ${howMany(delayed, 'request')} ${delayed === 1 ? 'is' : 'are'} due later${due}`,
    );
  }
  if (startUrls > 0) return limit('empty', `${ofSlots}; ${waiting(startUrls, 'seed')} to be read`);
  if (pending + leased === 0) return limit('empty', 'nothing is left to do');
  return limit(
    'empty',
    `${ofSlots}; ${n(pending)} pending and ${n(leased)} in progress are all that is left`,
  );
}

/** By what most of the pending requests wait for. */
function byDomains(domains: readonly DomainState[], facts: CrawlFacts, ofSlots: string): Limit {
  const requests = new Map<LimitedBy, number>();
  for (const domain of domains)
    requests.set(whyNot(domain), (requests.get(whyNot(domain)) ?? 0) + domain.pending);
  const [by] = [...requests].sort(([, a], [, b]) => b - a)[0]!;
  const held = domains.filter((domain) => whyNot(domain) === by);
  const longest = held.reduce((a, b) => (b.pending > a.pending ? b : a));
  const { name, pending, limit: most, delayMs, delayBy, dueInMs, blockedBy } = longest;
  const which = facts.queuedDomains > 1 ? `, most of them for ${name} (${n(pending)})` : '';
  const all = `${ofSlots}; ${waiting(facts.pending, 'request')}${which}`;
  if (blockedBy === 'robots') return limit(by, `${all}: its robots.txt is not known yet`);
  if (by === 'robots')
    return limit(by, `${all}: its robots.txt asks for ${duration(delayMs)} between two pages`);
  if (by === 'domain_concurrency')
    return limit(by, `${all}: a domain may have ${howMany(most, 'request')} at a time`);
  if (blockedBy === 'retry_after')
    return limit(by, `${all}: the site asked for a pause of ${duration(dueInMs)}`);
  if (blockedBy === 'autothrottle')
    return limit(by, `${all}: the site does not answer, and is asked again in ${duration(dueInMs)}`);
  const from = delayBy === 'autothrottle' ? 'AutoThrottle' : 'the settings';
  return limit(by, `${all}: ${from} ask for ${duration(delayMs)} between two of its pages`);
}

/** Why no further request of a domain is leased now. */
function whyNot({ blockedBy, delayBy, leased, limit: most, delayMs }: DomainState): LimitedBy {
  if (blockedBy !== null) return blockedBy === 'robots' ? 'robots' : 'domain_delay';
  if (leased >= most || delayMs === 0) return 'domain_concurrency';
  return delayBy === 'robots' ? 'robots' : 'domain_delay';
}

/** `1 request waits`, `2 requests wait`. */
function waiting(count: number, noun: string): string {
  return `${howMany(count, noun)} wait${count === 1 ? 's' : ''}`;
}

function limit(limitedBy: LimitedBy, sentence: string): Limit {
  return { limitedBy, sentence };
}
