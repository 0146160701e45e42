/**
 * Find the project that a command belongs to: the working folder, or the nearest parent that holds a settings file, as
 * Scrapy, git and npm do.
 */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { SettingsError } from '../../errors.js';

/** Relative to a project folder; the first one that exists is used. */
const SETTINGS_FILES = ['crawlnode.yaml', path.join('config', 'crawlnode.yaml')];

/** Names that somebody may give the file instead. It would have no effect, not even its REDIS_URL. */
const OTHER_NAMES = ['crawlnode.yml', 'crawlnode.json', path.join('config', 'crawlnode.yml')];

export interface FoundSettingsFile {
  /** Absolute; null where there is none, so the working folder is the project. */
  readonly file: string | null;
  /** Shown to the user. */
  readonly warnings: readonly string[];
}

/**
 * Find the settings file of the project that contains a folder. A folder with `spiders/` but no settings file is a project
 * with default settings. A file in a parent folder is used only if this user or root owns it, because the spiders beside it
 * are run as code.
 * @throws SettingsError where the settings file of the working folder has a name that is not read
 */
export function findSettingsFile(cwd: string): FoundSettingsFile {
  const fileInCwd = settingsFileIn(cwd);
  if (fileInCwd === null) refuseOtherName(cwd);
  if (fileInCwd !== null) return { file: fileInCwd, warnings: otherFiles(cwd) };
  if (existsSync(path.join(cwd, 'spiders'))) return { file: null, warnings: [] };
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

/** A warning where a folder holds both files. */
function otherFiles(folder: string): string[] {
  const [first, second] = SETTINGS_FILES.filter((name) => existsSync(path.join(folder, name)));
  return second === undefined
    ? []
    : [`${second} is not read, since there is ${first}; "-c ${second}" uses it instead`];
}

function refuseOtherName(folder: string): void {
  const name = OTHER_NAMES.find((other) => existsSync(path.join(folder, other)));
  if (name === undefined) return;
  const readName = `${name.slice(0, -path.extname(name).length)}.yaml`;
  throw new SettingsError(`${name} is not read: rename it to ${readName}, or name it with -c ${name}`);
}

/** The nearest parent first. */
function* parentsOf(folder: string): Generator<string> {
  for (let parent = path.dirname(folder), child = folder; parent !== child; ) {
    yield parent;
    child = parent;
    parent = path.dirname(parent);
  }
}

/** Where there are no user ids (Windows), every file is trusted. */
function isTrusted(file: string): boolean {
  const uid = process.getuid?.();
  const owner = statSync(file).uid;
  return uid === undefined || owner === uid || owner === 0;
}
