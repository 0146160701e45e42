// Whether dist/ is built from the source as it is now.
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const dist = path.join(root, 'dist');
/** Written at the end of each sound build: which modules are in which file of dist/. */
export const buildMark = path.join(dist, 'internal.modules.json');

/** False where something that a build reads is younger than the last sound build. */
export function isBuildFresh() {
  if (!existsSync(buildMark)) return false;
  const src = readdirSync(path.join(root, 'src'), { recursive: true }).map((name) => path.join('src', name));
  const others = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
  const builtAtMs = statSync(buildMark).mtimeMs;
  return ['src', ...src, ...others].every((file) => {
    const stats = statSync(path.join(root, file), { throwIfNoEntry: false });
    return stats === undefined || stats.mtimeMs <= builtAtMs;
  });
}
