/** Whether dist/ is built from the source as it is now. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Written at the end of each sound build (scripts/build.mjs). */
const lastBuild = path.join(root, 'node_modules', '.cache', 'crawlnode-build.json');

/** The thread of heartbeats of the build. */
export const builtThread = path.join(root, 'dist', 'heartbeat-thread.js');

/** False where a file of src/ is younger than the last build, or was. */
export function isBuildFresh(): boolean {
  if (!existsSync(lastBuild) || !existsSync(builtThread)) return false;
  const builtAtMs = statSync(lastBuild).mtimeMs;
  const src = path.join(root, 'src');
  const files = readdirSync(src, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.every(({ parentPath, name }) => statSync(path.join(parentPath, name)).mtimeMs <= builtAtMs);
}
