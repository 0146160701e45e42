/**
 * Find the project that a command belongs to: the working folder, or the nearest parent that holds a settings file, as
 * Scrapy, git and npm do.
 */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';

/** In a project folder, the first that exists. */
const SETTINGS_FILES = ['crawlnode.yaml', path.join('config', 'crawlnode.yaml')];

export interface FoundSettingsFile {
  /** Absolute; null where there is none, and the working folder is the project. */
  readonly file: string | null;
  /** Sentences for the user. */
  readonly warnings: readonly string[];
}

/**
 * The settings file of the project around a folder. A folder with `spiders/` but no settings file is a project of its own,
 * with default settings. A file in a parent folder counts only if it belongs to this user or to root: its spiders are code
 * that would run.
 */
export function findSettingsFile(cwd: string): FoundSettingsFile {
  const own = settingsFileIn(cwd);
  if (own !== null || existsSync(path.join(cwd, 'spiders'))) return { file: own, warnings: [] };
  for (const folder of parentsOf(cwd)) {
    const file = settingsFileIn(folder);
    if (file === null) continue;
    return isTrusted(file)
      ? { file, warnings: [`the project is ${projectFolderOf(file)}, a parent of this folder`] }
      : { file: null, warnings: [`${file} belongs to another user and is not used; "-c ${file}" uses it`] };
  }
  return { file: null, warnings: [] };
}

/** The folder that holds the settings file, or its `config/`. */
export function projectFolderOf(file: string): string {
  const folder = path.dirname(file);
  return path.basename(folder) === 'config' ? path.dirname(folder) : folder;
}

function settingsFileIn(folder: string): string | null {
  return SETTINGS_FILES.map((name) => path.join(folder, name)).find((file) => existsSync(file)) ?? null;
}

/** From the nearest to the root. */
function* parentsOf(folder: string): Generator<string> {
  for (let at = path.dirname(folder), below = folder; at !== below; below = at, at = path.dirname(at))
    yield at;
}

/** Where there are no user ids (Windows), every file is. */
function isTrusted(file: string): boolean {
  const uid = process.getuid?.();
  const owner = statSync(file).uid;
  return uid === undefined || owner === uid || owner === 0;
}
