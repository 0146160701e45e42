/** Where compiled code is kept between runs: in a folder of this user's that nobody else can write to, else nowhere. */
import path from 'node:path';
import { privateFolder } from '../private-folder.js';
import { cacheHome } from './project/user-folders.js';

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

function baseFolder(env: Readonly<Record<string, string | undefined>>): string | null {
  if (env.NODE_COMPILE_CACHE) return path.resolve(env.NODE_COMPILE_CACHE, 'crawlnode');
  const caches = cacheHome(env);
  return caches === null ? null : path.join(caches, 'crawlnode');
}
