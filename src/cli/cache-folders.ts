/** Where compiled code is kept between runs: in a folder of this user's that nobody else can write to, else nowhere. */
import os from 'node:os';
import path from 'node:path';
import { privateFolder } from '../private-folder.js';

export interface CacheFolders {
  /** For `module.enableCompileCache`. */
  readonly compiled: string | null;
  /** For JavaScript made of the project's TypeScript. */
  readonly typescript: string | null;
}

/**
 * Below NODE_COMPILE_CACHE where that is set, which Node itself heeds too; else below the user's folder for caches
 * ($XDG_CACHE_HOME or ~/.cache). Each is made if it is missing, and null where nothing may or can be kept.
 */
export function cacheFolders(env: Readonly<Record<string, string | undefined>>): CacheFolders {
  const folder = env.NODE_DISABLE_COMPILE_CACHE ? null : baseFolder(env);
  const within = (name: string) => (folder === null ? null : privateFolder(path.join(folder, name)));
  return { compiled: env.NODE_COMPILE_CACHE ? null : within('compile'), typescript: within('typescript') };
}

function baseFolder({
  NODE_COMPILE_CACHE,
  XDG_CACHE_HOME,
}: Readonly<Record<string, string | undefined>>): string | null {
  if (NODE_COMPILE_CACHE) return path.resolve(NODE_COMPILE_CACHE, 'crawlnode');
  // The XDG Base Directory Specification has relative ones ignored.
  const caches = [XDG_CACHE_HOME ?? '', path.join(homeFolder(), '.cache')].find(path.isAbsolute);
  return caches === undefined ? null : path.join(caches, 'crawlnode');
}

/** Empty for a user without one. */
function homeFolder(): string {
  try {
    return os.homedir();
  } catch {
    return '';
  }
}
