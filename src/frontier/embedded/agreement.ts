/** What all clients of a crawl must agree on: the data format, the shape, and already before the first node the dupefilter. */
import { dataFormats, otherFormat } from '../data-format.js';
import type { Dupefilter, Shape } from '../frontier.js';
import { otherShape } from '../shape.js';
import type { Transaction } from './transaction.js';

/** The data format of a crawl, or of the dupefilter that it shares with others, if it is not ours; null otherwise. */
export function otherFormatOf(tx: Transaction): number | null {
  const format = tx.format() ?? dataFormats.embedded;
  if (format !== dataFormats.embedded) return format;
  return tx.dupefilter.isOfFormat3() ? 3 : null;
}

/** @throws RefusedError for a crawl of another data format. */
export function refuseOtherFormat(tx: Transaction): void {
  const format = otherFormatOf(tx);
  if (format !== null) throw otherFormat('embedded', tx.spaces.crawlName, format);
}

/** @throws RefusedError naming both values; a crawl without a shape gets this one. */
export function refuseOtherShape(tx: Transaction, shape: Shape): void {
  const { shape: decided, queueClass, dupefilter } = tx.meta();
  const theirs = {
    ...(decided ?? { queueClass }),
    dupefilter: tx.dupefilter.choice() ?? dupefilter ?? shape.dupefilter,
  };
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
  const theirs =
    tx.dupefilter.choice() ?? (tx.peekState() === undefined ? ours : (tx.meta().dupefilter ?? ours));
  const refusal = otherShape({ dupefilter: theirs }, { dupefilter: ours });
  if (refusal !== null) throw refusal;
}
