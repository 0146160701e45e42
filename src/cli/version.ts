/** The version of this package. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../package-folder.js';

export function version(): string {
  return JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8')).version;
}
