/** What is changed from outside while a crawl runs: its control, its run, what it has seen. */
import { classOf, type Dupefilter } from '../../dupefilter-classes.js';
import type { Control } from '../../frontier.js';
import { cannotForget } from '../../refusals.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import type { Transaction } from '../base/transaction.js';
import { refuseOtherDupefilter } from '../nodes/shared-settings.js';
import { bytesOf } from '../queue/requests.js';
import { addEvent } from '../telemetry/events.js';

const events = { running: 'resumed', paused: 'paused', stopping: 'stopping' } as const;

/**
 * Pause, resume or stop the crawl for all nodes. While a repair has not ended the queues are incomplete: the crawl stays
 * paused, and the order holds from the end of the repair.
 */
export function control(tx: Transaction, state: Control, by: string | null = null): void {
  const { crawl } = tx;
  if ((crawl.repairing ?? crawl.control) !== state) addEvent(tx, { kind: events[state], by });
  if (crawl.repairing === null) crawl.control = state;
  else crawl.repairing = state;
}

/**
 * Close the run for all nodes; pending requests stay for the next one. The first reason stays.
 * @param limit the budget that closes it, else 0
 */
export function closeRun({ crawl, nowMs }: OpenCrawl, reason: string, limit = 0): void {
  if (crawl.run?.closing !== null) return;
  crawl.run = { ...crawl.run, closing: { reason, atMs: nowMs, limit } };
}

/** Remove a fingerprint. @returns whether it was there. @throws RefusedError where the dupefilter is another, or cannot. */
export function forget(tx: Transaction, fingerprint: string, ours: Dupefilter): boolean {
  if (!classOf(ours).canForget) throw cannotForget(ours);
  refuseOtherDupefilter(tx, ours);
  if (!tx.dupefilter.open()?.forget(bytesOf(fingerprint))) return false;
  if (tx.hasCrawl) tx.crawl.epoch += 1;
  return true;
}
