/** All that the store knows of one domain of a crawl, and what to do about it. */
import { duration, howMany, n } from '../../format-amounts.js';
import type { Frontier } from '../../frontier/frontier.js';
import { sum } from '../../frontier/telemetry/demand.js';
import { type FailedGroup, summarizeFailed } from '../requests/failed-summary.js';
import { BLOCKED, type DomainDetail, DomainReader } from './domain-reports.js';

export interface InspectedDomainReport extends DomainDetail {
  /** What is on the failed list of its host now, of the first `LISTED` requests there. */
  readonly failed: readonly FailedGroup[];
  /** What to do, a sentence each; none where nothing stands out. */
  readonly advice: readonly string[];
}

/** Requests of the failed list that are looked through. */
const LISTED = 10_000;
/** From such a share of the answers on, an advice is worth it. */
const MANY = 0.05;
/** A slower answer is worth an advice. */
const SLOW_MS = 5_000;

/** @param crawl the arguments that select it, as a user types them. @returns null where the crawl knows nothing of the domain */
export async function inspectDomain(
  frontier: Frontier,
  name: string,
  crawl: string,
): Promise<InspectedDomainReport | null> {
  const domain = await new DomainReader(frontier).one(name);
  if (domain === null) return null;
  const isOf = ({ url }: { readonly url: string | null }) => url !== null && hostOf(url) === name;
  const { groups } = await summarizeFailed(frontier, { crawl, most: LISTED, isWanted: isOf });
  return { ...domain, failed: groups, advice: adviceFor(domain, groups) };
}

/** The domain that a user means by a host, a URL or the name of a download slot. */
export function domainNamed(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`;
  return (URL.canParse(url) && hostOf(url)) || text;
}

const hostOf = (url: string): string => new URL(url).host;

function adviceFor(domain: DomainDetail, failed: readonly FailedGroup[]): string[] {
  return [...waits(domain), ...answers(domain), ...failed.flatMap(retries)];
}

/** What its pending requests wait for. */
function waits({
  pending,
  leased,
  limit,
  delayMs,
  delayBy,
  dueInMs,
  blockedBy,
  robots,
}: DomainDetail): string[] {
  const unreachable = robots.find(({ state }) => state === 'unreachable');
  if (unreachable !== undefined)
    return [
      `its robots.txt cannot be fetched (${unreachable.reason}): it is tried again in ${duration(unreachable.forMs)}`,
    ];
  if (blockedBy === 'robots') return ['its robots.txt is not known yet: it is tried again by itself'];
  if (blockedBy === 'retry_after')
    return [
      `the site asked for a pause, which ends in ${duration(dueInMs)}: a larger DOWNLOAD_DELAY avoids the next one`,
    ];
  if (blockedBy === 'autothrottle')
    return [`the site does not answer: it is asked again in ${duration(dueInMs)}`];
  if (pending === 0) return [];
  if (delayBy !== null) {
    const all = `the ${howMany(pending, 'request')} that wait take at least ${duration(pending * delayMs)}`;
    if (delayBy === 'robots')
      return [`its robots.txt asks for ${duration(delayMs)} between two pages: ${all}`];
    const by =
      delayBy === 'settings'
        ? 'DOWNLOAD_DELAY, or DOWNLOAD_SLOTS for this domain alone'
        : 'AUTOTHROTTLE_TARGET_CONCURRENCY';
    return [`${all}, because of its delay of ${n(delayMs)} ms: ${by} changes it, if the site allows`];
  }
  if (leased >= limit)
    return [
      `all ${howMany(limit, 'request')} that it may have at a time are in progress: CONCURRENT_REQUESTS_PER_DOMAIN, or DOWNLOAD_SLOTS for this domain alone, allows more, if the site does`,
    ];
  return ['its requests may be leased now: they wait for a free slot of a node'];
}

/** What its answers tell. */
function answers({ statuses, failures, retries, p95Ms }: DomainDetail): string[] {
  const all = sum(Object.values(statuses));
  const refused = sum(BLOCKED.map((status) => statuses[status] ?? 0));
  const timeouts = (failures.timeout ?? 0) + (retries.timeout ?? 0);
  return [
    ...(refused > all * MANY
      ? [
          `${n(refused)} of ${howMany(all, 'answer')} refused the crawler (401, 403 or 429): a lower rate, other headers or a proxy may help`,
        ]
      : []),
    ...(timeouts > (all + timeouts) * MANY
      ? [
          `${howMany(timeouts, 'attempt')} got no answer within DOWNLOAD_TIMEOUT: fewer requests at a time may help`,
        ]
      : []),
    ...(p95Ms !== null && p95Ms >= SLOW_MS
      ? [
          `it is slow, with answers after up to ${duration(p95Ms)}: each request in progress keeps a slot for so long`,
        ]
      : []),
  ];
}

function retries({ count, reason, status, advice, command }: FailedGroup): string[] {
  const what = `${n(count)} failed with ${reason}${status === null ? '' : ` ${status}`}: ${advice}`;
  return [command === null ? what : `${what}: ${command}`];
}
