/** The throttle verb: leave a domain alone for a while, or change its delay, for every node from the next lease on. */
import type { Frontier } from '../../frontier.js';
import type { Transaction } from '../crawl/transaction.js';
import { delayOf, FURTHEST_MS } from './delay-timer.js';

export function throttle(
  { crawl, domains, nowMs }: Transaction,
  name: string,
  { delayMs, forMs, source }: Parameters<Frontier['throttle']>[1],
): void {
  const domain = domains.change(name);
  if (delayMs !== undefined) {
    if (source === 'robots') domain.delay_robots = delayMs;
    else if (source === 'autothrottle') domain.delay_auto = delayMs;
    else domain.delay_setting = delayMs;
    // A delay that is learnt after a lease counts from that lease on.
    const delay = delayOf(domain, crawl);
    if (delay > 0 && domain.last_at > 0) {
      domain.next_at = Math.max(domain.next_at, Math.ceil(domain.last_at + delay));
    }
  }
  if (forMs !== undefined) {
    domain.blocked_until = Math.max(domain.blocked_until, Math.ceil(nowMs + Math.min(forMs, FURTHEST_MS)));
  }
}
