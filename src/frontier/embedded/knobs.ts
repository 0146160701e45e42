/** What is changed from outside while a crawl runs: a domain's pace, the crawl's control, its run, its memory. */
import type { Control, Dupefilter } from '../frontier.js';
import { cannotForget } from '../shape.js';
import { refuseOtherDupefilter } from './agreement.js';
import { delayOf, FURTHEST_MS, place } from './placement.js';
import type { Transaction } from './transaction.js';

type ThrottleChange = {
  readonly delayMs?: number;
  readonly forMs?: number;
  readonly source: 'setting' | 'robots' | 'autothrottle' | 'retry-after';
};

/** Leave a domain alone for a while, or change its delay, for every node from the next lease on. */
export function throttle(tx: Transaction, name: string, { delayMs, forMs, source }: ThrottleChange): void {
  tx.meta();
  const domain = tx.ensureDomain(name);
  if (delayMs !== undefined) {
    if (source === 'robots') domain.delayRobotsMs = delayMs;
    else if (source === 'autothrottle') domain.delayAutoMs = delayMs;
    else domain.delaySettingMs = delayMs;
    // A delay that is learnt after a lease counts from that lease on.
    const delay = delayOf(tx, domain);
    if (delay > 0 && domain.lastAtMs > 0)
      domain.nextAtMs = Math.max(domain.nextAtMs, domain.lastAtMs + delay);
  }
  if (forMs !== undefined)
    domain.blockedUntilMs = Math.max(domain.blockedUntilMs, tx.nowMs + Math.min(forMs, FURTHEST_MS));
  place(tx, domain);
}

/** Pause, resume or stop the crawl for all nodes. */
export function control(tx: Transaction, state: Control): void {
  tx.changeMeta().control = state;
}

/** Close the run for all nodes; pending requests stay for the next one. */
export function closeRun(tx: Transaction, reason: string): void {
  const { run } = tx.changeMeta();
  if (run === null || run.closing !== null) return;
  run.closing = reason;
  run.closingAtMs = tx.nowMs;
}

/** Remove a fingerprint. @returns whether it was there. @throws RefusedError where the dupefilter is another, or cannot. */
export function forget(tx: Transaction, fingerprint: string, ours: Dupefilter): boolean {
  if (ours.class === 'BloomDupeFilter') throw cannotForget();
  refuseOtherDupefilter(tx, ours);
  if (!tx.dupefilter.forget(fingerprint)) return false;
  if (tx.peekState() !== undefined) tx.changeMeta().epoch += 1;
  return true;
}
