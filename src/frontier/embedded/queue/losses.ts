/** Lost requests: their records vanished from the file, because somebody deleted rows or a repair could not save them. */
import type { Transaction } from '../crawl/transaction.js';
import { deleteRequest } from './requests.js';

/** A request without a record. */
export interface RequestWithoutRecord {
  readonly n: number;
  readonly id: Uint8Array;
  readonly unfiltered: 0 | 1;
}

/**
 * Delete a request that has no record, count it as lost, and forget its fingerprint, so that links and seeds bring it back. A
 * BloomDupeFilter cannot forget.
 */
export function noteLost(tx: Transaction, { n, id, unfiltered }: RequestWithoutRecord): void {
  deleteRequest(tx, n);
  tx.tally.lost += 1;
  if (unfiltered === 1 || tx.dupefilter.choice()?.class === 'BloomDupeFilter') return;
  if (tx.dupefilter.forget(id)) tx.crawl.epoch += 1;
}
