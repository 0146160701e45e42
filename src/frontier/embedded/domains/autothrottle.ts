/** AutoThrottle: the delay of a domain follows its latency, for all nodes together, by the formula of Scrapy. */
import type { Transaction } from '../base/transaction.js';
import { autoDelayOf, countFromLastLease, settingsDelayOf } from './delay-timer.js';

/**
 * Adjust the delay of a domain to an answer. An answer other than 200 does not lower it, as error pages are often fast.
 */
export function adjustDelay(
  tx: Transaction,
  name: string,
  latencyMs: number,
  status: number | undefined,
): void {
  const { crawl, domains, nowMs } = tx;
  const auto = crawl.tunables.autothrottle;
  if (auto === null) return;
  const domain = domains.change(name);
  const least = settingsDelayOf(domain, crawl);
  const before = Math.max(least, autoDelayOf(domain, crawl));
  const target = latencyMs / auto.targetConcurrency;
  const after = Math.max(Math.min(Math.max(target, (before + target) / 2), auto.maxDelayMs), least);
  if (status !== 200 && after <= before) return;
  domain.delay_auto = after;
  if (after > before) countFromLastLease(domain, crawl, nowMs);
}
