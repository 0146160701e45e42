/** Where this copy of crawlnode is. Other files of the package are named from here, never from the file of a module: the build joins modules. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The folder of crawlnode's package.json. A package finds itself by its name, from any of its files. */
export const packageFolder = path.dirname(createRequire(import.meta.url).resolve('crawlnode/package.json'));

/** Whether this is the source, which tsx or vitest runs, and not the build in `dist/`. */
export const isSource = import.meta.url.endsWith('.ts');

/** The version of this copy of crawlnode. */
export function version(): string {
  return JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8')).version;
}
