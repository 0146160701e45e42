/** What the parts of an incarnation share, and what its pages are processed with. */

import { type Authorize, httpAuthOf } from '../../downloader/http-auth.js';
import { SessionCookies } from '../cookies/session-cookies.js';
import type { LinkRules } from '../links/filter-links.js';
import { seenLinksOf } from '../links/seen-links.js';
import type { PageDeps } from '../page/page-work.js';
import { type ConditionalRequests, conditionalRequestsOf } from '../recrawl/conditional-requests.js';
import { RobotsGate } from '../robots/robots-gate.js';
import type { NodeState } from './node-state.js';

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

/** What the pages of this incarnation are processed with. @param pages how many are in progress, and how many have ended */
export function pageDepsOf(
  context: IncarnationContext,
  pages: { readonly inFlight: number; readonly ended: number },
): PageDeps {
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
    onDropped: (answer) => node.droppedLinks.hear(answer),
    hasOtherPages: () => pages.inFlight > 1,
    endedPages: () => pages.ended,
  };
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
