/** Where the files of items are stored: a folder (`folder-store.ts`) or a bucket (`s3-store.ts`). */
import { CrawlnodeError, messageOf } from '../../../errors.js';

/** A file in the store. */
export interface StoredFile {
  /** Below FILES_STORE or IMAGES_STORE, with `/` between its parts. */
  readonly path: string;
  /** MD5 in hex; null for a file that another program has put into a bucket, where the bucket does not tell it. */
  readonly checksum: string | null;
}

/** A file appears under its name only when all of it is stored. Names are relative, with `/` between their parts. */
export interface FileStore {
  /** FILES_STORE or IMAGES_STORE, for messages. */
  readonly place: string;
  /** Completes "which waits for …": the server that `open` asks, and how long it may be silent. Null for a folder. */
  readonly awaits: string | null;
  /** Check that files can be written. @throws CrawlnodeError `files_unwritable` */
  open(): Promise<void>;
  /**
   * The first of these names under which there is a file that is not older.
   * @throws CrawlnodeError `files_unwritable` when the store cannot tell
   */
  find(names: readonly string[], maxAgeMs: number): Promise<StoredFile | null>;
  /** Write a file, in place of one that is there. @throws CrawlnodeError `files_unwritable` */
  write(name: string, body: Buffer): Promise<StoredFile>;
  /** Close its connections. */
  close(): void;
}

/** The error of a store that cannot be written, or asked. */
export function unwritable({ place }: Pick<FileStore, 'place'>, cause: unknown): CrawlnodeError {
  const message = `files cannot be written to ${place}: ${messageOf(cause)}`;
  return new CrawlnodeError('files_unwritable', message, { cause });
}
