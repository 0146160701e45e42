/** What all clients of a crawl must agree on: the data format, the shape, and even before the first node the dupefilter. */
import { dataFormats, otherFormat } from '../../data-format.js';
import type { Dupefilter, Shape } from '../../frontier.js';
import { otherShape } from '../../shared-settings/shape-differences.js';
import type { Transaction } from '../base/transaction.js';

/** The data format of a crawl if it is not ours; null otherwise. */
export function otherFormatOf({ format }: Transaction): number | null {
  return format === null || format === dataFormats.embedded ? null : format;
}

/** @throws RefusedError for a crawl of another data format. */
export function refuseOtherFormat(tx: Transaction): void {
  const format = otherFormatOf(tx);
  if (format !== null) throw otherFormat('embedded', tx.spaces.crawl.name, format);
}

/** @throws RefusedError naming both values; a crawl without a shape gets this one. */
export function refuseOtherShape(tx: Transaction, shape: Shape): void {
  const { shape: decided, queue_class: queueClass } = tx.crawl;
  const theirs = {
    ...(decided ?? { queueClass }),
    dupefilter: theirDupefilter(tx) ?? shape.dupefilter,
  };
  const refusal = otherShape(theirs, shape);
  if (refusal !== null) throw refusal;
  if (decided === null) decideShape(tx, shape);
}

/** The crawl has this shape from now on. */
export function decideShape({ crawl }: Transaction, shape: Shape): void {
  crawl.shape = shape;
  crawl.queue_class = shape.queueClass;
  crawl.dupefilter = shape.dupefilter;
}

/**
 * What is recorded under another class or with other parameters cannot be read: neither by a client that pushes
 * before the first node joins, nor by a crawl that shares the dupefilter's key. @throws RefusedError naming both.
 */
export function refuseOtherDupefilter(tx: Transaction, ours: Dupefilter): void {
  const refusal = otherShape({ dupefilter: theirDupefilter(tx) ?? ours }, { dupefilter: ours });
  if (refusal !== null) throw refusal;
}

/** The dupefilter of what is recorded, else the one agreed on, else null. */
function theirDupefilter(tx: Transaction): Dupefilter | null {
  const recorded = tx.dupefilter.open()?.choice ?? null;
  return recorded === null && tx.hasCrawl ? tx.crawl.dupefilter : recorded;
}
