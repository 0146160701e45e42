/** What all clients of a crawl must agree on: the data format, the shape, and already before the first node the dupefilter. */
import { RefusedError } from '../../errors.js';
import type { Dupefilter, Shape } from '../frontier.js';
import { otherShape } from '../shape.js';
import { FORMAT } from './meta.js';
import type { Transaction } from './transaction.js';

/** @throws RefusedError for a crawl written by another version. */
export function refuseOtherFormat(tx: Transaction): void {
  const { format } = tx.meta();
  if (format === FORMAT) return;
  throw new RefusedError(
    `this crawl was written in data format ${format} and this version writes ${FORMAT}: use the version that wrote it, or reset the crawl`,
    { code: 'format' },
  );
}

/** @throws RefusedError naming both values; a crawl without a shape gets this one. */
export function refuseOtherShape(tx: Transaction, shape: Shape): void {
  const { shape: decided, queueClass, dupefilter } = tx.meta();
  const theirs = { ...(decided ?? { queueClass }), dupefilter: tx.dupefilter.choice() ?? dupefilter };
  const refusal = otherShape(theirs, shape);
  if (refusal !== null) throw refusal;
  if (decided === null) decideShape(tx, shape);
}

/** The crawl has this shape from now on. */
export function decideShape(tx: Transaction, shape: Shape): void {
  const { queueClass, dupefilter } = shape;
  Object.assign(tx.changeMeta(), { shape, queueClass, dupefilter });
}

/**
 * What is recorded under another class or with other parameters cannot be read: neither by a client that pushes
 * before the first node joins, nor by a crawl that shares the dupefilter's key. @throws RefusedError naming both.
 */
export function refuseOtherDupefilter(tx: Transaction, ours: Dupefilter): void {
  const theirs = tx.dupefilter.choice() ?? (tx.peekState() === undefined ? ours : tx.meta().dupefilter);
  const refusal = otherShape({ dupefilter: theirs }, { dupefilter: ours });
  if (refusal !== null) throw refusal;
}
