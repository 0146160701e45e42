/**
 * Restores a feed file to its checkpoint before it is written again. The checkpoint comes from the store, which other
 * programs may write to, so only what crawlnode itself has written is cut off.
 */
import { CrawlnodeError } from '../../errors.js';
import type { FeedChange, FeedCheckpoint } from '../../feed-outbox.js';
import { ChangedFeedError } from './changed-feed.js';
import type { FeedDisk } from './feed-disk.js';
import type { FeedFormat } from './formats/feed-format.js';
import { isUnfinishedWrite } from './unfinished-write.js';

/** The part of a file that this crawl has written for certain. */
export interface OwnPart {
  readonly beginBytes: number;
  readonly endBytes: number;
}

export interface RestorePlan {
  readonly path: string;
  readonly disk: FeedDisk;
  readonly format: FeedFormat;
  /** As the store has it. */
  readonly checkpoint: FeedCheckpoint;
  /** Null where nothing on this machine says. */
  readonly own: OwnPart | null;
  /** Each item is a line. */
  readonly hasLines: boolean;
  /** The bytes that the format makes of the items after the checkpoint in the outbox. */
  next(checkpoint: FeedCheckpoint): Promise<string>;
}

/** A file that ends with its last item. */
export interface Restored {
  readonly checkpoint: FeedCheckpoint;
  /** A copy of items that were cut off and that the store does not have; null without any. */
  readonly copy: string | null;
}

/**
 * Remove what a dead writer has left after the checkpoint. When the store was restored from an older copy, and so knows
 * less of the file than was written, the removed part is first copied to a file beside it.
 * @throws CrawlnodeError `feed_changed` when the file is shorter than the checkpoint, when no item ends there, or when it
 *   ends with content of somebody else.
 */
export async function restoreFeed(plan: RestorePlan): Promise<Restored> {
  const { disk, format, path } = plan;
  const checkpoint = await soundCheckpoint(plan);
  const { lengthBytes } = checkpoint;
  const behind = await disk.bytesBehind(lengthBytes);
  if (await isUnfinished(plan, checkpoint, behind)) {
    await disk.cutOff(lengthBytes, format);
    return { checkpoint, copy: null };
  }
  const { beginBytes, endBytes } = plan.own ?? { beginBytes: Number.POSITIVE_INFINITY, endBytes: 0 };
  if (lengthBytes < beginBytes || lengthBytes + behind > endBytes) {
    const what = `goes on for ${behind} bytes behind the last item that the store knows of, at byte ${lengthBytes}, and these are not what was to be written there: somebody else has written to it, or the store was restored from an older copy`;
    throw new ChangedFeedError(path, { what, items: 0 });
  }
  const copy = await disk.copyBehind(lengthBytes);
  await disk.cutOff(lengthBytes, format);
  return { checkpoint, copy };
}

/** The checkpoint, if it fits the file, with the header that the file itself shows. */
async function soundCheckpoint(plan: Omit<RestorePlan, 'next'>): Promise<FeedCheckpoint> {
  const { path, disk, format, checkpoint, own } = plan;
  const { sequence, lengthBytes, header, end } = checkpoint;
  if (![sequence, lengthBytes].every((n) => Number.isSafeInteger(n) && n >= 0)) {
    const what = `the store's record of ${path} is damaged (item ${sequence}, ${lengthBytes} bytes): reset the job`;
    throw new CrawlnodeError('feed_changed', what);
  }
  const size = await disk.size();
  if (size < lengthBytes) {
    const why = await whyChanged(disk, 'somebody changed or removed it');
    const what = `holds ${size} bytes, but this job has written ${lengthBytes} to it: ${why}`;
    throw new ChangedFeedError(path, { what, items: await itemsBehind(plan, size) });
  }
  const isBegin = lengthBytes === format.encode(format.opening).length || lengthBytes === own?.beginBytes;
  const { itemEnds } = format;
  const last = lengthBytes === 0 ? '' : await disk.before(lengthBytes);
  const isOther = end !== undefined && end !== (await disk.endAt(lengthBytes));
  if (isOther || (!isBegin && itemEnds !== null && !itemEnds.includes(last))) {
    const why = await whyChanged(disk, 'somebody changed the file or the store');
    const what = `does not hold what this job has written before byte ${lengthBytes}: ${why}`;
    throw new ChangedFeedError(path, { what, items: await itemsBehind(plan, 0) });
  }
  return {
    sequence,
    lengthBytes,
    header: lengthBytes === 0 ? '' : format.resume(await disk.beginning(format), header),
    ...(end && { end }),
  };
}

