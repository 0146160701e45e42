/** The backup before a reset. Nothing is cleared unless the whole backup is on the disk. */
import path from 'node:path';
import { CrawlnodeError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import type { Frontier, Part, PartCounts, Shape } from '../../frontier/frontier.js';
import { type Context, note } from '../context.js';
import { withLiveLine } from '../terminal/live-line.js';
import { BACKUP_FORMAT, type BackupHeader } from './backup-file.js';
import { type WrittenBackup, writeBackup } from './write-backup.js';

export interface CreateBackupOptions {
  readonly file: string;
  readonly spider: string;
  readonly job: string | null;
  readonly shape: Shape;
  readonly parts: readonly Part[];
  readonly counts: PartCounts;
  /** Accept that the crawl changes during the backup. The file may then lack the changes. */
  readonly force: boolean;
}

const WORKED_ON =
  'nodes worked on the crawl while it was backed up: a crawl from the backup fetches pages again that they have committed since, and ' +
  'it may lack links that they found meanwhile, though these count as seen. Stop the nodes first for a backup that is whole';

/** @throws CrawlnodeError when the file cannot be written, or the crawl changed during the backup. */
export async function createBackup(
  context: Context,
  frontier: Frontier,
  options: CreateBackupOptions,
): Promise<WrittenBackup> {
  const { spider, job, parts, counts, shape, force } = options;
  const before = await changeMarkers(frontier, parts);
  const total = parts.reduce((sum, part) => sum + counts[part], 0);
  const header: BackupHeader = {
    ...{ crawlnodeBackup: BACKUP_FORMAT, spider, job, engine: frontier.engine, parts, shape },
    madeAt: new Date().toISOString(),
    counts: Object.fromEntries(parts.map((part) => [part, counts[part]])),
  };
  const written = await withLiveLine(
    context,
    (values) => `backing up ${n(values)} of ${n(total)} values`,
    (onProgress) =>
      writeBackup(path.resolve(context.cwd, options.file), header, frontier.backups.read(parts), onProgress),
  );
  if (!force) refuseChanged(before, await changeMarkers(frontier, parts), written.file);
  else if ((await frontier.snapshot()).nodes.length > 0) note(context, WORKED_ON);
  return written;
}

type ChangeMarkers = Readonly<Record<string, number>>;

/** Counters that change whenever something is added to the crawl. */
async function changeMarkers(frontier: Frontier, parts: readonly Part[]): Promise<ChangeMarkers> {
  const [counts, { accepted }] = [await frontier.count(), await frontier.snapshot()];
  return { accepted, ...Object.fromEntries(parts.map((part) => [part, counts[part]])) };
}

function refuseChanged(before: ChangeMarkers, after: ChangeMarkers, file: string): void {
  const changed = Object.keys(before).find((name) => before[name] !== after[name]);
  if (changed === undefined) return;
  throw new CrawlnodeError(
    'backup_outdated',
    `the crawl changed while it was backed up (${changed}: ${before[changed]}, then ${after[changed]}), so ${file} may lack something; nothing was cleared: stop what adds to it, and run this again`,
  );
}
