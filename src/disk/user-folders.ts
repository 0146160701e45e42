/** The folders of this user in which programs keep things between runs (XDG Base Directory Specification). */
import os from 'node:os';
import path from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** For data that can be created again: $XDG_CACHE_HOME or ~/.cache; null for a user without a home. */
export function cacheHome({ XDG_CACHE_HOME }: Environment): string | null {
  return firstAbsolute(XDG_CACHE_HOME, path.join(home(), '.cache'));
}

/** For data that must last: $XDG_STATE_HOME or ~/.local/state; null for a user without a home. */
export function stateHome({ XDG_STATE_HOME }: Environment): string | null {
  return firstAbsolute(XDG_STATE_HOME, path.join(home(), '.local', 'state'));
}

/** The specification has relative ones ignored. */
function firstAbsolute(...folders: readonly (string | undefined)[]): string | null {
  return folders.find((folder) => folder !== undefined && path.isAbsolute(folder)) ?? null;
}

/** Empty for a user without one. */
function home(): string {
  try {
    return os.homedir();
  } catch {
    return '';
  }
}
