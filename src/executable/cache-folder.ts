/** Where compiled code is kept between runs. */
import os from 'node:os';
import path from 'node:path';

/** As Node's own cache where one is chosen; else the user's folder for caches; null where nothing may be kept. */
export function cacheFolder(): string | null {
  const { NODE_DISABLE_COMPILE_CACHE, NODE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE) return null;
  if (NODE_COMPILE_CACHE) return path.resolve(NODE_COMPILE_CACHE, 'crawlnode');
  try {
    return path.join(XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'crawlnode');
  } catch {
    return null; // A user without a home folder.
  }
}
