/** The file of a feed on disk: open, truncate to a checkpoint, write at a position and sync. */

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { CrawlnodeError, UsageError } from '../errors.js';
import { makeFolder } from '../make-folder.js';
import type { FeedFormat } from './feed-format.js';

/** The state of a feed file before the first item of this job. */
export interface FeedStart {
  readonly lengthBytes: number;
  readonly header: string;
}

/** How much of an existing file is read to find its columns. */
const BEGINNING_BYTES = 64 * 1024;

export class FeedDisk {
  readonly #path: string;
  readonly #handle: FileHandle;

  private constructor(file: string, handle: FileHandle) {
    this.#path = file;
    this.#handle = handle;
  }

  /** Open for writing and create missing folders. An existing file is not changed. @throws CrawlnodeError `feed_unwritable` */
  static async open(file: string): Promise<FeedDisk> {
    try {
      makeFolder(path.dirname(file));
      return new FeedDisk(file, await open(file, constants.O_RDWR | constants.O_CREAT, 0o666));
    } catch (error) {
      throw unwritableError(file, error);
    }
  }

  /** Empty the file. */
  async begin(format: FeedFormat): Promise<FeedStart> {
    await this.#replaceTail(0, Buffer.from(format.opening + format.closing));
    return { lengthBytes: Buffer.byteLength(format.opening), header: '' };
  }

  /** Prepare to append to the existing content. @throws UsageError when the format does not allow that. */
  async adopt(format: FeedFormat): Promise<FeedStart> {
    const { size } = await this.#handle.stat();
    if (size === 0) return this.begin(format);
    if (!format.appends) {
      throw new UsageError(
        `${this.#path} has content already, and a JSON list cannot be appended to it: use -O to overwrite it, another file, or .jsonl.`,
      );
    }
    const header = format.adopt(await this.#text(0, Math.min(size, BEGINNING_BYTES)));
    // Keeps the first item off an unfinished last line.
    const newline = (await this.#text(size - 1, 1)) === '\n' ? '' : '\n';
    await this.#replaceTail(size, Buffer.from(newline));
    return { lengthBytes: size + newline.length, header };
  }

  /** Truncate the file to its last checkpoint. @throws CrawlnodeError `feed_changed` when the file is shorter. */
  async restore(lengthBytes: number, format: FeedFormat): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size < lengthBytes) {
      throw new CrawlnodeError(
        'feed_changed',
        `${this.#path} holds ${size} bytes, but this job has written ${lengthBytes} to it: somebody changed or removed it. Put it back, write to another file, or reset the job.`,
      );
    }
    await this.#replaceTail(lengthBytes, Buffer.from(format.closing));
  }

  /** Write all bytes at a position and sync them to disk. @throws CrawlnodeError `feed_unwritable` */
  async write(bytes: Buffer, position: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
      await this.#handle.datasync();
    } catch (error) {
      throw unwritableError(this.#path, error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Replace everything from `position` on with `tail`. */
  async #replaceTail(position: number, tail: Buffer): Promise<void> {
    try {
      await this.#handle.truncate(position);
    } catch (error) {
      throw unwritableError(this.#path, error);
    }
    await this.write(tail, position);
  }

  async #text(position: number, length: number): Promise<string> {
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.toString('utf8', 0, bytesRead);
  }
}

function unwritableError(file: string, error: unknown): CrawlnodeError {
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
  ENOENT: 'the folder or file cannot be created',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EFBIG: 'the file would become too large',
};
