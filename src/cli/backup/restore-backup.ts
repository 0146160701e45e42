/** Restores the entries of a backup one by one. A repeated restore skips the entries that were already applied. */
import { stat } from 'node:fs/promises';
import os from 'node:os';
import { type BackupEntry, isOfParts } from '../../frontier/backup/entry.js';
import type { Frontier, Part } from '../../frontier/frontier.js';
import { type FeedFormatName, feedFormats, formatFor } from '../../pipelines/feeds/formats/feed-format.js';
import { BackupReader, type VerifiedBackup } from './read-backup.js';

export interface RestoreOptions {
  readonly file: string;
  readonly backup: VerifiedBackup;
  readonly parts: readonly Part[];
  readonly force: boolean;
  /** Called with the values read so far. */
  onProgress(values: number): void;
  onNotice(text: string): void;
}

/**
 * @returns `resumed` after an interrupted restore, `there already` when all of it was restored before
 * @throws RefusedError while nodes are live, or when the crawl already holds data
 */
export async function restoreBackup(
  frontier: Frontier,
  { file, backup, parts, force, onProgress, onNotice }: RestoreOptions,
): Promise<'restored' | 'resumed' | 'there already'> {
  const id = `${backup.sha256}:${[...parts].sort().join(',')}`;
  const exclusive: readonly Part[] =
    backup.bloomEngine !== null && parts.includes('dupefilter') ? ['dupefilter'] : [];
  const done = await frontier.backups.begin({ id, parts, exclusive, force });
  if (done === null) return 'there already';
  const wanted = new Set(parts);
  const reader = new BackupReader(file);
  for await (const { number, entry } of reader.entries()) {
    onProgress(reader.values);
    if (number <= done || !isOfParts(entry, wanted)) continue;
    await frontier.backups.apply(id, number, await withValidCheckpoint(entry, onNotice));
  }
  await frontier.backups.end(id);
  return done === 0 ? 'restored' : 'resumed';
}

/**
 * Drop the checkpoint of a feed file that changed since the backup. A writer that resumes truncates its file to the
 * checkpoint, which would delete newer items. Without the checkpoint it appends. Only files of this machine are checked.
 */
async function withValidCheckpoint(
  entry: BackupEntry,
  onNotice: (text: string) => void,
): Promise<BackupEntry> {
  if (entry.kind !== 'feed' || entry.checkpoint === null || entry.host !== os.hostname()) return entry;
  const size = await stat(entry.path).then(
    (found) => found.size,
    () => -1,
  );
  const more = size - entry.checkpoint.lengthBytes;
  if (more >= 0 && more <= closingBytes(entry.format)) return entry;
  const what = size < 0 ? 'is not there any more' : 'was changed since the backup';
  onNotice(`${entry.path} ${what}: items that are written to it from now on come after what it holds`);
  return { ...entry, checkpoint: null };
}

/** At most this many bytes follow the last item of a complete file; backups of earlier versions do not name the format. */
function closingBytes(format = ''): number {
  const formats = Object.hasOwn(feedFormats, format.replace(/\.gz$/, ''))
    ? [formatFor(format as FeedFormatName)]
    : Object.values(feedFormats);
  return Math.max(...formats.map(({ closing, encode }) => encode(closing).length));
}
