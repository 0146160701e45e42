/** Where compiled code is cached between runs: in a folder that only this user can write to, or nowhere. */
import path from 'node:path';
import { privateFolder } from '../disk/private-folder.js';
import { cacheHome } from '../disk/user-folders.js';

export interface CacheFolders {
  /** For `module.enableCompileCache`. */
  readonly compiled: string | null;
  /** For JavaScript compiled from the project's TypeScript. */
  readonly typescript: string | null;
}

/**
 * The folders lie in NODE_COMPILE_CACHE where that is set (Node uses it too), else in the user's cache folder ($XDG_CACHE_HOME
 * or ~/.cache). A missing folder is created. A folder is null when caching is disabled or impossible.
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
