/** The file of a feed on disk: opened, read at its ends, cut off at a known length, written at a position and synced. */
import { constants } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../disk/make-folder.js';
import { CrawlnodeError } from '../../errors.js';
import type { FileIdentity } from './feed-lock.js';
import type { FeedFormat } from './formats/feed-format.js';

/** How much of a file is read to find its columns. */
const BEGINNING_BYTES = 64 * 1024;
const COPY_BYTES = 1024 * 1024;

export class FeedDisk {
  /** Absolute. */
  readonly path: string;
  readonly #handle: FileHandle;

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

  /**
   * Copy the bytes after a position to a file beside this one.
   * @returns its path.
   * @throws CrawlnodeError `feed_unwritable`
   */
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

  /**
   * Before a write, check that the path is still the open file, and that the file is at least as long as the position.
   * @throws CrawlnodeError `feed_changed`
   */
  async refuseChanged(position: number): Promise<void> {
    const own = await this.#handle.stat({ bigint: true });
    if (!own.isFile()) return;
    const there = await stat(this.path, { bigint: true }).catch(() => null);
    const isSame = there !== null && there.ino === own.ino && there.dev === own.dev;
    if (isSame && own.size >= position) return;
    const what = isSame
      ? 'was truncated'
      : there === null
        ? 'was removed or renamed'
        : 'was replaced by another file';
    throw new CrawlnodeError(
      'feed_changed',
      `${this.path} ${what} while the crawl wrote to it: items that are not in it yet wait in the store. Put the file back and run the same command again, write to another file, or reset the job.`,
    );
  }

  /** Write `tail` at `position` and cut the file off after it. @throws CrawlnodeError `feed_unwritable` */
  async replaceFrom(position: number, tail: Buffer): Promise<void> {
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