/** Where crawlnode has cut something off the file before, it is in a copy. */
async function whyChanged(disk: FeedDisk, otherwise: string): Promise<string> {
  const copy = (await disk.copies()).at(-1);
  return copy === undefined
    ? otherwise
    : `crawlnode cut it off, as the store was older then and has its later data again, and kept what it cut off in ${copy}; or ${otherwise}`;
}

/** How many items of the checkpoint are gone with what stood behind so many bytes; at most, where lines do not tell it. */
export async function itemsBehind(
  { disk, format, checkpoint, own, hasLines }: Omit<RestorePlan, 'path' | 'next'>,
  keptBytes: number,
): Promise<number> {
  const last = itemsInFile(checkpoint, format);
  const begin = own?.beginBytes ?? 0;
  if (keptBytes >= checkpoint.lengthBytes) return 0;
  if (keptBytes <= begin || !hasLines) return last;
  return Math.max(0, last - (await disk.countLines(begin, keptBytes)));
}

/** A file that -O emptied in the middle of a crawl holds fewer items than the crawl has scraped. */
export function itemsInFile({ sequence, lengthBytes }: FeedCheckpoint, format: FeedFormat): number {
  return lengthBytes <= format.encode(format.opening).length ? 0 : sequence;
}

/**
 * How a file without a writer, which is only read, is not as the crawl has left it; null where it is. What a writer leaves that
 * dies in a write is no such change.
 */
export async function examineFeed(plan: Omit<RestorePlan, 'next'>): Promise<FeedChange | null> {
  try {
    await soundCheckpoint(plan);
  } catch (error) {
    if (error instanceof ChangedFeedError) return error.change;
    throw error;
  }
  const { disk, format, checkpoint, own } = plan;
  const size = await disk.size();
  const behind = size - checkpoint.lengthBytes;
  const isOwn = behind <= format.encode(format.closing).length || size <= (own?.endBytes ?? 0);
  return isOwn
    ? null
    : { what: `goes on for ${behind} bytes behind the last item that the store knows of`, items: 0 };
}

async function isUnfinished(plan: RestorePlan, checkpoint: FeedCheckpoint, behind: number): Promise<boolean> {
  if (behind === 0) return true;
  const { format, disk } = plan;
  const closing = Buffer.from(format.closing);
  const next = Buffer.from(await plan.next(checkpoint));
  // Longer than anything a dead writer can have left, compressed or not: not worth reading.
  if (behind > format.encode(`${next}${closing}`).length + next.length + closing.length) return false;
  const bytes = await disk.behind(checkpoint.lengthBytes, behind);
  return possibleWrites(bytes, format).some((written) => {
    const tail = format.decode(written);
    return tail !== null && isUnfinishedWrite(tail, next, closing);
  });
}

/**
 * The part of these bytes that a write may have reached. After it follow zeros (after a power cut) or a rest of the old
 * closing. Both can be told from text, but not from compressed bytes.
 */
function possibleWrites(bytes: Buffer, { itemEnds, encode, closing }: FeedFormat): Buffer[] {
  if (itemEnds !== null) return [bytes];
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  const old = encode(closing);
  const overOld = bytes.length === old.length ? Array.from(old.keys()) : [];
  const reached = overOld.filter((at) => bytes.subarray(at).equals(old.subarray(at)));
  return [bytes, bytes.subarray(0, end), ...reached.map((at) => bytes.subarray(0, at))];
}
