/** Where the last backup of each crawl of a folder is: a file beside the store, so that it outlasts damage to that. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LastBackup {
  readonly file: string;
  /** ISO 8601. */
  readonly madeAt: string;
}

const pathIn = (dir: string): string => join(dir, 'backups.json');

/** @param crawl its requests key. */
export function noteBackup(dir: string, crawl: string, backup: LastBackup): void {
  writeFileSync(pathIn(dir), JSON.stringify({ ...readAll(dir), [crawl]: backup }), { mode: 0o600 });
}

/** @returns undefined where none is known. */
export function lastBackup(dir: string, crawl: string): LastBackup | undefined {
  return new Map(Object.entries(readAll(dir))).get(crawl);
}

function readAll(dir: string): Readonly<Record<string, LastBackup>> {
  try {
    return (JSON.parse(readFileSync(pathIn(dir), 'utf8')) ?? {}) as Record<string, LastBackup>;
  } catch {
    return {};
  }
}
