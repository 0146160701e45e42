/** The file of a feed on disk: opened, read at its ends, cut off at a known length, written at a position and synced. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../disk/make-folder.js';
import { CrawlnodeError } from '../../errors.js';
import type { FileIdentity } from './feed-lock.js';
import type { FeedFormat } from './formats/feed-format.js';

/** How much of a file is read to find its columns. */
const BEGINNING_BYTES = 64 * 1024;
const COPY_BYTES = 1024 * 1024;
/** How much before a position is compared. A file that is cut between a check and a write has zeros there, and the right length. */
const TAIL_BYTES = 4 * 1024;

/** How this process has left the file. */
interface Left {
  /** Where the last item ends. */
  readonly position: number;
  /** Null after a write that failed half-way. */
  readonly size: number | null;
  /** What stands before the position, at most TAIL_BYTES. */
  readonly tail: Buffer;
}

/** What somebody else did to the file. */
export interface ForeignChange {
  /** Follows the name of the file. */
  readonly what: string;
  /** How much of the file is as this process has left it, from its beginning. */
  readonly keptBytes: number;
  /** All of it is in a file of another name. */
  readonly isMoved: boolean;
}

export class FeedDisk {
  /** Absolute. */
  readonly path: string;
  readonly #handle: FileHandle;
  #left: Left | null = null;

  private constructor(file: string, handle: FileHandle) {
    this.path = file;
    this.#handle = handle;
  }

  /** Open for writing, with its folders; nothing of an existing file is changed. @throws CrawlnodeError `feed_unwritable` */
  static async open(file: string): Promise<FeedDisk> {
    const there = await stat(file).catch(() => null);
    if (there !== null && !there.isFile() && !there.isDirectory()) {
      throw new CrawlnodeError(
        'feed_unwritable',
        `${file} cannot be written: it is not a regular file (for standard output use -o -)`,
      );
    }
    try {
      makeFolder(path.dirname(file));
      return new FeedDisk(file, await open(file, constants.O_RDWR | constants.O_CREAT, 0o666));
    } catch (error) {
      throw unwritable(file, error);
    }
  }

