/** Builds the parts of an incarnation: what its pages are processed with, and the work beside them. */

import { type Authorize, httpAuthOf } from '../../downloader/http-auth.js';
import type { PushAnswer } from '../../frontier/frontier.js';
import { SessionCookies } from '../cookies/session-cookies.js';
import { IdleHooks } from '../extensions/idle-hooks.js';
import type { LinkRules } from '../links/filter-links.js';
import { seenLinksOf } from '../links/seen-links.js';
import { Slots } from '../page/leased-pages.js';
import type { PageDeps } from '../page/page-work.js';
import { type ConditionalRequests, conditionalRequestsOf } from '../recrawl/conditional-requests.js';
import { RobotsGate } from '../robots/robots-gate.js';
import { SeedIntake } from '../seeds/seed-intake.js';
import type { NodeState } from './node-state.js';
import { Upkeep } from './periodic-work.js';

/** What every part needs. */
export interface IncarnationContext {
  readonly node: NodeState;
  /** As they are in the run that was joined. */
  readonly rules: LinkRules;
  /** Aborted when the node is to stop. */
  readonly halt: AbortSignal;
  /** Told of an error that ends this incarnation. */
  readonly onError: (error: unknown) => void;
}

/** What the pages of this incarnation are processed with. */
export function pageDepsOf(context: IncarnationContext, slots: Slots): PageDeps {
  const { node, rules } = context;
  const { delays, failedStartPages, deadEnds, hangingDomains, signals, outage } = node;
  const {
    frontier,
    spider,
    downloader,
    pipelines,
    middleware = null,
    measures = null,
    stats,
    options,
    log,
  } = node.deps;
  const authorize = httpAuthOf(spider);
  return {
    ...{ frontier, spider, downloader, pipelines, middleware, stats, signals, options, rules, outage, log },
    ...{ delays, failedStartPages, deadEnds, hangingDomains, authorize, measures },
    seen: seenLinksOf(rules.hasOwnIdentity ? rules : spider, options.shape.dupefilter, rules.refresh),
    robots: robotsGateOf(context, authorize),
    recrawl: recrawlOf(context),
    cookies: new SessionCookies(options.cookies, log),
    onDropped: droppedLinksListener(node),
    hasOtherPages: () => slots.inFlight > 1,
    endedPages: () => slots.ended,
  };
}

export function slotsOf({ node, onError }: IncarnationContext): Slots {
  const { deps, tally, alarm, outage } = node;
  const { frontier, options, log, onItems } = deps;
  const { concurrency } = options;
  const onDropped = droppedLinksListener(node);
  const onPage = node.notePage.bind(node);
  return new Slots({
    ...{ frontier, concurrency, tally, alarm, outage, log, onDropped, onPage, onItems, onError },
  });
}

export function seedIntakeOf({ node, rules }: IncarnationContext): SeedIntake {
  const { frontier, spider, options, log } = node.deps;
  const batch = options.seedBatch ?? options.concurrency;
  const conversionMs = options.mainLoopTimeoutMs;
  return new SeedIntake({
    frontier,
    spider,
    rules,
    batch,
    conversionMs,
    alarm: node.alarm,
    deadEnds: node.deadEnds,
    log,
  });
}

export function idleHooksOf({ node, rules, halt }: IncarnationContext): IdleHooks {
  const { deps, signals, outage, alarm } = node;
  const { frontier, spider, options, log } = deps;
  const { exitWhenDone, callbackTimeoutMs: timeoutMs } = options;
  return new IdleHooks({
    ...{ frontier, spider, signals, rules, outage, alarm, log, timeoutMs, exitWhenDone },
    stop: halt,
  });
}

/** Starts the periodic work. @param onTick gets the pages per second of this node. */
export function startUpkeep(
  { node, onError }: IncarnationContext,
  slots: Slots,
  onTick: (pagesPerSecond: number) => void,
): Upkeep {
  const { deps, tally, pulse, alarm, deadEnds } = node;
  const { frontier, options, log, crawlArguments } = deps;
  return new Upkeep({
    ...{ frontier, slots, tally, pulse, alarm, log, deadEnds, crawlArguments, onTick, onError },
    persist: options.shape.persist,
    heartbeatMs: options.heartbeatMs,
    nodeTimeoutMs: options.tunables.nodeTimeoutMs,
  });
}

function droppedLinksListener({ droppedLinks }: NodeState): (answer: PushAnswer) => void {
  return (answer) => droppedLinks.hear(answer);
}

/** Null where no page comes again, or CONDITIONAL_REQUESTS is false. */
function recrawlOf({ node, rules }: IncarnationContext): ConditionalRequests | null {
  const { frontier, options, log } = node.deps;
  if (!options.conditionalRequests) return null;
  const { dupefilter } = options.shape;
  const { fingerprint } = node.rules;
  return conditionalRequestsOf({ frontier, dupefilter, refresh: rules.refresh, fingerprint, log });
}

/** Null when robots.txt is not obeyed. */
function robotsGateOf({ node, halt }: IncarnationContext, authorize: Authorize): RobotsGate | null {
  const { deps, outage, rulesCache } = node;
  const { frontier, downloader, options, log } = deps;
  if (options.robots === null || rulesCache === null) return null;
  const { domainKey } = options.shape;
  const parts = { frontier, downloader, authorize, domainKey, retry: options.retry, rulesCache };
  return new RobotsGate({ ...parts, options: options.robots, outage, halt, log });
}
