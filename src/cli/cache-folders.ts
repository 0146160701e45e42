/** The folders that cache compiled code between runs. Only the user may write to them; otherwise nothing is cached. */
import os from 'node:os';
import path from 'node:path';
import { privateFolder } from '../private-folder.js';

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

function baseFolder({
  NODE_COMPILE_CACHE,
  XDG_CACHE_HOME,
}: Readonly<Record<string, string | undefined>>): string | null {
  if (NODE_COMPILE_CACHE) return path.resolve(NODE_COMPILE_CACHE, 'crawlnode');
  // The XDG Base Directory Specification says to ignore relative paths.
  const caches = [XDG_CACHE_HOME ?? '', path.join(homeFolder(), '.cache')].find(path.isAbsolute);
  return caches === undefined ? null : path.join(caches, 'crawlnode');
}

/** Empty for a user without a home folder. */
function homeFolder(): string {
  try {
    return os.homedir();
  } catch {
    return '';
  }
}
