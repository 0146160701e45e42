/** What is changed from outside while a crawl runs: its control, its run, what it has seen. */
import type { Control, Dupefilter } from '../../frontier.js';
import { cannotForget } from '../../refusals.js';
import type { Transaction } from '../crawl/transaction.js';
import { bytesOf } from '../queue/requests.js';
import { refuseOtherDupefilter } from './shared-settings.js';

/** Pause, resume or stop the crawl for all nodes. */
export function control({ crawl }: Transaction, state: Control): void {
  crawl.control = state;
}

/** Close the run for all nodes; pending requests stay for the next one. */
export function closeRun({ crawl, nowMs }: Transaction, reason: string): void {
  if (crawl.run_id === null || crawl.closing !== null) return;
  crawl.closing = reason;
  crawl.closing_at = nowMs;
  crawl.closing_limit = 0;
}

/** Remove a fingerprint. @returns whether it was there. @throws RefusedError where the dupefilter is another, or cannot. */
export function forget(tx: Transaction, fingerprint: string, ours: Dupefilter): boolean {
  if (ours.class === 'BloomDupeFilter') throw cannotForget();
  refuseOtherDupefilter(tx, ours);
  if (!tx.dupefilter.forget(bytesOf(fingerprint))) return false;
  if (tx.hasCrawl) tx.crawl.epoch += 1;
  return true;
}