  /** Open a file that is only read; null where it is not there. @throws CrawlnodeError `feed_unwritable` */
  static async look(file: string): Promise<FeedDisk | null> {
    try {
      return new FeedDisk(file, await open(file, 'r'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw unwritable(file, error);
    }
  }

  /** Its length in bytes. */
  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  /** The beginning of the file, long enough for its column names. */
  async beginning(format: FeedFormat): Promise<string> {
    return format.decode(await this.#read(0, BEGINNING_BYTES))?.toString() ?? '';
  }

  /** The character before a position. */
  async before(position: number): Promise<string> {
    return (await this.#read(position - 1, 1)).toString('latin1');
  }

  /** The digest of what stands before a position (`FeedCheckpoint.end`). */
  async endAt(position: number): Promise<string> {
    const { position: at, tail } = this.#left ?? {};
    const bytes = at === position ? tail! : await this.#tailBefore(position);
    return createHash('sha1').update(bytes).digest('hex');
  }

  /** How many bytes follow a position; negative when the file ends before it. */
  async bytesBehind(position: number): Promise<number> {
    return (await this.size()) - position;
  }

  /** The bytes after a position, at most `max`. */
  async behind(position: number, max: number): Promise<Buffer> {
    return this.#read(position, max);
  }

  /** Cut the file off at a position, and close the list there. */
  async cutOff(position: number, format: FeedFormat): Promise<void> {
    await this.replaceFrom(position, format.encode(format.closing));
  }

  /** Line ends between two positions. */
  async countLines(from: number, to: number): Promise<number> {
    let lines = 0;
    for (let at = from; at < to; ) {
      const bytes = await this.#read(at, Math.min(COPY_BYTES, to - at));
      if (bytes.length === 0) break;
      for (const byte of bytes) if (byte === 10) lines += 1;
      at += bytes.length;
    }
    return lines;
  }

  /** Where the last whole line before a position ends; 0 without any. */
  async lastLineEnd(position: number): Promise<number> {
    for (let end = position; end > 0; ) {
      const begin = Math.max(0, end - COPY_BYTES);
      const at = (await this.#read(begin, end - begin)).lastIndexOf(10);
      if (at >= 0) return begin + at + 1;
      end = begin;
    }
    return 0;
  }

  /** Copy the bytes after a position to a file beside this one. @returns its path. @throws CrawlnodeError `feed_unwritable` */
  async copyBehind(position: number): Promise<string> {
    const copy = `${this.path}.cut-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    try {
      const handle = await open(copy, 'wx', 0o600);
      try {
        for (let from = position; ; ) {
          const bytes = await this.#read(from, COPY_BYTES);
          if (bytes.length === 0) break;
          await handle.appendFile(bytes);
          from += bytes.length;
        }
        await handle.sync();
      } finally {
        await handle.close();
      }
      return copy;
    } catch (error) {
      throw unwritable(copy, error);
    }
  }

  /** The copies of what was cut off, oldest first. */
  async copies(): Promise<string[]> {
    const { dir, base } = path.parse(this.path);
    const names = (await readdir(dir)).filter((name) => name.startsWith(`${base}.cut-`));
    return names.sort().map((name) => path.join(dir, name));
  }

  /** Remember how the file is left, with the last item before the position: whatever differs later was done by somebody else. */
  async leaveAt(position: number): Promise<void> {
    this.#left = { position, size: await this.size(), tail: await this.#tailBefore(position) };
  }

  /**
   * What somebody else did to the file since `leaveAt` or `append`; null for nothing. A pipe is not looked at.
   */
  async foreignChange(): Promise<ForeignChange | null> {
    const left = this.#left;
    // The path first: a file that is removed in between still counts as linked otherwise.
    const there = await stat(this.path, { bigint: true }).catch(() => null);
    const own = await this.#handle.stat({ bigint: true });
    if (left === null || !own.isFile()) return null;
    const { position } = left;
    const size = Number(own.size);
    if (there === null || there.ino !== own.ino || there.dev !== own.dev) {
      const isMoved = own.nlink > 0n && size >= position;
      const what = there === null ? 'was removed or renamed' : 'was replaced by another file';
      return { what, keptBytes: isMoved ? position : 0, isMoved };
    }
    if (size < position) return wasCut(size);
    if (!(await this.#tailBefore(position)).equals(left.tail)) {
      const now = await this.size();
      return now < position ? wasCut(now) : { what: 'was overwritten', keptBytes: 0, isMoved: false };
    }
    const isLonger = left.size !== null && size !== left.size;
    return isLonger ? { what: 'was written to by somebody else', keptBytes: position, isMoved: false } : null;
  }

  /**
   * Write behind the last item, and see whether the file was changed meanwhile. Call `foreignChange` before.
   * @param closing written behind the items, and overwritten by the next call
   * @throws CrawlnodeError `feed_unwritable`
   */
  async append(items: Buffer, closing: Buffer, position: number): Promise<ForeignChange | null> {
    const before = this.#left?.position === position ? this.#left.tail : await this.#tailBefore(position);
    this.#left = { position, size: null, tail: before };
    const bytes = Buffer.concat([items, closing]);
    await this.write(bytes, position);
    const size = position + bytes.length;
    this.#left = { position, size, tail: before };
    const change = await this.foreignChange();
    if (change !== null) return this.#takeBack(change, size);
    const tail = Buffer.concat([before, items]).subarray(-TAIL_BYTES);
    this.#left = { position: position + items.length, size, tail };
    return null;
  }

  /** Cut off a write behind what somebody has cut meanwhile, with the zeros in between. @returns what is left of the file */
  async #takeBack(change: ForeignChange, size: number): Promise<ForeignChange> {
    const { position } = this.#left!;
    if (change.what !== 'was overwritten' || (await this.size()) !== size) return change;
    let kept = position;
    for (let from = position; kept === from && from > 0; ) {
      const begin = Math.max(0, from - COPY_BYTES);
      const bytes = await this.#read(begin, from - begin);
      let end = bytes.length;
      while (end > 0 && bytes[end - 1] === 0) end -= 1;
      kept = begin + end;
      from = begin;
    }
    if (kept === position) return change;
    await this.#handle.truncate(kept);
    return wasCut(kept);
  }

  #tailBefore(position: number): Promise<Buffer> {
    const begin = Math.max(0, position - TAIL_BYTES);
    return this.#read(begin, position - begin);
  }

  /**
   * Make `tail` the end of the file, from `position` on.
   * @throws CrawlnodeError `feed_unwritable`; `feed_changed` where the file is shorter: cutting it off there would lengthen it
   */
  async replaceFrom(position: number, tail: Buffer): Promise<void> {
    const size = await this.size();
    if (size < position) {
      const what = `${this.path} was cut to ${size} bytes by somebody else, and was to have ${position}`;
      throw new CrawlnodeError('feed_changed', what);
    }
    try {
      await this.#handle.truncate(position);
    } catch (error) {
      throw unwritable(this.path, error);
    }
    await this.write(tail, position);
  }

  /** Write all bytes at a position, and flush them to the disk. @throws CrawlnodeError `feed_unwritable` */
  async write(bytes: Buffer, position: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
      await this.#handle.datasync();
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** What identifies a plain file on this machine, whatever path leads to it; null for a pipe or a device. */
  async identity(): Promise<FileIdentity | null> {
    const stat = await this.#handle.stat({ bigint: true });
    return stat.isFile() ? stat : null;
  }

  /** Remove the file; its content has been given up. @throws CrawlnodeError `feed_unwritable` */
  async remove(): Promise<void> {
    try {
      await rm(this.path, { force: true });
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Up to `length` bytes from `position`; fewer at the end of the file. */
  async #read(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    let read = 0;
    while (read < length) {
      const { bytesRead } = await this.#handle.read(bytes, read, length - read, position + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.subarray(0, read);
  }
}

function wasCut(keptBytes: number): ForeignChange {
  return { what: `was cut to ${keptBytes} bytes`, keptBytes, isMoved: false };
}

function unwritable(file: string, error: unknown): CrawlnodeError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = reasons[code] ?? message;
  return new CrawlnodeError(
    'feed_unwritable',
    `${file} cannot be written: ${why}${code ? ` (${code})` : ''}`,
    { cause: error },
  );
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'there can be no such folder or file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EFBIG: 'the file would become too large',
};
