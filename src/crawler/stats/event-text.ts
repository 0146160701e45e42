/** What happened to a crawl, in words. */
import { duration, howMany } from '../../format-amounts.js';
import type { CrawlEvent } from '../../frontier/frontier.js';

/**
 * An event of a crawl, in words.
 * @param clean makes the names of nodes and people safe where they are shown; they may hold anything
 */
export function eventText(event: CrawlEvent, clean: (name: string) => string = (name) => name): string {
  switch (event.kind) {
    case 'node_joined':
      return `node ${clean(event.node)} joined`;
    case 'node_left':
      return `node ${clean(event.node)} left: ${event.reason}`;
    case 'node_died':
      return `node ${clean(event.node)} died, with ${howMany(event.requests, 'request')}, which went back to the queue`;
    case 'paused':
    case 'resumed':
    case 'stopping':
      return `${event.kind}${event.by === null ? '' : ` by ${clean(event.by)}`}`;
    case 'domain_paused': {
      const { reason, forMs, more } = event;
      const why =
        reason === 'retry_after' ? 'asked for a pause of' : 'does not answer: no requests to it for';
      const others = more === 0 ? '' : `; ${howMany(more, 'more pause')} of domains soon after`;
      return `${clean(event.domain)} ${why} ${duration(forMs)}${others}`;
    }
    case 'settings_changed':
      return `node ${clean(event.node)} changed ${event.settings.join(', ')} for all nodes`;
    case 'store_full':
      return `node ${clean(event.node)} found the store full`;
    case 'store_away':
      return `node ${clean(event.node)} could not reach the store`;
    case 'store_back':
      return `node ${clean(event.node)} could use the store again`;
    case 'requests_lost':
      return `${howMany(event.requests, 'request')} lost`;
    case 'run_ended':
      return `the run ended: ${event.reason}`;
  }
}
