/** The verbs of robots.txt in Redis, and of requests that have no lease. */
import { countersInBounds, delayInBounds } from '../../clamp-values.js';
import type { Frontier } from '../../frontier.js';
import type { RobotsAnswer, RobotsResult } from '../../robots/robots-state.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, json } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { domainName } from '../request-columns.js';

export function robotsVerbs({
  call,
  node,
}: CrawlAccess): Pick<Frontier, 'robots' | 'storeRobots' | 'takeInstant'> {
  return {
    async robots(origin, domain, isFetching) {
      await node.live();
      return json<RobotsAnswer>(await call('robots', { origin, domain: domainName(domain), isFetching }));
    },
    async storeRobots({ origin, domain, token }, result, stats) {
      node.joined();
      const counters = countersInBounds(stats);
      const args = {
        ...{ origin, domain: domainName(domain), claim: Number(token), ...resultArguments(result) },
        names: counters.map(([name]) => name),
        amounts: counters.map(([, amount]) => amount),
      };
      return int(await call('store_robots', args)) === 1;
    },
    async takeInstant(domain, withinMs) {
      const args = {
        domain: domainName(domain),
        withinMs: delayInBounds(withinMs),
        random: Math.random(),
      };
      const inMs = await call('take_instant', args);
      return inMs == null ? null : int(inMs);
    },
  };
}

/** Its fields; numbers in bounds. */
function resultArguments(result: RobotsResult): Arguments {
  const bounded = (value: string | number | null) =>
    typeof value === 'number' ? delayInBounds(value) : (value ?? undefined);
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, bounded(value)]));
}
