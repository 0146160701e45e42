/** The version of this package. */
import { readFileSync } from 'node:fs';

/** Read from package.json, which is in the parent folder of both src and dist. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
