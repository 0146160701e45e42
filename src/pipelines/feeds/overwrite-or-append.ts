/** How a job starts a feed file: `-O` empties the file, `-o` appends to its content. */
import { UsageError } from '../../errors.js';
import type { FeedDisk } from './feed-disk.js';
import type { FeedFormat } from './formats/feed-format.js';

/** The initial length of the file, and the header of its format. */
export interface Begun {
  readonly lengthBytes: number;
  readonly header: string;
}

/** Empty the file, and write the beginning of its format. @throws CrawlnodeError `feed_unwritable` */
export async function overwrite(disk: FeedDisk, format: FeedFormat): Promise<Begun> {
  const opening = format.encode(format.opening);
  await disk.replaceFrom(0, Buffer.concat([opening, format.encode(format.closing)]));
  return { lengthBytes: opening.length, header: '' };
}

/** Append to content that somebody else wrote. @throws UsageError where the result would not be valid in its format. */
export async function append(disk: FeedDisk, format: FeedFormat): Promise<Begun> {
  if (!(await hasContentToKeep(disk, format))) return overwrite(disk, format);
  const size = await disk.size();
  const header = format.adopt(await disk.beginning(format));
  // The first item would be appended to an unfinished last line.
  const newline = (await disk.before(size)) === '\n' ? '' : '\n';
  await disk.replaceFrom(size, Buffer.from(newline));
  return { lengthBytes: size + newline.length, header };
}

/** @returns false for what `overwrite` leaves, and for nothing. @throws UsageError as `append` */
export async function hasContentToKeep(disk: FeedDisk, format: FeedFormat): Promise<boolean> {
  const { encode, opening, closing, appendsNot, begins } = format;
  const size = await disk.size();
  const empty = Buffer.concat([encode(opening), encode(closing)]);
  if (size === 0 || (size === empty.length && (await disk.behind(0, size)).equals(empty))) return false;
  if (appendsNot !== null) {
    throw new UsageError(
      `${disk.path} has content already, and ${appendsNot} cannot be added to it: use -O to overwrite it, another file, or .jsonl.`,
    );
  }
  if (begins?.test(await disk.beginning(format)) === false) {
    throw new UsageError(
      `${disk.path} has content of another format, to which no items can be added: use -O to overwrite it, or another file.`,
    );
  }
  return true;
}
