/**
 * The file of a backup: JSON lines, compressed when its name ends in `.gz`.
 *
 * ```
 * {"crawlnodeBackup":1,"spider":…,"job":…,"engine":…,"parts":[…],"shape":{…},"madeAt":…,"counts":{…}}
 * {"kind":"crawl",…}  {"kind":"requests","values":[…]}  …                  one entry a line (`BackupEntry`)
 * {"kind":"check","sha256":"…"}                                            about every MB: the hash of all lines before it
 * {"kind":"end","entries":…,"counts":{…},"sha256":"…"}
 * ```
 */
import type { BackupEntry } from '../../frontier/backup/entry.js';
import type { Part, PartCounts, Shape } from '../../frontier/frontier.js';

export const BACKUP_FORMAT = 1;

export interface BackupHeader {
  readonly crawlnodeBackup: number;
  readonly spider: string;
  readonly job: string | null;
  readonly engine: string;
  readonly parts: readonly Part[];
  /** From the settings at the time of the backup. */
  readonly shape: Shape;
  readonly madeAt: string;
  /** The number of values in each part when the backup started. */
  readonly counts: Partial<PartCounts>;
}

/** How many values of each kind of entry are in the file. */
export type EntryCounts = Readonly<Record<string, number>>;

export interface BackupEnd {
  readonly kind: 'end';
  readonly entries: number;
  readonly counts: EntryCounts;
  readonly sha256: string;
}

export interface BackupCheck {
  readonly kind: 'check';
  readonly sha256: string;
}

/** A line after the header. */
export type BackupLine = BackupEntry | BackupCheck | BackupEnd;

/** Add the values of an entry to `counts`. @returns the number of its values. */
export function countEntry(counts: Record<string, number>, entry: BackupEntry): number {
  if (!('values' in entry)) return 0;
  counts[entry.kind] = (counts[entry.kind] ?? 0) + entry.values.length;
  return entry.values.length;
}
