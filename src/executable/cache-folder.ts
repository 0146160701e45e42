/** Where compiled code is kept between runs. */
import os from 'node:os';
import path from 'node:path';

/** As Node's own cache where one is chosen; else the user's folder for caches; null where nothing may be kept. */
export function cacheFolder(): string | null {
  const { NODE_DISABLE_COMPILE_CACHE, NODE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE) return null;
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
