/** Writes a backup to a temporary file, flushes it to the disk, and then renames it. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { makeFolder } from '../../disk/make-folder.js';
import { CrawlnodeError, messageOf, UsageError } from '../../errors.js';
import type { BackupEntry } from '../../frontier/backup/entry.js';
import { isSystemError } from '../messages/error-report.js';
import { type BackupHeader, countEntry, type EntryCounts } from './backup-file.js';

/** A partial file this old is abandoned. An active one grows continuously, except while the store is down. */
const ABANDONED_MS = 30 * 60_000;
/** About this many bytes lie between two checksum lines. */
const CHECK_BYTES = 1024 * 1024;
/**
 * The gzip level. Fingerprints are random hex digits, so higher levels gain little: for 10⁶ of them (43 MB), level 1 gives
 * 23.3 MB in 0.7 s of CPU, level 6 gives 23.1 MB in 1.1 s.
 */
const LEVEL = 1;

export interface WrittenBackup {
  readonly file: string;
  readonly bytes: number;
  readonly entries: number;
  readonly counts: EntryCounts;
}

/** @throws UsageError when the file exists, unless `replace`. */
export function refuseExisting(file: string, replace: boolean): void {
  if (!existsSync(file) || replace) return;
  throw new UsageError(
    `${file} exists already: name another file for the backup, or --force to replace this one`,
  );
}

/**
 * Write header, entries and checksums to `file`. Entries are read only as fast as they are written.
 * @param onProgress called with the number of values written so far
 * @throws CrawlnodeError `backup_unwritable`; an existing file is then unchanged
 */
export async function writeBackup(
  file: string,
  header: BackupHeader,
  entries: AsyncIterable<BackupEntry>,
  onProgress: (values: number) => void,
): Promise<WrittenBackup> {
  // A random name, because the pid is often the same in every container.
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`;
  let handle: FileHandle | undefined;
  try {
    makeFolder(path.dirname(file));
    await removeAbandoned(file);
    // It holds requests with their headers and cookies.
    const opened = await open(partial, 'wx', 0o600);
    handle = opened;
    const counts: Record<string, number> = {};
    const lines = Readable.from(linesOf(header, entries, counts, onProgress), { highWaterMark: 2 });
    const sink = (chunks: AsyncIterable<string>) => writeFile(opened, chunks);
    if (file.endsWith('.gz')) await pipeline(lines, createGzip({ level: LEVEL }), sink);
    else await pipeline(lines, sink);
    const { size } = await opened.stat();
    await opened.sync();
    await opened.close();
    await rename(partial, file);
    await syncFolder(path.dirname(file));
    const { entries: total = 0, ...values } = counts;
    return { file, bytes: size, entries: total, counts: values };
  } catch (error) {
    await handle?.close().catch(() => {});
    await rm(partial, { force: true }).catch(() => {});
    // Errors of the store have a message of their own.
    if (error instanceof CrawlnodeError || !isSystemError(error)) throw error;
    const message = `the backup ${file} cannot be written: ${messageOf(error)}; nothing was cleared`;
    throw new CrawlnodeError('backup_unwritable', message, { cause: error });
  }
}

/** @param counts filled during the iteration, including `entries` */
async function* linesOf(
  header: BackupHeader,
  entries: AsyncIterable<BackupEntry>,
  counts: Record<string, number>,
  onProgress: (values: number) => void,
): AsyncIterable<string> {
  const hash = createHash('sha256');
  let unchecked = 0;
  let total = 0;
  let values = 0;
  const line = (value: unknown): string => {
    const text = `${JSON.stringify(value)}\n`;
    hash.update(text);
    unchecked += text.length;
    return text;
  };
  const sum = () => hash.copy().digest('hex');
  yield line(header);
  for await (const entry of entries) {
    total += 1;
    values += countEntry(counts, entry);
    onProgress(values);
    yield line(entry);
    if (unchecked < CHECK_BYTES) continue;
    yield line({ kind: 'check', sha256: sum() });
    unchecked = 0;
  }
  yield line({ kind: 'end', entries: total, counts, sha256: sum() });
  counts.entries = total;
}

/** Remove partial files of this backup that killed processes left behind. */
async function removeAbandoned(file: string): Promise<void> {
  const folder = path.dirname(file);
  const own = `${path.basename(file)}.`;
  for (const name of await readdir(folder)) {
    const isPartial = name.startsWith(own) && /^[0-9a-f]+\.partial$/.test(name.slice(own.length));
    if (!isPartial) continue;
    const { mtimeMs } = await stat(path.join(folder, name));
    if (Date.now() - mtimeMs > ABANDONED_MS) await rm(path.join(folder, name), { force: true });
  }
}

/** Make the rename durable. Errors are ignored, because not every file system supports it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
